"""What must hold of any solution of the constraint problem, checked on random rows without MuJoCo."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from random_constraints import random_problem

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.types import Data, Model
from dovetail.plugins.islands.components_numpy import islands
from dovetail.plugins.shared.solver import sparse_numpy
from dovetail.plugins.shared.solver.cost_numpy import constraint_forces, rows_of
from dovetail.plugins.shared.solver.sparse_numpy import jacobian, mass_matrix
from dovetail.plugins.solve_constraints import cg_numpy, newton_numpy, pgs_numpy, sequential_numpy

Solver = Callable[[Any, Any], None]
EXACT: dict[str, Solver] = {
    "newton": newton_numpy.solve_constraints,
    "cg": cg_numpy.solve_constraints,
    "pgs": pgs_numpy.solve_constraints,
}
ALL = {**EXACT, "sequential": sequential_numpy.solve_constraints}
ACCURACY = {"newton": 1e-8, "cg": 1e-5, "pgs": 1e-5, "sequential": 1e-5}
"""Relative to the largest force; the methods other than Newton's converge linearly."""

SEEDS = range(4)
CONES = pytest.mark.parametrize("elliptic", [False, True], ids=["pyramidal", "elliptic"])


def solve(problem: tuple[Model, Data], solver: str) -> Data:
    model, data = problem
    model.opt.tolerance, model.opt.iterations = 1e-14, 3000
    islands(model, data)
    ALL[solver](model, data)
    return data


def residual(model: Model, data: Data) -> NDArray[Any]:
    """jar = J·qacc − aref."""
    jar: NDArray[Any] = jacobian(model, data) @ data.qacc - data.efc_aref[: data.nefc]
    return jar


def largest(data: Data) -> float:
    return float(np.abs(data.efc_force[: data.nefc]).max()) + 1.0


@CONES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", ALL)
def test_forces_and_accelerations_obey_newtons_law(solver: str, seed: int, elliptic: bool) -> None:
    model, data = problem = random_problem(seed, elliptic=elliptic)
    solve(problem, solver)
    force = jacobian(model, data).T @ data.efc_force[: data.nefc]
    np.testing.assert_allclose(data.qfrc_constraint, force, atol=1e-9 * largest(data))
    left = mass_matrix(model, data) @ data.qacc - data.qfrc_smooth - force
    assert np.abs(left).max() < ACCURACY[solver] * largest(data)


@CONES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", EXACT)
def test_forces_are_those_of_the_acceleration(solver: str, seed: int, elliptic: bool) -> None:
    """The force law of every row holds at the solution: complementarity and the cones' zones in one."""
    model, data = problem = random_problem(seed, elliptic=elliptic)
    solve(problem, solver)
    expected, _ = constraint_forces(model, data, residual(model, data))
    wrong = np.abs(data.efc_force[: data.nefc] - expected)
    if solver == "pgs":
        wrong[without_force(data)] = 0.0
    assert wrong.max() < 10 * ACCURACY[solver] * largest(data)


def without_force(data: Data) -> NDArray[Any]:
    """Rows of elliptic contacts whose normal force is zero: there PGS may stay although a force with friction would
    cost less (see `pgs_numpy`)."""
    cones = rows_of(data).cones
    idle = data.efc_force[cones.rows[:, 0]] == 0.0
    rows: NDArray[Any] = cones.rows[idle][cones.real[idle]]
    return rows


@CONES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", ALL)
def test_forces_are_allowed(solver: str, seed: int, elliptic: bool) -> None:
    data = solve(random_problem(seed, elliptic=elliptic), solver)
    rows, force = rows_of(data), data.efc_force[: data.nefc]
    assert (force[rows.one_sided] >= 0.0).all()
    assert (np.abs(force[rows.dry]) <= rows.frictionloss[rows.dry]).all()
    for cone, real, friction in zip(rows.cones.rows, rows.cones.real, rows.cones.scale, strict=True):
        inside = force[cone[real]]
        assert inside[0] >= 0.0
        assert np.linalg.norm(inside[1:] / friction[real][1:]) <= inside[0] * (1.0 + 1e-9)


@CONES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", EXACT)
def test_forces_and_distances_are_complementary(solver: str, seed: int, elliptic: bool) -> None:
    """A row that only pushes either pushes, and then its regularised acceleration is what it aims at, or does not,
    and then it moves apart; the power between a cone and its regularised acceleration is nought."""
    model, data = problem = random_problem(seed, elliptic=elliptic)
    solve(problem, solver)
    rows, force = rows_of(data), data.efc_force[: data.nefc]
    apart = residual(model, data) + rows.R * force
    small = 10 * ACCURACY[solver] * largest(data)
    assert (apart[rows.one_sided] > -small).all()
    assert np.abs(apart * force)[rows.one_sided].max(initial=0.0) < small * largest(data)
    for cone, real in zip(rows.cones.rows, rows.cones.real, strict=True):
        assert abs(apart[cone[real]] @ force[cone[real]]) < small * largest(data)


@CONES
@pytest.mark.parametrize("seed", SEEDS)
def test_solvers_agree(seed: int, elliptic: bool) -> None:
    newton = solve(random_problem(seed, elliptic=elliptic), "newton")
    cg = solve(random_problem(seed, elliptic=elliptic), "cg")
    pgs = solve(random_problem(seed, elliptic=elliptic), "pgs")
    scale = np.abs(newton.qacc).max()
    assert np.abs(cg.qacc - newton.qacc).max() < 10 * ACCURACY["cg"] * scale
    if np.array_equal(without_force(pgs), without_force(newton)):
        assert np.abs(pgs.qacc - newton.qacc).max() < 10 * ACCURACY["pgs"] * scale
    else:
        pytest.skip("PGS stays at a contact without force")


