"""A world of a batch with contacts depends on nothing but its own state: same bits whatever the threads, the lanes,
the number of worlds, its place among them and what happens in the others; and whatever was edited before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.bad_states import StateWarning
from dovetail.contracts.enums import Cone, DisableBit, Integrator, Solver
from dovetail.errors import CapacityError

SCENE = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom type="plane" size="3 3 1"/>
    <body name="ball" pos="0.25 0 0.14"><freejoint name="roll"/><geom name="skin" size="0.1" mass="0.5"/></body>
    <body name="bat" pos="0 0 0.35">
      <joint name="swing" axis="0 1 0" damping="0.05" limited="true" range="-70 70"/>
      <geom name="wood" type="capsule" fromto="0 0 0 0 0 -0.2" size="0.05" mass="0.4"/>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="swing" gear="2"/></actuator>
</mujoco>
"""
"""A bat that hits a ball on the floor: contacts of both, and a limit."""
STATE = ("time", "qpos", "qvel", "qacc_warmstart")
NWORLD = 100
NSTEP = 40


def states(nworld: int) -> dict[str, np.ndarray]:
    """A start for each world, the same however many there are."""
    model = dovetail.loads(SCENE)
    rows = [np.random.default_rng(world).normal(size=model.nv + model.nu) for world in range(nworld)]
    noise = np.array(rows).reshape(nworld, -1)
    qpos = np.tile(model.qpos0, (nworld, 1))
    qpos[:, :2] += 0.05 * noise[:, :2]
    return {"qpos": qpos, "qvel": 0.5 * noise[:, : model.nv], "ctrl": noise[:, model.nv :]}


def simulation(model: dovetail.Model | None = None, nworld: int = NWORLD, **settings: Any) -> Any:
    model = dovetail.loads(SCENE) if model is None else model
    settings = {"keep": ("ncon", "nefc")} | settings
    return dovetail.Simulation(model, nworld=nworld, backend=LANES, **settings)


def put(sim: Any, start: dict[str, np.ndarray]) -> None:
    for name, values in start.items():
        sim.data.field(name)[...] = values


def result(sim: Any) -> dict[str, np.ndarray]:
    return {name: np.array(sim.data.field(name)) for name in STATE}


def assert_same_bits(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray], worlds: Any) -> None:
    for name, values in theirs.items():
        assert np.array_equal(ours[name], values[worlds]), name


@cache
def expected() -> dict[str, np.ndarray]:
    sim = simulation()
    assert len(sim.plan.segments()) == 1
    put(sim, states(NWORLD))
    sim.step(NSTEP)
    return result(sim)


# ---- bits ---------------------------------------------------------------------------------------------------


def test_the_worlds_differ_and_touch() -> None:
    sim = simulation()
    put(sim, states(NWORLD))
    sim.step(NSTEP)
    assert len(np.unique(expected()["qvel"][:, 0])) == NWORLD
    assert len(np.unique(np.asarray(sim.data.nefc))) > 2
    assert_same_bits(result(sim), expected(), slice(None))


@pytest.mark.parametrize("nworld", [1, 5, 7, 8, 9, 64])
def test_bits_do_not_depend_on_the_number_of_worlds(nworld: int) -> None:
    sim = simulation(nworld=nworld)
    put(sim, states(nworld))
    sim.step(NSTEP)
    assert_same_bits(result(sim), expected(), slice(nworld))


def test_bits_do_not_depend_on_threads_nor_on_the_order_of_worlds() -> None:
    order = np.random.default_rng(0).permutation(NWORLD)
    sim = simulation(threads=2)
    put(sim, {name: values[order] for name, values in states(NWORLD).items()})
    sim.step(NSTEP)
    assert_same_bits(result(sim), expected(), order)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [4, 16])
def test_bits_do_not_depend_on_lanes(lanes: int) -> None:
    sim = simulation(lanes=lanes)
    put(sim, states(NWORLD))
    sim.step(NSTEP)
    assert_same_bits(result(sim), expected(), slice(None))


def test_bits_do_not_depend_on_how_steps_are_launched() -> None:
    sim = simulation()
    put(sim, states(NWORLD))
    for nstep in (1, 3, NSTEP - 4):
        sim.step(nstep)
    assert_same_bits(result(sim), expected(), slice(None))


