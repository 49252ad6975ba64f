"""Newton's method: go where the quadratic model of the cost at the current point has its minimum.

The Hessian is M + Jᵀ·W·J with W = D on rows in their quadratic piece and the cone's own Hessian on elliptic contacts
between their zones. It is formed anew and factored in each iteration: for a humanoid that takes 10 µs (LAPACK), a
rank-one update of the factor in NumPy 140 µs, so that what MuJoCo saves by updating would be a loss here. (`nupdate`
counts the rows it would have had to update.) Compare mj_solNewton.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import Cone
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.solver.cost_numpy import CONE, QUADRATIC, Cones, cone_hessians
from dovetail.plugins.solve_constraints.fill_numpy import newton_entries
from dovetail.plugins.solve_constraints.many_problems_numpy import Members, Points, Problems
from dovetail.plugins.solve_constraints.primal_numpy import solve_primal
from dovetail.plugins.solve_constraints.problem_numpy import Pattern, Point, Problem, island_patterns


def solve_constraints(model: ModelLike, data: DataLike) -> None:
    """Write qacc, the constraint forces and states, cone Hessians and statistics."""
    data.contact.H[: data.ncon] = 0.0
    solve_primal(model, data, Newton, NewtonOfMany)


class Newton:
    """Directions of Newton's method for one problem."""

    def __init__(self, model: ModelLike, data: DataLike, problem: Problem) -> None:
        self.problem = problem
        self.data = data
        self.nnz = stored_entries(model, problem.M_pattern, problem.J_pattern)

    def direction(self, point: Point) -> Array:
        return -solve_positive(hessian(self.problem, point), point.gradient)

    def finish(self, point: Point) -> None:
        write_cone_hessians(self.data, self.problem.rows.cones, point.jar)

    def updates(self, old: Point, new: Point) -> int:
        return int(updated_rows(old.state, new.state).sum())


class NewtonOfMany:
    """Directions of Newton's method for many islands."""

    def __init__(self, model: ModelLike, data: DataLike, problems: Problems) -> None:
        self.model, self.data, self.problems = model, data, problems

    def entries(self, island: int) -> int:
        return stored_entries(self.model, *island_patterns(self.data, island))

    def directions(self, points: Points) -> Array:
        return -solve_blocks(hessian(self.problems, points), self.problems.of_dofs, points.gradient)

    def finish(self, points: Points) -> None:
        write_cone_hessians(self.data, self.problems.rows.cones, points.jar)

    def updates(self, old: Points, new: Points) -> Array:
        return self.problems.of_rows.sums(updated_rows(old.state, new.state))

    def left(self, problems: Problems, dofs: Array) -> NewtonOfMany:
        return NewtonOfMany(self.model, self.data, problems)


def stored_entries(model: ModelLike, M: Pattern, J: Pattern) -> int:
    """Entries of the Hessian and its factors as MuJoCo stores them."""
    elliptic = model.opt.cone == Cone.ELLIPTIC
    return newton_entries(M, J, factors=1 + elliptic) if is_sparse(model) else len(M.rownnz) ** 2


def updated_rows(old: Array, new: Array) -> Array:
    """How often MuJoCo would update its factor for each row that goes from one state to another."""
    return ((old == QUADRATIC) != (new == QUADRATIC)).astype(int) + (new == CONE)


def write_cone_hessians(data: DataLike, cones: Cones, jar: Array) -> None:
    """Write the Hessians of cones between their zones, each dim × dim, to `data.contact.H`; zero for the others."""
    H = data.contact.H
    H[cones.contact] = 0.0
    chosen, blocks = cone_hessians(cones, jar)
    contacts, dims = cones.contact[chosen], cones.dim[chosen]
    for dim in np.unique(dims).tolist():
        here = dims == dim
        H[contacts[here], : dim * dim] = blocks[here, :dim, :dim].reshape(-1, dim * dim)


def hessian(problem: Problem | Problems, point: Point | Points) -> Any:
    """Second derivatives of the cost."""
    cones = problem.rows.cones
    weight = np.where(point.state == QUADRATIC, problem.rows.D, 0.0)
    chosen, blocks = cone_hessians(cones, point.jar)
    form = dense_hessian if isinstance(problem.J, np.ndarray) else sparse_hessian
    return form(problem, weight, cones.rows[chosen], blocks)