@CONES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", ["newton", "cg"])
def test_an_island_is_solved_as_part_of_the_whole(solver: str, seed: int, elliptic: bool) -> None:
    separate = random_problem(seed, elliptic=elliptic)
    together = random_problem(seed, elliptic=elliptic)
    together[0].opt.disableflags = int(together[0].opt.disableflags) | int(DisableBit.ISLAND)
    solve(separate, solver)
    solve(together, solver)
    assert separate[1].nisland >= 1
    assert together[1].nisland == 0
    scale = np.abs(together[1].qacc).max()
    assert np.abs(separate[1].qacc - together[1].qacc).max() < 10 * ACCURACY[solver] * scale


@CONES
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", ALL)
def test_the_start_does_not_change_the_answer(solver: str, seed: int, elliptic: bool) -> None:
    cold, warm = random_problem(seed, elliptic=elliptic), random_problem(seed, elliptic=elliptic)
    cold[0].opt.disableflags = int(cold[0].opt.disableflags) | int(DisableBit.WARMSTART)
    warm[1].qacc_warmstart[:] = 3.0 * np.random.default_rng(seed).normal(size=warm[0].nv)
    expected, actual = solve(cold, solver).qacc, solve(warm, solver).qacc
    assert np.abs(actual - expected).max() < 10 * ACCURACY[solver] * np.abs(expected).max()


@pytest.mark.parametrize("solver", ["newton", "cg"])
def test_started_at_the_answer_it_stays_there(solver: str) -> None:
    model, data = problem = random_problem(0, elliptic=True)
    answer = solve(problem, solver).qacc.copy()
    data.qacc_warmstart[:] = answer
    model.opt.tolerance = 1e-8
    ALL[solver](model, data)
    assert data.solver_niter.max() <= 1
    np.testing.assert_allclose(data.qacc, answer, rtol=1e-6, atol=1e-6)


@CONES
@pytest.mark.parametrize("solver", ["newton", "cg", "pgs"])
def test_dense_and_sparse_matrices_give_the_same(
    solver: str, elliptic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = random_problem(1, elliptic=elliptic), random_problem(1, elliptic=elliptic)
    dense = solve(one, solver)
    monkeypatch.setattr(sparse_numpy, "DENSE", 0)
    sparse = solve(other, solver)
    scale = np.abs(dense.qacc).max()
    assert np.abs(sparse.qacc - dense.qacc).max() < 10 * ACCURACY[solver] * scale
    if solver != "pgs":  # whether a force is on its cone or inside is for rounding to decide
        np.testing.assert_array_equal(sparse.efc_state[: dense.nefc], dense.efc_state[: dense.nefc])


@CONES
@pytest.mark.parametrize("seed", SEEDS)
def test_each_iteration_of_newtons_method_lowers_the_cost(seed: int, elliptic: bool) -> None:
    data = solve(random_problem(seed, elliptic=elliptic), "newton")
    made = int(data.solver_niter[0])
    assert made
    assert (data.solver.improvement[:made] > -1e-12).all()


# ---- hard cases


@pytest.mark.parametrize("solver", ALL)
def test_contradictory_equalities_share_the_force(solver: str) -> None:
    """Two rows want opposite accelerations of the same thing: they settle between, pulling against each other."""
    model, data = random_problem(2, elliptic=True)
    nnz = int(data.efc_J_rownnz[0])
    first, second = int(data.efc_J_rowadr[0]), int(data.efc_J_rowadr[1])
    data.efc_J_rownnz[1] = nnz
    data.efc_J_colind[second : second + nnz] = data.efc_J_colind[first : first + nnz]
    data.efc_J[second : second + nnz] = data.efc_J[first : first + nnz]
    data.efc_R[:2], data.efc_D[:2] = 0.1, 10.0
    data.efc_aref[:2] = 10.0, -10.0
    solve((model, data), solver)
    assert np.isfinite(data.qacc).all()
    force = data.efc_force[:2]
    assert force[0] - force[1] == pytest.approx(20.0 / 0.1, rel=1e-2)


@pytest.mark.parametrize("solver", ALL)
def test_stiffness_of_a_million(solver: str) -> None:
    """Newton's method does not mind; the others may stop before the end, but they stop."""
    model, data = random_problem(3, elliptic=True, softness=1e-6)
    model.opt.tolerance, model.opt.iterations = 0.0, 100
    islands(model, data)
    ALL[solver](model, data)
    assert np.isfinite(data.qacc).all()
    if solver == "newton":
        left = mass_matrix(model, data) @ data.qacc - data.qfrc_smooth - data.qfrc_constraint
        assert np.abs(left).max() < 1e-6 * largest(data)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("solver", ALL)
def test_numbers_that_are_none_end_the_search(solver: str, value: float) -> None:
    model, data = random_problem(4, elliptic=True)
    data.qfrc_smooth[0] = data.qacc_smooth[0] = value
    model.opt.iterations = 50
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        islands(model, data)
        ALL[solver](model, data)
    assert data.solver_niter.max() <= 50


@pytest.mark.parametrize("solver", ["newton", "cg"])
def test_dofs_without_mass_do_not_hang_solvers(solver: str) -> None:
    """A singular mass matrix: Newton's method still has what the constraints add to it; nothing hangs."""
    model, data = problem = random_problem(5, elliptic=True)
    data.M[:] *= 1e-30
    data.qfrc_smooth[:] *= 1e-30
    data.qLDiagInv[:] = 1e30
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        solve(problem, solver)
    assert data.solver_niter.max() <= model.opt.iterations
