"""Any one stage can change its backend and nothing else changes: the trajectory is the same."""

from __future__ import annotations

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.compare.errors import relative_error
from dovetail.compare.states import randomize
from dovetail.config import Config
from dovetail.contracts.types import Model
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.testing.samples import sample

STEPS = 10
NWORLD = 3
TOLERANCE = 1e-9

MODEL = "chain"
"""Joints with springs and dampers, actuators of several kinds: every slot of the smooth step does something."""


def compiled(backend: str, stages: dict[str, str] | None = None) -> Plan:
    # Little is kept, so that what passes between backends is what the plan thinks it must be. (Energy is kept
    # because the plan leaves out what nobody wants to see.)
    config = Config.of_call(stages, backend=backend, keep=("energy",))
    return compile_plan(sample(MODEL), config, nworld=NWORLD)


def slots() -> list[str]:
    return [slot.label for slot in compiled("numpy").slots]


def trajectory(plan: Plan) -> dict[str, np.ndarray]:
    data = plan.make_data()
    randomize(data, np.random.default_rng(5))
    plan.step(data, STEPS)
    return {name: np.array(data.field(name)) for name in ("qpos", "qvel", "act", "qacc_warmstart", "energy")}


@pytest.fixture(scope="module")
def expected() -> dict[str, np.ndarray]:
    return trajectory(compiled("numpy"))


@pytest.fixture(scope="module")
def model() -> Model:
    return sample(MODEL)


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    errors = {name: relative_error(found[name], expected[name]) for name in expected}
    assert max(errors.values()) <= TOLERANCE, errors


def test_all_slots_of_the_smooth_step_are_swapped() -> None:
    stages = {label.partition(":")[0] for label in slots()}
    assert {"kinematics", "mass_matrix", "actuation", "bias_force", "energy", "integrate"} <= stages


@pytest.mark.parametrize("slot", slots())
def test_one_taichi_stage_among_numpy(slot: str, expected: dict[str, np.ndarray]) -> None:
    plan = compiled("numpy", {slot: f"@{LANES}"})
    assert {s.label for s in plan.slots if s.record.backend == LANES} == {slot}
    assert_same(trajectory(plan), expected)


@pytest.mark.parametrize(
    "slot",
    [
        pytest.param(slot, marks=() if number % 3 == 0 else pytest.mark.slow)
        for number, slot in enumerate(slots())
    ],
)
def test_one_numpy_stage_among_taichi(slot: str, expected: dict[str, np.ndarray]) -> None:
    plan = compiled(LANES, {slot: "@numpy"})
    assert {s.label for s in plan.slots if s.record.backend == "numpy"} == {slot}
    assert len(plan.segments()) <= 3
    assert_same(trajectory(plan), expected)


def test_one_numpy_stage_in_a_runge_kutta_step_among_taichi() -> None:
    """Four evaluations a step: segments of both backends take turns inside a step."""
    stages = {"integrate": "rk4"}
    mixed = trajectory(compiled(LANES, {**stages, "bias_force": "@numpy"}))
    assert_same(mixed, trajectory(compiled("numpy", stages)))


def test_swapping_keeps_the_public_interface(model: Model) -> None:
    sim = dovetail.Simulation(model, nworld=NWORLD, stages={"mass_matrix": f"crb@{LANES}"})
    sim.step(2)
    assert sim.data.M.shape == (NWORLD, model.nC)
