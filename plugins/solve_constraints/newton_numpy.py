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
from dovetail.plugins.shared.solver.cost_numpy import CONE, QUADRATIC, cone_hessians
from dovetail.plugins.solve_constraints.fill_numpy import newton_entries
from dovetail.plugins.solve_constraints.primal_numpy import solve_primal
from dovetail.plugins.solve_constraints.problem_numpy import Point, Problem


def solve_constraints(model: ModelLike, data: DataLike) -> None:
    """Write qacc, the constraint forces and states, cone Hessians and statistics."""
    data.contact.H[: data.ncon] = 0.0
    solve_primal(model, data, Newton)


class Newton:
    """Directions of Newton's method for one problem."""

    def __init__(self, model: ModelLike, data: DataLike, problem: Problem) -> None:
        self.problem = problem
        self.data = data
        elliptic = model.opt.cone == Cone.ELLIPTIC
        sparse = is_sparse(model)
        self.nnz = newton_entries(problem, factors=1 + elliptic) if sparse else len(problem.dofs) ** 2

    def direction(self, point: Point) -> Array:
        return -solve_positive(self.hessian(point), point.gradient)

    def hessian(self, point: Point) -> Any:
        """Second derivatives of the cost."""
        problem, cones = self.problem, self.problem.rows.cones
        weight = np.where(point.state == QUADRATIC, problem.rows.D, 0.0)
        chosen, blocks = cone_hessians(cones, point.jar)
        form = dense_hessian if isinstance(problem.J, np.ndarray) else sparse_hessian
        return form(problem, weight, cones.rows[chosen], blocks)

    def finish(self, point: Point) -> None:
        """Write the Hessians of cones between their zones, each dim × dim, to `data.contact.H`."""
        cones, H = self.problem.rows.cones, self.data.contact.H
        chosen, blocks = cone_hessians(cones, point.jar)
        contacts, dims = cones.contact[chosen].tolist(), cones.dim[chosen].tolist()
        for contact, dim, block in zip(contacts, dims, blocks, strict=True):
            H[contact, : dim * dim] = block[:dim, :dim].ravel()

    def updates(self, old: Point, new: Point) -> int:
        quadratic = (old.state == QUADRATIC) != (new.state == QUADRATIC)
        return int(quadratic.sum() + (new.state == CONE).sum())


def dense_hessian(problem: Problem, weight: Array, cone_rows: Array, blocks: Array) -> Array:
    """M + Jᵀ·W·J from the rows that have weight."""
    J = problem.J
    active = np.flatnonzero(weight)
    part = J[active]
    H: Array = problem.M + (part.T * weight[active]) @ part
    if len(blocks):
        coned = J[cone_rows]  # (cone, row, dof)
        H += coned.reshape(-1, J.shape[1]).T @ (blocks @ coned).reshape(-1, J.shape[1])
    return H


def sparse_hessian(problem: Problem, weight: Array, cone_rows: Array, blocks: Array) -> Any:
    """M + Jᵀ·W·J as a sparse matrix."""
    from scipy.sparse import coo_array

    nefc, size = len(weight), cone_rows.shape[1]
    diagonal = np.arange(nefc)
    rows = np.concatenate([diagonal, np.repeat(cone_rows, size, axis=1).ravel()])
    columns = np.concatenate([diagonal, np.tile(cone_rows, size).ravel()])
    W = coo_array((np.concatenate([weight, blocks.ravel()]), (rows, columns)), shape=(nefc, nefc)).tocsr()
    return problem.M + problem.J.T @ (W @ problem.J)


def solve_positive(H: Any, x: Array) -> Array:
    """H⁻¹·x for a symmetric positive definite matrix, dense or sparse."""
    if isinstance(H, np.ndarray):
        from scipy.linalg.lapack import dposv

        _, solution, failed = dposv(H, x, lower=1)
        return solve_deficient(H, x) if failed else solution
    from scipy.sparse.linalg import splu

    return splu(
        H.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    ).solve(x)


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
