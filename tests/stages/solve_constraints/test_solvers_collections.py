"""On the models of Gymnasium and dm_control in contact, every solver and cone gives MuJoCo's answer."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from solver_reference import CONES, FILES, SOLVERS, answer_error, ours, solved, visited  # noqa: E402

TOLERANCE = {"newton": 1e-6, "cg": 1e-5, "pgs": 1e-6}
"""At the models' own settings. Rounding grows in the course of conjugate gradients: MuJoCo's own answers with a
dense and with a sparse Jacobian differ by as much."""

SLOW = {"dm_control/dog"}  # takes seconds to load
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in FILES]


@pytest.fixture(params=NAMES, scope="module")
def models(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """MuJoCo's model and ours."""
    path = FILES[request.param]
    theirs = mujoco.MjModel.from_xml_path(str(path))
    return theirs, ours(theirs, path)


@pytest.mark.covering(2)
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_answers_and_iterations_are_mujocos(models: tuple[Any, Any], solver: str, cone: str) -> None:
    """As many iterations, too, except where the start is so near the minimum that rounding decides whether any is
    needed."""
    theirs, model = copy(models[0]), models[1]
    theirs.opt.solver, theirs.opt.cone = SOLVERS[solver][0], CONES[cone]
    for expected in visited(theirs, steps=200, every=50):
        data = solved(theirs, expected, solver, model)
        assert answer_error(data, expected) < TOLERANCE[solver]
        if max(data.solver_niter.max(), expected.solver_niter.max()) > 1 + theirs.opt.noslip_iterations:
            np.testing.assert_array_equal(data.solver_niter, expected.solver_niter)
