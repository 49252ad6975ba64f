"""Free runs with contacts and constraints stay beside MuJoCo's: nothing is injected after the start.

Every model of Gymnasium and of dm_control's suite stays within 1e-6 for a hundred steps under random controls (at
worst 8e-11, measured). Over a thousand steps most still do. The others are chaotic: rounding grows until another
branch is taken. For these the step is on record at which we part from MuJoCo, and MuJoCo parts from itself about as
early when its start is moved by 1e-14.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import robots

import dovetail
from dovetail.contracts.types import Data

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-6
"""Of positions and velocities, relative to the largest of them where that is above 1."""
NUDGE = 1e-14

HORIZON = {
    "gymnasium/ant": 990,
    "gymnasium/half_cheetah": 311,
    "gymnasium/point": 166,
    "suite/dog": 150,
    "suite/humanoid": 561,
    "suite/quadruped": 132,
    "suite/stacker": 364,
}
"""Models that do not stay within the tolerance for a thousand steps: the first step beyond it, as measured."""
EARLY = 0.8
"""Another machine rounds otherwise; no run may part before this part of the horizon."""

QUICK = [
    *("gymnasium/half_cheetah", "gymnasium/humanoidstandup", "gymnasium/walker2d"),
    *("suite/finger", "suite/humanoid", "suite/walker"),
]
"""Models that touch something within a hundred steps: the default run; the slow one takes all."""


def driven(model: Any, steps: int, nudge: float = 0.0) -> Iterator[Any]:
    """MjData after each step of a run under random controls, from a start that may be moved a little."""
    rng = np.random.default_rng(0)
    data = mujoco.MjData(model)
    if nudge:
        moved = np.random.default_rng(1)
        data.qpos[:] *= 1.0 + nudge * moved.normal(size=model.nq)
        data.qvel[:] = nudge * moved.normal(size=model.nv)
    for step in range(steps):
        if step % 10 == 0:
            data.ctrl[:] = robots.controls(model, rng)
        mujoco.mj_step(model, data)
        yield data


def ours(name: str, steps: int) -> Iterator[Data]:
    """The same run of ours."""
    model = robots.ours(name)
    rng = np.random.default_rng(0)
    data = dovetail.make_data(model)
    for step in range(steps):
        if step % 10 == 0:
            data.ctrl[:] = robots.controls(model, rng)
        dovetail.step(model, data)
        yield data


def error(ours: Any, theirs: Any) -> float:
    """Of positions and velocities."""
    a, b = (np.concatenate([x.qpos, x.qvel]) for x in (ours, theirs))
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))


def errors(left: Iterator[Any], right: Iterator[Any]) -> Iterator[float]:
    for a, b in zip(left, right, strict=True):
        yield error(a, b)


def first_beyond(values: Iterator[float]) -> int | None:
    """The first step whose error is beyond the tolerance."""
    return next((step for step, value in enumerate(values) if not value < TOLERANCE), None)


@pytest.mark.slow_cases("gymnasium/humanoidstandup")
@pytest.mark.parametrize("name", [name for name in QUICK if name in robots.FILES])
def test_a_hundred_steps_stay_on_mujocos_trajectory(name: str) -> None:
    worst = max(errors(ours(name, 100), driven(robots.theirs(name), 100)))
    assert worst < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in robots.FILES if name not in QUICK])
def test_hundred_steps_of_every_other_model(name: str) -> None:
    worst = max(errors(ours(name, 100), driven(robots.theirs(name), 100)))
    assert worst < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("name", robots.FILES)
def test_a_thousand_steps_or_the_horizon_of_chaos(name: str) -> None:
    first = first_beyond(errors(ours(name, 1000), driven(robots.theirs(name), 1000)))
    if name not in HORIZON:
        assert first is None
        return
    assert first is None or first >= EARLY * HORIZON[name], f"part at step {first}"
    model = robots.theirs(name)
    nudged = first_beyond(errors(driven(model, 1000, NUDGE), driven(model, 1000)))
    assert nudged is not None
    assert nudged <= HORIZON[name] / EARLY, "MuJoCo parts from itself later: the difference is ours"


# ---- scenes without chaos: each solver, cone and integrator ------------------------------------------------

YARD = """<mujoco><option timestep=".004" cone="{cone}" solver="{solver}" integrator="{integrator}" tolerance="1e-12"
  iterations="{iterations}"/>
  <worldbody><geom type="plane" size="5 5 .1" friction=".8 .02 .005"/>
    <body pos="0 0 .099"><freejoint/><geom size=".1" condim="6"/></body>
    <body pos="1 0 .0995" euler=".5 .3 0"><freejoint/><geom type="box" size=".15 .2 .1"/></body>
    <body pos="-1 0 .049" euler="89.5 0 0"><freejoint/><geom type="capsule" size=".05 .2" condim="4"/></body>
    <body pos="2 0 .5"><joint name="h" axis="0 1 0" range="-20 20" limited="true" damping=".1"/>
      <geom type="capsule" size=".04" fromto="0 0 0 0 0 .3"/>
      <body pos="0 0 .3"><joint name="k" axis="0 1 0" frictionloss=".3"/><geom size=".05" pos=".1 0 0"/></body></body>
    <body pos="3 0 .5"><joint name="a" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .2 0 0"/>
      <body pos=".2 0 0"><joint name="b" axis="0 1 0" damping=".02"/>
        <geom type="capsule" size=".03" fromto="0 0 0 .2 0 0"/></body></body></worldbody>
  <equality><joint joint1="b" joint2="a" polycoef=".1 .5 0 0 0"/></equality></mujoco>"""
SOLVERS = {"Newton": 100, "CG": 100, "PGS": 60}
"""Iterations allowed: few are enough to compare two runs of the same algorithm."""
QUICK_CASES = [("Newton", "Euler"), ("Newton", "implicitfast"), ("CG", "implicit"), ("PGS", "Euler")]
CASES = [
    pytest.param(solver, integrator, marks=[pytest.mark.slow] * ((solver, integrator) not in QUICK_CASES))
    for solver in SOLVERS
    for integrator in ("Euler", "RK4", "implicit", "implicitfast")
]


@pytest.mark.covering
@pytest.mark.parametrize(("solver", "integrator"), CASES)
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_hundred_steps_of_a_yard(cone: str, solver: str, integrator: str) -> None:
    """A ball that rolls, a box that slides, a capsule, a limit, friction and an equality."""
    xml = YARD.format(cone=cone, solver=solver, integrator=integrator, iterations=SOLVERS[solver])
    theirs, model = mujoco.MjModel.from_xml_string(xml), dovetail.loads(xml)
    oracle, data = mujoco.MjData(theirs), dovetail.make_data(model)
    oracle.qvel[:] = data.qvel[:] = 0.4 * np.random.default_rng(2).normal(size=model.nv)
    worst, touched = 0.0, 0
    for _ in range(100):
        mujoco.mj_step(theirs, oracle)
        dovetail.step(model, data)
        worst, touched = max(worst, error(data, oracle)), max(touched, int(data.ncon))
    assert touched >= 4
    assert worst < TOLERANCE
