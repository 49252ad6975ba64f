"""Implementations that hand each other memory of their own: a plan takes all of a chain or none of it."""

from __future__ import annotations

from typing import Any

import pytest

import dovetail
from dovetail import Model, compile_plan
from dovetail.config import Config
from dovetail.errors import SelectionError
from dovetail.plan import Plan
from dovetail.registry import Registry
from dovetail.testing.samples import UNDRIVEN
from dovetail.wrappers import Profiler


@pytest.fixture
def chained(registry: Registry, toy_backend: Any, record: Any) -> Registry:
    """com_velocity and bias_force in one chain on the toy backend; the first does not fill cdof_dot."""
    record("com_velocity", name="tree", backend="toy", chain="motion", reads="qvel cdof", writes="cvel")
    record("bias_force", name="rne", backend="toy", chain="motion", reads="cvel", writes="qfrc_bias")
    for stage, name in (("passive_force", "joint"),):
        for key in ("spring", "damper"):
            record(stage, key=key, name=name, backend="toy", reads="qvel", writes="qfrc_passive")
    return registry


def plan(model: Model, registry: Registry, stages: dict[str, str] | None = None, **more: Any) -> Plan:
    wrappers, nworld = more.pop("wrappers", ()), more.pop("nworld", None)
    config = Config.of_call(stages, backend="toy", **more)
    return compile_plan(model, config, registry=registry, wrappers=wrappers, nworld=nworld)


def chosen(plan: Plan, slot: str) -> str:
    return plan.choices[slot].record.label


def test_a_whole_chain_is_taken(pendulum: Model, chained: Registry) -> None:
    found = plan(pendulum, chained)
    assert (chosen(found, "com_velocity"), chosen(found, "bias_force")) == ("tree@toy", "rne@toy")


def test_what_a_chain_keeps_to_itself_is_not_kept(pendulum: Model, chained: Registry) -> None:
    found = plan(pendulum, chained, keep="all")
    assert "cvel" in found.keep
    assert "cdof_dot" not in found.keep


def test_a_link_done_otherwise_grounds_the_chain(pendulum: Model, chained: Registry) -> None:
    found = plan(pendulum, chained, {"bias_force": "@numpy"})
    assert chosen(found, "com_velocity") == "tree@numpy"
    assert "bias_force runs as rne@numpy" in found.choices["com_velocity"].fallback


def test_a_stage_between_them_on_another_backend_grounds_it(pendulum: Model, chained: Registry) -> None:
    found = plan(pendulum, chained, {"passive_force:damper": "@numpy"})
    assert "passive_force:damper, between them" in found.choices["bias_force"].fallback


def test_a_wrapper_within_grounds_it(pendulum: Model, chained: Registry) -> None:
    found = plan(pendulum, chained, wrappers=(Profiler(stages="bias_force"),))
    assert "a wrapper sets bias_force apart" in found.choices["com_velocity"].fallback


def test_a_field_that_must_be_kept_grounds_it(pendulum: Model, chained: Registry) -> None:
    found = plan(pendulum, chained, keep=("cdof_dot",))
    assert "cdof_dot is to be kept" in found.choices["bias_force"].fallback
    assert "cdof_dot" in found.keep


@pytest.mark.parametrize("keep", ["all", "cdof_dot"])
def test_of_a_batch_such_a_field_is_had_by_repeating_steps(
    pendulum: Model, chained: Registry, keep: str
) -> None:
    found = plan(pendulum, chained, keep=keep, nworld=3)
    assert chosen(found, "bias_force") == "rne@toy"
    assert found.replay is not None
    assert found.replay.fields == ("cdof_dot",)
    assert found.replay.plan.choices["bias_force"].record.label == "rne@numpy"
    assert "cdof_dot" in found.keep
    assert "repeated with the reference" in found.explain()


@pytest.mark.parametrize("keep", ["computed", "state", "cvel"])
def test_nothing_is_repeated_for_what_slots_compute(pendulum: Model, chained: Registry, keep: str) -> None:
    found = plan(pendulum, chained, keep=keep, nworld=3)
    assert found.replay is None
    assert "cdof_dot" not in found.keep