# ---- bad worlds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nworld", [NWORLD, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("bad", [np.nan, 1e12])
def test_a_world_that_explodes_is_named_and_touches_no_other(nworld: int, bad: float) -> None:
    victim = nworld - 37
    start = states(nworld)
    start["qvel"][victim, 6] = bad
    sim = simulation(nworld=nworld)
    put(sim, start)
    with pytest.warns(StateWarning, match=rf"world {victim}: qvel\[6\].*swing"):
        sim.step(NSTEP)
    after = result(sim)
    others = np.arange(nworld) != victim
    if nworld == NWORLD:
        wanted = expected()
    else:
        calm = simulation(nworld=nworld)
        put(calm, states(nworld))
        calm.step(NSTEP)
        wanted = result(calm)
    assert_same_bits({n: v[others] for n, v in after.items()}, {n: v[others] for n, v in wanted.items()}, ...)
    assert np.isfinite(after["qvel"]).all()


@pytest.mark.parametrize("field", ["qpos", "qvel", "ctrl"])
def test_arrays_of_another_shape_are_refused(field: str) -> None:
    sim = simulation(nworld=9)
    before = np.array(sim.data.field(field))
    with pytest.raises(ValueError, match=r"9|shape"):
        setattr(sim.data, field, np.ones((8, before.shape[1])))
    assert np.array_equal(sim.data.field(field), before)


def test_absurd_numbers_of_worlds_are_refused_before_memory_is_taken() -> None:
    with pytest.raises(CapacityError, match="max_bytes"):
        simulation(nworld=10**9)


# ---- edits --------------------------------------------------------------------------------------------------


def heavier(model: Any) -> None:
    model.opt.gravity[2] = -3.0


def slippery(model: Any) -> None:
    model.geom_friction[:, 0] = 0.01


def larger(model: Any) -> None:
    model.geom_size[1, 0] = model.geom_rbound[1] = 0.15


def stronger(model: Any) -> None:
    model.actuator_gainprm[:, 0] = 3.0


def softer(model: Any) -> None:
    model.geom_solref[:, 0] = 0.1


def without_limits(model: Any) -> None:
    model.opt.disableflags |= int(DisableBit.LIMIT)


def elliptic(model: Any) -> None:
    model.opt.cone = int(Cone.ELLIPTIC)


def runge_kutta(model: Any) -> None:
    model.opt.integrator = int(Integrator.RK4)


def conjugate(model: Any) -> None:
    model.opt.solver = int(Solver.CG)


def frictionless(model: Any) -> None:
    model.geom_condim[:] = 1


VALUES = [heavier, slippery, larger, stronger, softer]
STRUCTURE = [without_limits, elliptic, runge_kutta, conjugate, frictionless]


def assert_an_edit_acts_as_in_a_fresh_simulation(edit: Callable[[Any], None]) -> None:
    sim = simulation(nworld=9)
    put(sim, states(9))
    sim.step(10)
    at_edit = result(sim) | {"ctrl": states(9)["ctrl"]}
    edit(sim.model)
    sim.step(20)
    edited = dovetail.loads(SCENE)
    edit(edited)
    fresh = simulation(edited, nworld=9)
    put(fresh, at_edit)
    fresh.step(20)
    assert_same_bits(result(sim), result(fresh), slice(None))
    unedited = simulation(nworld=9)
    put(unedited, at_edit)
    unedited.step(20)
    assert not np.array_equal(result(unedited)["qvel"], result(sim)["qvel"])


@pytest.mark.by_default("heavier", "slippery")
@pytest.mark.parametrize("edit", VALUES, ids=lambda edit: edit.__name__)
def test_edited_values_act_as_in_a_fresh_simulation(edit: Callable[[Any], None]) -> None:
    assert_an_edit_acts_as_in_a_fresh_simulation(edit)


@pytest.mark.slow
@pytest.mark.parametrize("edit", STRUCTURE, ids=lambda edit: edit.__name__)
def test_edited_structure_acts_as_in_a_fresh_simulation(edit: Callable[[Any], None]) -> None:
    assert_an_edit_acts_as_in_a_fresh_simulation(edit)


@pytest.mark.slow
def test_simulations_of_one_process_do_not_disturb_each_other() -> None:
    """Two models, both precisions and other lanes, stepped in turn."""
    other = dovetail.loads(SCENE.replace('size="0.1"', 'size="0.12"'))
    several = [
        simulation(),
        simulation(other),
        simulation(precision="f32"),
        simulation(lanes=4),
    ]
    for sim in several:
        put(sim, states(NWORLD))
    for _ in range(NSTEP // 10):
        for sim in several:
            sim.step(10)
    assert_same_bits(result(several[0]), expected(), slice(None))
    alone = simulation(other)
    put(alone, states(NWORLD))
    alone.step(NSTEP)
    assert_same_bits(result(several[1]), result(alone), slice(None))
    for sim in several[2:]:
        np.testing.assert_allclose(sim.data.qpos, expected()["qpos"], atol=1e-3)
