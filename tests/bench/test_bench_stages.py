"""Times of the stages inside one kernel: what is repeated, what is not, and that results stay."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from lane_backend import LANES

from dovetail.bench import Case, Measurement
from dovetail.bench.stages import StageTimes, profile
from dovetail.errors import PlanError, SelectionError
from dovetail.planning.plan import Plan
from dovetail.simulation import Simulation

HINGE = Case(
    "hinge",
    '<mujoco><worldbody><body><joint damping="1"/><geom size=".1" pos=".1 0 0"/></body></worldbody></mujoco>',
)
REQUEST = Measurement(
    nworld=(8,),
    precisions=("f64",),
    steps=4,
    repeat=2,
    roll_in=0.0,
    with_mujoco=False,
    runtimes=("quadrants",),
    backend="taichi",
)


@pytest.fixture(scope="module")
def times() -> StageTimes:
    [found] = profile(HINGE, REQUEST)
    return found


def test_every_stage_of_the_kernel_has_a_time_except_the_one_that_moves_on(times: StageTimes) -> None:
    named = {t.stage: t.microseconds for t in times.stages}
    assert {"kinematics", "passive_force", "bias_force", "integrate"} <= set(named)
    assert [stage for stage, microseconds in named.items() if microseconds is None] == ["integrate"]


def test_the_parts_make_the_whole(times: StageTimes) -> None:
    parts = sum(t.microseconds or 0.0 for t in times.stages)
    whole = parts + times.copy_microseconds + times.rest_microseconds
    assert whole == pytest.approx(times.looped_microseconds)
    assert times.microseconds > 0
    assert "4 times in a step" in times.how


def test_only_the_stages_asked_for_are_measured() -> None:
    [found] = profile(HINGE, REQUEST, ["bias_force"])
    assert [t.stage for t in found.stages] == ["bias_force"]
    with pytest.raises(SelectionError, match="no stage 'bias_farce'; did you mean 'bias_force'"):
        profile(HINGE, REQUEST, ["bias_farce"])


def test_a_step_that_is_no_kernel_cannot_be_taken_apart() -> None:
    with pytest.raises(PlanError, match="`dovetail run --profile` times stages one by one"):
        profile(HINGE, attrs.evolve(REQUEST, backend="numpy", runtimes=(None,)))


# ---- the kernel behind it


@pytest.fixture(scope="module")
def repeatable() -> tuple[Simulation, Plan]:
    sim = Simulation(HINGE.load(), nworld=8, backend=LANES, keep="state")
    return sim, attrs.evolve(sim.plan, options={**sim.plan.options, "repeatable": True})


def stepped(sim: Simulation, plan: Plan, times: dict[str, int]) -> np.ndarray:
    [runner] = plan.execution.runners()
    sim.reset()
    sim.data.qvel[...] = 1.0
    plan.step(sim.data, 0)
    runner(sim.data, 0, 0)  # compiles
    runner.repeat(times)
    plan.step(sim.data, 3)
    return np.array([sim.data.time, sim.data.qpos[:, 0], sim.data.qvel[:, 0]])


def test_stages_run_as_often_as_said(repeatable: tuple[Simulation, Plan]) -> None:
    """Integrating twice in a step passes the time of two."""
    once, twice = (stepped(*repeatable, {"integrate": n}) for n in (1, 2))
    np.testing.assert_allclose(twice[0], 2 * once[0])


def test_what_rows_add_to_is_zeroed_with_them(repeatable: tuple[Simulation, Plan]) -> None:
    once, again = (stepped(*repeatable, {"passive_force": n, "bias_force": n}) for n in (1, 5))
    assert np.array_equal(once, again)


def test_the_loops_change_no_bit(repeatable: tuple[Simulation, Plan]) -> None:
    sim, plan = repeatable
    looped = stepped(sim, plan, {})
    sim.reset()
    sim.data.qvel[...] = 1.0
    sim.step(3)
    assert np.array_equal(looped, [sim.data.time, sim.data.qpos[:, 0], sim.data.qvel[:, 0]])


def test_a_batch_of_another_size_uses_the_kernel_that_is_there(repeatable: tuple[Simulation, Plan]) -> None:
    """Which makes sweeps over worlds and threads affordable."""
    small, _ = repeatable
    large = Simulation(small.model, nworld=24, threads=2, backend=LANES, keep="state")
    kernels = []
    for sim in (small, large):
        sim.step(1)
        [runner] = sim.plan.execution.runners()
        kernels.append(runner._program.kernel)
    assert kernels[0] is kernels[1]
