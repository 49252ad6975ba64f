"""Model, Data and Simulation are copied and pickled: a copy shares nothing with its original, and goes on as that."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail import Data, Model, Simulation
from dovetail.errors import ArgumentError

BOX = """
<mujoco model="box">
  <worldbody>
    <geom type="plane" size="2 2 1"/>
    <body name="box" pos="0 0 0.09"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
  </worldbody>
</mujoco>
"""

WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "deepcopy": copy.deepcopy,
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)

CASES: dict[str, dict[str, Any]] = {
    "reference": {"backend": "numpy"},
    "lanes": {"backend": LANES},
    "batch": {"backend": LANES, "nworld": 3},
    "single precision": {"backend": LANES, "nworld": 5, "precision": "f32"},
    "fields per world": {"backend": LANES, "nworld": 3, "per_world": "body_mass"},
}


def drag(model: Model, data: Data) -> None:
    data.qfrc_passive[:] -= 0.5 * data.qvel


def shares_memory(first: Any, second: Any) -> bool:
    blocks = [tuple(one.arena.buffers.values()) for one in (first, second)]
    return any(np.may_share_memory(a, b) for a in blocks[0] for b in blocks[1])


@pytest.mark.covering
@ways
@pytest.mark.parametrize("case", CASES)
def test_a_copy_of_a_simulation_goes_on_as_its_original_and_shares_nothing(case: str, way: Any) -> None:
    sim = Simulation(dovetail.loads(BOX), **CASES[case])
    sim.step(5)
    twin = way(sim)
    assert twin.model is not sim.model
    assert twin.data.model is twin.model
    assert not shares_memory(twin.model, sim.model)
    assert not shares_memory(twin.data, sim.data)
    twin.step(10)
    sim.step(10)
    for name in ("qpos", "qvel", "qacc_warmstart", "time"):
        assert np.array_equal(np.asarray(sim.data.field(name)), np.asarray(twin.data.field(name))), name


@ways
def test_functions_of_ones_own_go_along(way: Any) -> None:
    sim = Simulation(dovetail.loads(BOX), backend="numpy", stages={"passive_force:drag": drag})
    sim.data.qvel[0] = 1.0
    twin = way(sim)
    twin.step(3)
    sim.step(3)
    assert np.array_equal(sim.data.qvel, twin.data.qvel)
    assert twin.data.qfrc_passive[0] < 0


def test_copy_of_a_simulation_is_independent_too() -> None:
    sim = Simulation(dovetail.loads(BOX), backend="numpy")
    for twin in (sim.copy(), copy.copy(sim)):
        twin.model.body_mass[1] = 7.0
        twin.data.qpos[0] = 7.0
        assert sim.model.body_mass[1] != 7.0
        assert sim.data.qpos[0] != 7.0


@ways
def test_what_is_copied_together_stays_together(way: Any) -> None:
    model = dovetail.loads(BOX)
    data = dovetail.make_data(model)
    twin_model, twin_data = way((model, data))
    assert twin_data.model is twin_model


@ways
def test_data_keeps_all_fields_and_those_of_plugins(way: Any) -> None:
    data = dovetail.make_data(dovetail.loads(BOX))
    data.extra["rk4:qpos0"] = 4.0
    dovetail.forward(data.model, data)
    twin = way(data)
    assert dict(twin.sizes) == dict(data.sizes)
    assert [name for name, _ in twin.fields()] == [name for name, _ in data.fields()]
    assert all(np.array_equal(view, twin.field(name)) for name, view in data.fields())
    dovetail.step(twin.model, twin)


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_world_of_a_batch_is_pickled_alone(lanes: int) -> None:
    batch = dovetail.make_data(dovetail.loads(BOX), 3, lanes=lanes)
    batch.world(1).qpos[:] = np.arange(7.0)
    twin = pickle.loads(pickle.dumps(batch.world(1)))
    assert twin.nworld is None
    assert twin.qpos.tolist() == list(range(7))
    assert twin.arena.nbytes < batch.arena.nbytes


def test_a_copy_for_a_model_of_other_sizes_is_refused() -> None:
    data = dovetail.make_data(dovetail.loads(BOX))
    with pytest.raises(ArgumentError, match="same sizes"):
        data.copy(dovetail.load("pendulum"))


def _ten_steps(sim: Simulation) -> Any:
    sim.step(10)
    return np.array(sim.data.qpos)


@pytest.mark.slow
def test_a_simulation_goes_to_a_process_that_is_started_anew() -> None:
    sim = Simulation(dovetail.loads(BOX))
    sim.step(5)
    with get_context("spawn").Pool(1) as pool:
        there = pool.map(_ten_steps, [sim])[0]
    assert np.array_equal(there, _ten_steps(sim))


# ---- nobody keeps what was dropped


def test_a_model_is_freed_as_soon_as_nobody_holds_it() -> None:
    model = dovetail.loads(BOX)
    gone = weakref.ref(model)
    array = model.qpos0
    gc.disable()
    try:
        del model
        assert gone() is None
    finally:
        gc.enable()
    assert len(array) == 7


def test_a_data_that_was_stepped_is_freed() -> None:
    model = dovetail.loads(BOX)
    data = dovetail.make_data(model)
    for _ in range(3):
        dovetail.step(model, data)
    gone = weakref.ref(data)
    del data
    gc.collect()
    assert gone() is None
