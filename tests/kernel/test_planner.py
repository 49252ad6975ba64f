"""Compiling a plan: order, data flow, what is missing or skipped, what memory is kept."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail import Model, pipeline
from dovetail.config import Config
from dovetail.contracts.enums import EnableBit, Integrator
from dovetail.contracts.types import STATE
from dovetail.errors import DataFlowError, MissingStageError, PlanError
from dovetail.implementation import data_field
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.registry import Registry

Record = Callable[..., object]


def compiled(model: Model, registry: Registry, stages: dict[str, str] | None = None, **said: Any) -> Plan:
    return compile_plan(model, Config.of_call(stages), registry=registry, **said)


def without(registry: Registry, *slots: str) -> Registry:
    registry.implementations = [r for r in registry.implementations if r.slot not in slots]
    return registry


def test_slots_stand_in_pipeline_order(pendulum: Model, registry: Registry) -> None:
    order = [pipeline.STEP.index(slot.stage.name) for slot in compiled(pendulum, registry).slots]
    assert order == sorted(order)


def test_stages_the_model_does_not_need_are_skipped_and_listed(pendulum: Model, registry: Registry) -> None:
    plan = compiled(pendulum, registry)
    assert {"tendon", "sensor", "narrowphase", "energy"} <= set(plan.skipped)
    assert not {slot.label for slot in plan.slots} & set(plan.skipped)


# ---- missing stages


def test_all_missing_stages_are_listed_with_their_reasons(pendulum: Model, registry: Registry) -> None:
    without(registry, "bias_force", "transmission")
    with pytest.raises(MissingStageError) as caught:
        compiled(pendulum, registry)
    text = str(caught.value)
    assert (
        text.startswith("model pendulum needs stages that no installed plugin implements:\n")
        or "'pendulum'" in text
    )
    assert "- bias_force: needed by every model" in text
    assert "- transmission: needed by 1 actuator" in text
    assert 'missing="skip"' in text


def test_missing_parts_are_listed_too(pendulum: Model, registry: Registry) -> None:
    with pytest.raises(MissingStageError, match="actuator_gain:fixed: needed by actuation of this model"):
        compiled(pendulum, without(registry, "actuator_gain:fixed"))


def test_a_reported_hole_shows_in_the_plan_which_then_does_not_run(
    pendulum: Model, registry: Registry
) -> None:
    plan = compiled(pendulum, without(registry, "bias_force"), missing="report")
    assert [m.slot for m in plan.missing] == ["bias_force"]
    assert "!!  bias_force" in plan.explain()
    assert "MISSING, needed by every model" in plan.explain()
    with pytest.raises(MissingStageError, match="bias_force"):
        plan.step(plan.make_data())


def test_a_skipped_hole_runs_without_the_stage(pendulum: Model, registry: Registry) -> None:
    plan = compiled(pendulum, without(registry, "bias_force"), missing="skip")
    data = plan.make_data()
    plan.step(data, 3)
    assert data.time == pytest.approx(0.006)
    assert data.qpos[0] == 0.0


def test_a_stage_the_user_names_is_never_reported_as_missing(pendulum: Model, registry: Registry) -> None:
    with pytest.raises(dovetail.DovetailError, match="'nothing', asked for by call argument"):
        compiled(pendulum, registry, {"bias_force": "nothing"}, missing="skip")


def test_missing_takes_three_words(pendulum: Model, registry: Registry) -> None:
    with pytest.raises(PlanError, match="missing='ignore' should be 'error', 'report' or 'skip'"):
        compiled(pendulum, registry, missing="ignore")


# ---- data flow


def test_reading_before_writing_is_an_error_that_names_both(
    pendulum: Model, registry: Registry, record: Record
) -> None:
    record("com_velocity", name="early", reads="qvel cdof qfrc_bias")
    record("bias_force", name="early", reads="qacc qvel")
    with pytest.raises(DataFlowError) as caught:
        compiled(pendulum, registry, {"com_velocity": "early", "bias_force": "early"})
    text = str(caught.value)
    assert "com_velocity (early@numpy) reads qfrc_bias, which bias_force writes later" in text
    assert "bias_force (early@numpy) reads qacc, which solve_constraints writes later" in text


def test_a_field_of_a_skipped_stage_may_be_read(pendulum: Model, registry: Registry, record: Record) -> None:
    record("bias_force", name="tendons", reads="qvel ten_length")
    assert (
        compiled(pendulum, registry, {"bias_force": "tendons"}).choices["bias_force"].record.name == "tendons"
    )


def test_a_stage_that_leaves_out_a_write_is_found(
    pendulum: Model, registry: Registry, record: Record
) -> None:
    record("mass_matrix", name="lazy", writes="crb")
    with pytest.raises(
        DataFlowError, match=r"integrate \(euler@numpy\) reads M, which mass_matrix \(lazy@numpy\) leaves out"
    ):
        compiled(pendulum, registry, {"mass_matrix": "lazy"})


# ---- tables and accumulators


def test_accumulators_are_zeroed_once_before_the_first_row(
    pendulum: Model, registry: Registry, record: Record
) -> None:
    def push(model: Any, data: Any) -> None:
        data.qfrc_passive[:] += 2.0

    record("passive_force", push, key="push", reads="qfrc_passive", writes="qfrc_passive")
    pendulum.dof_damping[:] = 0
    plan = compiled(pendulum, registry)
    rows = [slot for slot in plan.slots if slot.stage.name == "passive_force"]
    assert [slot.zero for slot in rows] == [("qfrc_passive",), *((),) * (len(rows) - 1)]
    data = plan.make_data()
    for _ in range(3):
        plan.forward(data)
        assert data.qfrc_passive.tolist() == [2.0]


def test_callbacks_of_all_plugins_run_around_a_step(
    pendulum: Model, registry: Registry, record: Record
) -> None:
    calls: list[str] = []
    for name in ("one", "two"):
        record("step_begin", lambda model, data, n=name: calls.append(f"begin {n}"), name=name)
    record("step_end", lambda model, data: calls.append("end"), name="three")
    plan = compiled(pendulum, registry, {"integrate": "rk4"})
    data = plan.make_data()
    plan.step(data, 2)
    assert calls == ["begin one", "begin two", "end"] * 2
    plan.forward(data)
    assert len(calls) == 6


def test_an_integrator_is_called_after_each_of_its_evaluations(
    pendulum: Model, registry: Registry, record: Record
) -> None:
    seen: list[int] = []
    record("integrate", lambda model, data, evaluation: seen.append(evaluation), name="three", evaluations=3)
    plan = compiled(pendulum, registry, {"integrate": "three"})
    plan.step(plan.make_data(), 2)
    assert seen == [0, 1, 2, 0, 1, 2]
    assert plan.evaluations == 3


# ---- memory


def test_a_plans_data_has_the_state_and_what_numpy_stages_touch(pendulum: Model, registry: Registry) -> None:
    plan = compile_plan(pendulum, Config.of_call(keep="state"), registry=registry)
    data = plan.make_data()
    assert set(STATE) <= plan.keep
    assert "xpos" in data
    assert "efc_J" not in plan.keep or "efc_J" in data
    assert "sensordata" not in data


def test_an_implementations_own_fields_exist_when_it_is_chosen(
    pendulum: Model, registry: Registry, record: Record
) -> None:
    def remember(model: Any, data: Any) -> None:
        data.extra["mine:peak"][:] = np.maximum(data.extra["mine:peak"], np.abs(data.qvel))

    field = data_field("mine:peak", "nv", doc="Largest speed so far.")
    record("step_end", remember, name="peak", reads="qvel", writes="mine:peak", fields=(field,))
    plan = compiled(pendulum, registry)
    data = plan.make_data()
    plan.step(data, 20)
    assert data.extra["mine:peak"][0] == abs(data.qvel[0]) > 0
    assert "rk4:qpos0" not in data


def test_a_data_not_made_for_the_plan_is_refused_with_the_reason(
    pendulum: Model, zoo: Model, registry: Registry
) -> None:
    plan = compiled(pendulum, registry)
    strangers = {
        "it lacks ": dovetail.make_data(pendulum, keep="state"),
        "its precision is f32, the plan's f64": dovetail.make_data(pendulum, precision="f32"),
        "its nworld is 4, the plan's None": dovetail.make_data(pendulum, 4),
        "it belongs to another model, <dovetail.Model 'zoo'": dovetail.make_data(zoo),
    }
    for reason, data in strangers.items():
        for run in (plan.step, plan.forward):
            with pytest.raises(
                PlanError, match=rf"not made for this plan \({reason}.*use plan\.make_data\(\)"
            ):
                run(data)
    tiled = compile_plan(pendulum, Config.of_call(lanes=4), nworld=3, registry=registry)
    with pytest.raises(PlanError, match="its worlds per tile is 1, the plan's 4"):
        tiled.step(dovetail.make_data(pendulum, 3))


def test_tiled_worlds_step_like_single_ones(zoo: Model, registry: Registry) -> None:
    plan = compile_plan(zoo, Config.of_call(lanes=4), nworld=5, registry=registry)
    single = compiled(zoo, registry)
    batch = plan.make_data()
    batch.qvel = np.random.default_rng(0).normal(size=(5, zoo.nv))
    alone = single.make_data()
    alone.qvel = batch.world(4).qvel
    plan.step(batch, 3)
    single.step(alone, 3)
    assert np.array_equal(batch.world(4).qpos, alone.qpos)


# ---- recompiling


def test_editing_an_option_flag_compiles_the_plan_again_and_keeps_the_run(pendulum: Model) -> None:
    sim = dovetail.Simulation(pendulum)
    sim.step(4)
    old = sim.plan
    assert "energy" in old.skipped
    pendulum.opt.enableflags |= EnableBit.ENERGY
    sim.step()
    assert sim.plan is not old
    assert "energy" not in sim.plan.skipped
    assert sim.data.time == pytest.approx(0.01)
    assert sim.data.energy[1] > 0


def test_data_held_by_the_user_stays_the_simulations_data(pendulum: Model) -> None:
    sim = dovetail.Simulation(pendulum)
    held = sim.data
    pendulum.opt.enableflags |= EnableBit.ENERGY
    sim.step()
    assert sim.data is held


def test_editing_the_integrator_brings_its_fields(pendulum: Model) -> None:
    sim = dovetail.Simulation(pendulum)
    sim.step(3)
    pendulum.opt.integrator = Integrator.RK4
    sim.step()
    assert sim.plan.choices["integrate"].record.name == "rk4"
    assert "rk4:qpos0" in sim.data.extra
    assert sim.data.time == pytest.approx(0.008)


def test_editing_numbers_does_not_compile_again(pendulum: Model) -> None:
    sim = dovetail.Simulation(pendulum)
    sim.step()
    old = sim.plan
    pendulum.opt.timestep = 0.01
    pendulum.body_mass[:] *= 2
    sim.step()
    assert sim.plan is old


def test_functions_of_the_package_plan_for_any_data(pendulum: Model) -> None:
    for data in (
        dovetail.make_data(pendulum),
        dovetail.make_data(pendulum, 3),
        dovetail.make_data(pendulum, 3, lanes=2),
    ):
        dovetail.step(pendulum, data, 2)
        dovetail.forward(pendulum, data)
        assert np.all(np.asarray(data.time) == 0.004)
    pendulum.opt.integrator = Integrator.RK4
    dovetail.step(pendulum, data)


def test_plans_do_not_keep_models_alive() -> None:
    model = dovetail.loads(
        '<mujoco><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'
    )
    dovetail.step(model, dovetail.make_data(model))
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_a_compiled_plan_steps_data_of_any_layout_that_has_its_fields(zoo: Model, registry: Registry) -> None:
    """Offsets are literals in a fused kernel, so it must be built again for a Data that lays fields out otherwise."""
    if registry.backend(LANES).missing():
        pytest.skip("no Taichi runtime is installed")
    config = Config.of_call({"bias_force": f"@{LANES}"}, keep="state")
    plan = compile_plan(zoo, config, nworld=3, registry=registry)
    narrow, wide = plan.make_data(), dovetail.make_data(zoo, 3, lanes=plan.lanes)
    assert narrow.arena.layout != wide.arena.layout
    for data in (narrow, wide):
        data.qvel = np.arange(3.0 * zoo.nv).reshape(3, zoo.nv)
        plan.step(data, 2)
    assert np.array_equal(narrow.qpos, wide.qpos)
    assert np.isfinite(np.asarray(wide.qpos)).all()