def dense_hessian(problem: Problem | Problems, weight: Array, cone_rows: Array, blocks: Array) -> Array:
    """M + Jᵀ·W·J from the rows that have weight."""
    J = problem.J
    active = np.flatnonzero(weight)
    part = J[active]
    H: Array = problem.M + (part.T * weight[active]) @ part
    if len(blocks):
        coned = J[cone_rows]  # (cone, row, dof)
        H += coned.reshape(-1, J.shape[1]).T @ (blocks @ coned).reshape(-1, J.shape[1])
    return H


def sparse_hessian(problem: Problem | Problems, weight: Array, cone_rows: Array, blocks: Array) -> Any:
    """M + Jᵀ·W·J as a sparse matrix."""
    from scipy.sparse import coo_array

    nefc, size = len(weight), cone_rows.shape[1]
    diagonal = np.arange(nefc)
    rows = np.concatenate([diagonal, np.repeat(cone_rows, size, axis=1).ravel()])
    columns = np.concatenate([diagonal, np.tile(cone_rows, size).ravel()])
    W = coo_array((np.concatenate([weight, blocks.ravel()]), (rows, columns)), shape=(nefc, nefc)).tocsr()
    return problem.M + problem.J.T @ (W @ problem.J)


def solve_blocks(H: Any, members: Members, x: Array) -> Array:
    """H⁻¹·x for a sparse block-diagonal H, symmetric and positive definite: blocks of one size at a time."""
    size = np.diff(members.start, append=len(x))
    solution = np.empty_like(x)
    for count in np.unique(size).tolist():
        chosen = np.flatnonzero(size == count)
        place = members.start[chosen][:, None] + np.arange(count)
        solution[place] = solve_alike(blocks_of(H, members, chosen, count), x[place])
    return solution


def blocks_of(H: Any, members: Members, chosen: Array, size: int) -> Array:
    """Blocks (n, size, size) of a sparse block-diagonal matrix."""
    entries = H.tocoo()
    number = np.full(len(members.start), -1)
    number[chosen] = np.arange(len(chosen))
    inside = number[members.owner[entries.row]] >= 0
    row, column, values = entries.row[inside], entries.col[inside], entries.data[inside]
    owner = members.owner[row]
    blocks = np.zeros((len(chosen), size, size))
    blocks[number[owner], row - members.start[owner], column - members.start[owner]] = values
    return blocks


def solve_alike(H: Array, x: Array) -> Array:
    """H⁻¹·x for matrices (n, k, k) and vectors (n, k)."""
    try:
        np.linalg.cholesky(H)
        solution: Array = np.linalg.solve(H, x[..., None])[..., 0]
    except np.linalg.LinAlgError:  # one of them is singular or nearly so
        return np.array([solve_positive(block, right) for block, right in zip(H, x, strict=True)])
    return solution


def solve_positive(H: Any, x: Array) -> Array:
    """H⁻¹·x for a symmetric positive definite matrix, dense or sparse."""
    if isinstance(H, np.ndarray):
        from scipy.linalg.lapack import dposv

        _, solution, failed = dposv(H, x, lower=1)
        return solve_deficient(H, x) if failed else solution
    from scipy.sparse.linalg import splu

    try:
        factors = splu(
            H.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError:  # it is exactly singular; MuJoCo ends the process
        return solve_deficient(H.toarray(), x)
    return factors.solve(x)


def solve_deficient(H: Array, x: Array) -> Array:
    """H⁻¹·x by a Cholesky factor whose pivots are raised to MINVAL, for an H that is singular or nearly so."""
    from scipy.linalg.lapack import dpotrs

    L = np.zeros_like(H)
    for k in range(len(H)):
        below = H[k:, k] - L[k:, :k] @ L[k, :k]
        L[k:, k] = below / np.sqrt(max(below[0], MINVAL))
        L[k, k] = np.sqrt(max(below[0], MINVAL))
    solution: Array = dpotrs(L, x, lower=1)[0]
    return solution
