"""A thousand steps of ten models stay beside MuJoCo's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zoo
from running import BACKENDS, simulation, start

from dovetail.compare.errors import relative_error
from dovetail.compare.oracle import load_both
from dovetail.contracts.enums import DisableBit

STEPS = 1000
STRIDE = 100
"""Steps between comparisons; one launch for Taichi."""
TOLERANCE = 1e-8
"""Of positions and velocities. Rounding grows along the way: measured 2e-10 at worst, on the chain."""
EVERY_OTHER = [
    pytest.param(name, marks=pytest.mark.slow if number % 2 else ()) for number, name in enumerate(zoo.TEN)
]
"""The models, half of which are left to the slow tests."""
WORLD = 2
"""The world that is compared: inside a tile, not at its edge."""


@pytest.mark.by_default(
    "pendulum-native",
    "loose-native",
    "arm-native",
    "inverted_double_pendulum-native",
    "reacher-native",
)
@pytest.mark.filterwarnings("ignore:world 0:dovetail.bad_states.StateWarning")  # a wild start, not compared
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", EVERY_OTHER)
def test_a_thousand_steps_stay_on_mujocos_trajectory(name: str, backend: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    _, theirs = load_both(zoo.source(name), "mujoco")
    theirs.opt.disableflags |= int(DisableBit.CONSTRAINT)
    oracle = mujoco.MjData(theirs)
    batch = {} if backend == "numpy" else {"nworld": WORLD + 1}
    first = WORLD if backend == "numpy" else 0
    sim = simulation(name, backend=backend, forces=False, worlds=range(first, WORLD + 1), **batch)
    _set(oracle, start(sim.model, WORLD, forces=False))
    world = sim.data.world(WORLD) if batch else sim.data
    for done in range(STRIDE, STEPS + 1, STRIDE):
        sim.step(STRIDE)
        mujoco.mj_step(theirs, oracle, STRIDE)
        for field in ("qpos", "qvel", "act"):
            error = relative_error(world.field(field), getattr(oracle, field))
            assert error <= TOLERANCE, f"{field} after {done} steps"
    assert np.isclose(world.time, oracle.time, rtol=1e-12)


def _set(oracle: Any, state: dict[str, Any]) -> None:
    for name, value in state.items():
        getattr(oracle, name)[...] = value
