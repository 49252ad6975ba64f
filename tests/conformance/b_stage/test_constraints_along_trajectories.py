"""Constraint rows and forces of every Gymnasium and dm_control model along a trajectory of MuJoCo's.

MuJoCo's state is injected before each comparison. Rows agree to 1e-10; accelerations and forces to 1e-8 when both
engines solve to 1e-14, and to 1e-6 with the model's own settings, for each solver and both cones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import robots

import dovetail
from dovetail.compare.errors import relative_error
from dovetail.contracts.enums import Cone, Jacobian, Solver
from dovetail.contracts.types import Model

mujoco = pytest.importorskip("mujoco")

ROW_INTEGERS = ("efc_type", "efc_id")
ROWS = ("efc_pos", "efc_margin", "efc_frictionloss", "efc_diagApprox", "efc_KBIP", "efc_D", "efc_R")
SOLVED = ("qacc", "qfrc_constraint")
OPTIONS = ("solver", "cone", "tolerance", "iterations", "jacobian")


@contextmanager
def options(models: tuple[Any, ...], **values: float) -> Iterator[None]:
    """Both models with other options for a while."""
    before = [{name: getattr(model.opt, name) for name in values} for model in models]
    try:
        for model in models:
            for name, value in values.items():
                setattr(model.opt, name, value)
        yield
    finally:
        for model, old in zip(models, before, strict=True):
            for name, value in old.items():
                setattr(model.opt, name, value)


def dense(data: Any, nv: int) -> Any:
    """efc_J of an MjData or a Data, sparse by row, as a dense matrix."""
    matrix = np.zeros((data.nefc, nv))
    for row in range(data.nefc):
        start, count = data.efc_J_rowadr[row], data.efc_J_rownnz[row]
        matrix[row, data.efc_J_colind[start : start + count]] = data.efc_J[start : start + count]
    return matrix


def assert_same_rows(model: Model, ours: Any, theirs: Any) -> None:
    assert [getattr(ours, n) for n in ("ne", "nf", "nl", "nefc")] == [
        getattr(theirs, n) for n in ("ne", "nf", "nl", "nefc")
    ]
    for field in ROW_INTEGERS:
        assert np.array_equal(getattr(ours, field)[: ours.nefc], getattr(theirs, field)), field
    for field in ROWS:
        assert relative_error(getattr(ours, field)[: ours.nefc], getattr(theirs, field)) < 1e-10, field
    assert relative_error(dense(ours, model.nv), dense(theirs, model.nv)) < 1e-10
    assert relative_error(ours.efc_aref[: ours.nefc], theirs.efc_aref) < 1e-10


def worst_solution_errors(name: str, steps: int, every: int, **settings: float) -> dict[str, float]:
    """Compare rows at every visited state; the largest error of what the solver found."""
    model, oracle_model = robots.ours(name), robots.theirs(name)
    worst = dict.fromkeys((*SOLVED, "efc_force"), 0.0)
    with options((model, oracle_model), jacobian=int(Jacobian.SPARSE), **settings):
        data = dovetail.make_data(model)
        for oracle in robots.trajectory(oracle_model, steps, every=every):
            mujoco.mj_forward(oracle_model, oracle)
            robots.inject(data, oracle)
            dovetail.forward(model, data)
            assert_same_rows(model, data, oracle)
            for field in SOLVED:
                error = relative_error(getattr(data, field), getattr(oracle, field))
                worst[field] = max(worst[field], error)
            error = relative_error(data.efc_force[: data.nefc], oracle.efc_force)
            worst["efc_force"] = max(worst["efc_force"], error)
    return worst


CONVERGED = {"tolerance": 1e-14, "iterations": 500}


@pytest.mark.parametrize("cone", Cone, ids=lambda c: c.name.lower())
@pytest.mark.parametrize("name", robots.FILES)
def test_newton_converged(name: str, cone: Cone) -> None:
    worst = worst_solution_errors(name, 200, 10, solver=Solver.NEWTON, cone=cone, **CONVERGED)
    assert max(worst.values()) < 1e-8, worst


@pytest.mark.parametrize("name", robots.FILES)
def test_own_settings(name: str) -> None:
    worst = worst_solution_errors(name, 200, 10)
    assert max(worst.values()) < 1e-6, worst


@pytest.mark.slow
@pytest.mark.parametrize("cone", Cone, ids=lambda c: c.name.lower())
@pytest.mark.parametrize("solver", Solver, ids=lambda s: s.name.lower())
@pytest.mark.parametrize("name", robots.FILES)
def test_every_solver_and_cone(name: str, solver: Solver, cone: Cone) -> None:
    worst = worst_solution_errors(name, 200, 5, solver=solver, cone=cone, **CONVERGED)
    assert max(worst.values()) < 1e-8, worst
