"""Conjugate gradients in lanes beside mujoco's, contacts being the same: every kind of row, both cones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco
import numpy as np
import pytest
from lane_solvers import check_lanes, check_neighbours, errors, model, options, solved, states

TOLERANCE = {"f64": 1e-8, "f32": 1e-3}
"""Largest error relative to the largest number of a world's field, at mujoco's usual settings: the method stops short
of the minimum, so both must take the same steps. Measured: 4e-9 and 2e-4."""
LAST_STEP = 1e-4
"""The same for the few worlds where rounding decides whether one step more is taken. Measured: 4e-6."""
ZOO = 1e-3
"""The same for the zoo, where the iterations are not enough and rounding grows from one to the next."""
MINIMUM = 1e-6
"""Where both go on until nothing is gained any more: a minimum is only known to the root of the rounding."""

PYRAMIDS, CONES = "yard pyramidal 3 4", "yard elliptic 3 3"
OTHERS = ["yard elliptic 4 6", "half_cheetah pyramidal", "ant elliptic", "humanoid pyramidal"]


@contextmanager
def one_problem(name: str, **more: float) -> Iterator[None]:
    """mujoco without islands, as lanes solve."""
    flags = int(model(name, "cg").opt.disableflags) | int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
    with options(name, "cg", disableflags=flags, **more):
        yield


@pytest.mark.parametrize(
    "name", [PYRAMIDS, CONES, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_accelerations_are_mujocos(name: str) -> None:
    with one_problem(name):
        found = solved(name, "cg")
        assert max(data.solver_niter[0] for data in states(name, "cg")) > 10
        for field, error in errors(found, states(name, "cg")).items():
            assert np.quantile(error, 0.75) <= TOLERANCE["f64"], (field, error)
            assert error.max() <= LAST_STEP, (field, error)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zoo pyramidal", "zoo elliptic"])
def test_many_rows_are_mujocos_too(name: str) -> None:
    with one_problem(name):
        for field, error in errors(solved(name, "cg"), states(name, "cg")).items():
            assert error.max() <= ZOO, (field, error)


@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_every_iteration_is_mujocos(name: str, iterations: int) -> None:
    with one_problem(name, iterations=iterations):
        for field, error in errors(solved(name, "cg"), states(name, "cg")).items():
            assert error.max() <= TOLERANCE["f64"], (field, error)


@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
def test_islands_have_the_same_minimum(name: str) -> None:
    with options(name, "cg", tolerance=0.0, iterations=1000):
        for field, error in errors(solved(name, "cg"), states(name, "cg")).items():
            assert error.max() <= MINIMUM, (field, error)


@pytest.mark.slow
def test_single_precision_stays_close() -> None:
    found = solved(PYRAMIDS, "cg", "f32")
    for field, error in errors(found, states(PYRAMIDS, "cg")).items():
        assert error.max() <= TOLERANCE["f32"], (field, error)


@pytest.mark.parametrize("name", [PYRAMIDS, CONES])
def test_a_world_does_not_depend_on_its_neighbours(name: str) -> None:
    check_neighbours(name, "cg")


@pytest.mark.slow
def test_lanes_do_not_matter() -> None:
    check_lanes(CONES, "cg")
