"""Solved as far as the arithmetic allows, every solver gives MuJoCo's answer, and all give the same."""

from __future__ import annotations

from copy import copy
from typing import Any

import pytest

mujoco = pytest.importorskip("mujoco")

from solver_reference import CONES, FILES, SOLVERS, answer_error, ours, solved, visited  # noqa: E402

TOLERANCE = {"newton": 1e-8, "cg": 1e-6, "pgs": 1e-8}
"""Conjugate gradients stop when the cost no longer falls, which rounding hides from relative changes of the
acceleration below 1e-8; MuJoCo's own are up to 1e-7 from its Newton's method on these models."""
ITERATIONS = {"newton": 30, "cg": 100, "pgs": 300}

NAMES = [
    *("gymnasium/ant", "gymnasium/half_cheetah", "gymnasium/hopper", "gymnasium/humanoidstandup"),
    *("dm_control/cheetah", "dm_control/finger", "dm_control/hopper", "dm_control/humanoid"),
    *("dm_control/humanoid_CMU", "dm_control/manipulator", "dm_control/quadruped", "dm_control/walker"),
]


@pytest.fixture(params=[name for name in NAMES if name in FILES], scope="module")
def models(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """MuJoCo's model, solved until nothing improves, and ours."""
    path = FILES[request.param]
    theirs = mujoco.MjModel.from_xml_path(str(path))
    theirs.opt.tolerance = 0.0
    return theirs, ours(theirs, path)


@pytest.mark.covering(2)
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_converged_answers_are_mujocos(models: tuple[Any, Any], solver: str, cone: str) -> None:
    theirs, model = copy(models[0]), models[1]
    theirs.opt.solver, theirs.opt.cone, theirs.opt.iterations = (
        SOLVERS[solver][0],
        CONES[cone],
        ITERATIONS[solver],
    )
    for expected in visited(theirs, steps=200, every=100):
        assert answer_error(solved(theirs, expected, solver, model), expected) < TOLERANCE[solver]


@pytest.mark.parametrize("cone", CONES)
def test_conjugate_gradients_reach_newtons_answer(models: tuple[Any, Any], cone: str) -> None:
    theirs, model = copy(models[0]), models[1]
    theirs.opt.cone, theirs.opt.solver = CONES[cone], SOLVERS["newton"][0]
    theirs.opt.iterations = ITERATIONS["cg"]
    for expected in visited(theirs, steps=100, every=100):
        assert answer_error(solved(theirs, expected, "cg", model), expected) < TOLERANCE["cg"]