def test_a_named_link_of_a_grounded_chain_is_an_error(pendulum: Model, chained: Registry) -> None:
    with pytest.raises(SelectionError, match=r"one of a chain of stages.*bias_force runs as rne@numpy"):
        plan(pendulum, chained, {"com_velocity": "tree@toy", "bias_force": "@numpy"})


def test_a_stage_that_is_left_out_grounds_nothing(pendulum: Model, chained: Registry, record: Any) -> None:
    record("energy", name="standard", backend="toy", reads="cdof_dot", writes="energy")
    pendulum.opt.enableflags |= 2
    found = plan(pendulum, chained, keep="state")
    assert chosen(found, "bias_force") == "rne@toy"
    assert "energy" in found.idle


@pytest.fixture
def followed(chained: Registry, record: Any) -> Registry:
    """energy on the toy backend reads the chain's memory."""
    record(
        "smooth_acceleration", name="standard", backend="toy", reads="qpos", writes="qacc_smooth qfrc_smooth"
    )
    record(
        "solve_constraints", name="unconstrained", backend="toy", reads="qpos", writes="qacc qfrc_constraint"
    )
    record("energy", name="standard", backend="toy", follows="motion", reads="qpos", writes="energy")
    return chained


@pytest.fixture
def observed() -> Model:
    """Without actuators and constraints, with energy."""
    return dovetail.loads(UNDRIVEN)


def test_a_follower_joins_its_chain(observed: Model, followed: Registry) -> None:
    assert chosen(plan(observed, followed, keep="all"), "energy") == "standard@toy"


def test_a_follower_stays_behind_alone(observed: Model, followed: Registry) -> None:
    """What comes between it and the chain costs the follower its place, not the chain."""
    found = plan(observed, followed, {"solve_constraints": "@numpy"}, keep="all")
    assert chosen(found, "energy") == "standard@numpy"
    assert "solve_constraints, before it, runs as" in found.choices["energy"].fallback
    assert chosen(found, "bias_force") == "rne@toy"


def test_a_follower_goes_with_its_chain(observed: Model, followed: Registry) -> None:
    found = plan(observed, followed, {"bias_force": "@numpy"}, keep="all")
    assert chosen(found, "energy") == "standard@numpy"
    assert "bias_force runs as rne@numpy" in found.choices["energy"].fallback


def test_a_follower_needs_no_chain_that_passes_nothing_on(
    observed: Model, followed: Registry, record: Any
) -> None:
    """Stages of the chain done otherwise are in the way only if they leave what the chain would keep to itself."""
    record("com_velocity", name="brief", backend="numpy", reads="qvel cdof", writes="cvel")
    record("bias_force", name="brief", backend="numpy", reads="cvel", writes="qfrc_bias")
    brief = {"com_velocity": "brief@numpy", "bias_force": "brief@numpy"}
    assert chosen(plan(observed, followed, brief, keep="all"), "energy") == "standard@toy"
    full = {"com_velocity": "tree@numpy", "bias_force": "brief@numpy"}
    found = plan(observed, followed, full, keep="all")
    assert "com_velocity runs as tree@numpy" in found.choices["energy"].fallback


def test_a_named_follower_without_its_chain_is_an_error(observed: Model, followed: Registry) -> None:
    with pytest.raises(SelectionError, match=r"in one kernel with the chain.*solve_constraints, before it"):
        plan(observed, followed, {"solve_constraints": "@numpy", "energy": "standard@toy"}, keep="all")


def test_some_follow_only_with_a_feature(observed: Model, followed: Registry, record: Any) -> None:
    record(
        "inverse",
        name="standard",
        backend="toy",
        follows="motion",
        follows_with="joint.free",
        reads="qpos",
        writes="",
    )
    observed.opt.enableflags |= 4
    assert chosen(plan(observed, followed, {"solve_constraints": "@numpy"}), "inverse") == "standard@toy"
