"""Contact rules given as Python functions: in the kernel if they can be traced, on NumPy if not, always right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.backends.lanes.traced import NotTraceableError, captures

SLIDING = """
<mujoco>
  <option timestep="0.004" solver="PGS"/>
  <worldbody>
    <geom type="plane" size="5 5 1" friction="0.9 0.01 0.001" margin="0.01" solmix="2"/>
    <body pos="0 0 0.1"><freejoint/>
      <geom type="box" size="0.1 0.1 0.1" mass="2" friction="0.4 0.02 0.002" margin="0.02" gap="0.005"
            solref="0.03 1.2" solimp="0.8 0.9 0.002"/></body>
  </worldbody>
</mujoco>
"""

OFFSET = 0.25
LIST = [0.5]


def slippery(first: Any, second: Any) -> Any:
    return np.minimum(first, second)


def mixed(first: Any, second: Any) -> Any:
    return np.where(first > second, 0.5 * first + second, np.sqrt(first * second))


def shifted(first: Any, second: Any) -> Any:
    return np.maximum(first, second) * OFFSET


def helped(first: Any, second: Any) -> Any:
    return slippery(first, second) + 0.1


def wide(first: Any, second: Any) -> Any:
    return np.clip(first + second, 0.001, 0.05)


def stiffer(solmix: Any, solref: Any, solimp: Any) -> Any:
    return np.minimum(solref[:, 0], solref[:, 1]), np.maximum(solimp[:, 0], solimp[:, 1])


def never(first: Any, second: Any) -> Any:
    return np.zeros(len(first), int)


def one_by_one(first: Any, second: Any) -> Any:
    return np.array(
        [
            [max(float(a), float(b)) for a, b in zip(p, q, strict=True)]
            for p, q in zip(first, second, strict=True)
        ]
    )


def of_a_list(first: Any, second: Any) -> Any:
    return np.maximum(first, second) * LIST[0]


def noisy(first: Any, second: Any) -> Any:
    return np.maximum(first, second) + 0.0 * np.random.default_rng(0).random()


TRACEABLE = {
    "combine_friction": (slippery, mixed, shifted, helped),
    "combine_margin": (wide,),
    "mix_solver": (stiffer,),
    "resolve_priority": (never,),
}
ON_NUMPY = {"combine_friction": (one_by_one, of_a_list, noisy)}


QUICK = (one_by_one,)
"""Kernels are slow to compile, so the others wait for the slow suite."""


def cases(table: dict[str, tuple[Callable[..., Any], ...]]) -> list[Any]:
    return [
        pytest.param(stage, f, id=f"{stage}-{f.__name__}", marks=() if f in QUICK else pytest.mark.slow)
        for stage, functions in table.items()
        for f in functions
    ]


TOGETHER = {
    "combine_friction": slippery,
    "combine_margin": wide,
    "mix_solver": stiffer,
    "resolve_priority": never,
}
"""One of each in one kernel."""


def run(backend: str, stages: dict[str, Any], steps: int = 20) -> dovetail.Simulation:
    sim = dovetail.Simulation(dovetail.loads(SLIDING), nworld=3, backend=backend, stages=stages)
    sim.data.qvel = np.random.default_rng(0).normal(size=(3, 6)) * [1, 1, 0.1, 1, 1, 1]
    sim.step(steps)
    return sim


def test_traceable_rules_run_in_the_kernel_together() -> None:
    lanes, reference = run(LANES, TOGETHER), run("numpy", TOGETHER)
    chosen = {stage: lanes.plan.choices[stage].record.label for stage in TOGETHER}
    assert chosen == {stage: f"{rule.__name__}@{LANES}" for stage, rule in TOGETHER.items()}
    assert len(lanes.plan.segments()) == 1
    assert np.asarray(lanes.data.qpos) == pytest.approx(np.asarray(reference.data.qpos), abs=1e-9)


@pytest.mark.parametrize(("stage", "rule"), cases(TRACEABLE))
def test_a_traceable_rule_runs_in_the_kernel(stage: str, rule: Callable[..., Any]) -> None:
    lanes, reference = run(LANES, {stage: rule}), run("numpy", {stage: rule})
    assert lanes.plan.choices["contact_params"].record.backend == LANES
    assert lanes.plan.choices[stage].record.label == f"{rule.__name__}@{LANES}"
    assert len(lanes.plan.segments()) == 1
    assert np.asarray(lanes.data.qpos) == pytest.approx(np.asarray(reference.data.qpos), abs=1e-9)


@pytest.mark.parametrize(("stage", "rule"), cases(ON_NUMPY))
def test_another_runs_on_numpy_and_the_rest_in_lanes(stage: str, rule: Callable[..., Any]) -> None:
    lanes, reference = run(LANES, {stage: rule}), run("numpy", {stage: rule})
    assert lanes.plan.choices[stage].record.label == f"{rule.__name__}@numpy"
    assert lanes.plan.choices["solve_constraints"].record.backend == LANES
    assert np.asarray(lanes.data.qpos) == pytest.approx(np.asarray(reference.data.qpos), abs=1e-9)


def test_a_rule_has_an_effect() -> None:
    """Guards the tests above: with another rule the box slides otherwise."""
    usual, other = run("numpy", {}), run("numpy", {"combine_friction": slippery})
    assert np.abs(np.asarray(usual.data.qpos) - np.asarray(other.data.qpos)).max() > 1e-4


def test_a_number_that_changes_makes_a_new_plan() -> None:
    scale = 1.0

    def scaled(first: Any, second: Any) -> Any:
        return scale * np.maximum(first, second)

    sims = [
        dovetail.Simulation(
            dovetail.loads(SLIDING),
            nworld=2,
            backend=b,
            stages={"combine_friction": scaled},
        )
        for b in (LANES, "numpy")
    ]
    start = np.random.default_rng(1).normal(size=(2, 6)) * [1, 1, 0.1, 1, 1, 1]
    for sim in sims:
        sim.data.qvel = start
        sim.step(5)
    plan = sims[0].plan
    assert plan.choices["combine_friction"].record.label == f"scaled@{LANES}"
    scale = 0.1
    for sim in sims:
        sim.step(10)
    assert sims[0].plan is not plan
    assert np.asarray(sims[0].data.qpos) == pytest.approx(np.asarray(sims[1].data.qpos), abs=1e-9)


class Rule:
    def __call__(self, first: Any, second: Any) -> Any:
        return np.maximum(first, second)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (of_a_list, "takes LIST from around it, a list"),
        (noisy, "draws random"),
        (Rule(), "not a plain function"),
    ],
)
def test_what_may_change_unseen_is_not_traced(function: Any, why: str) -> None:
    with pytest.raises(NotTraceableError, match=why):
        captures(function)
