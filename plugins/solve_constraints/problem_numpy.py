"""The problem that primal solvers solve: which acceleration is best, of all dofs or of one island.

With a₀ = qacc_smooth, the acceleration a under constraints minimises ½·(a − a₀)ᵀ·M·(a − a₀) + s(J·a − aref), where
s is the cost of the constraint rows (`cost_numpy`). The first term is Gauss' principle. Compare mj_solPrimal.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.solver.cost_numpy import CostRows, evaluate, rows_of
from dovetail.plugins.shared.solver.dual_numpy import whole_scale
from dovetail.plugins.shared.solver.sparse_numpy import (
    jacobian,
    joint_forces,
    mass_matrix,
    matrix,
    symmetric,
)


@attrs.frozen
class Settings:
    """When to stop: `<option>`'s tolerance, iterations, ls_tolerance, ls_iterations."""

    tolerance: float
    iterations: int
    ls_tolerance: float
    ls_iterations: int

    @classmethod
    def of(cls, model: ModelLike) -> Settings:
        opt = model.opt
        return cls(opt.tolerance, opt.iterations, opt.ls_tolerance, opt.ls_iterations)


@attrs.frozen(eq=False)
class Pattern:
    """Which entries of a matrix are stored, by row."""

    rownnz: Array
    rowadr: Array
    colind: Array


@attrs.frozen(eq=False)
class Problem:
    """Matrices and vectors of the minimisation, over dofs and rows in the order of an island or of the model."""

    M: Any
    J: Any
    rows: CostRows
    aref: Array
    qfrc_smooth: Array
    qacc_smooth: Array
    scale: float
    """What improvement and gradient are multiplied by before they are compared with the tolerance."""
    island: int
    """The island's number; -1: all dofs."""
    dofs: Array
    """The model's dofs that the problem's are, in its order."""
    efc: Array
    """The Data's constraint rows that the problem's are."""
    M_pattern: Pattern
    J_pattern: Pattern


@attrs.frozen(eq=False)
class Point:
    """An acceleration, and what the cost is like there."""

    qacc: Array
    Ma: Array
    jar: Array
    force: Array
    state: Array
    gauss: float
    """The first term of the cost."""
    cost: float
    gradient: Array
    qfrc_constraint: Array


def whole_problem(model: ModelLike, data: DataLike) -> Problem:
    """All dofs and rows together."""
    nefc = data.nefc
    J = Pattern(data.efc_J_rownnz[:nefc], data.efc_J_rowadr[:nefc], data.efc_J_colind)
    return Problem(
        M=mass_matrix(model, data),
        J=jacobian(model, data),
        rows=rows_of(data),
        aref=data.efc_aref[:nefc],
        qfrc_smooth=data.qfrc_smooth,
        qacc_smooth=data.qacc_smooth,
        scale=whole_scale(model),
        island=-1,
        dofs=np.arange(model.nv),
        efc=np.arange(nefc),
        M_pattern=Pattern(model.M_rownnz, model.M_rowadr, model.M_colind),
        J_pattern=J,
    )


def island_places(data: DataLike, island: int) -> tuple[slice, slice]:
    """Where the dofs and the rows of an island stand in the arrays sorted by island."""
    first, nv = int(data.island_idofadr[island]), int(data.island_nv[island])
    top, nefc = int(data.island_iefcadr[island]), int(data.island_nefc[island])
    return slice(first, first + nv), slice(top, top + nefc)


def island_patterns(data: DataLike, island: int) -> tuple[Pattern, Pattern]:
    """The patterns of an island's mass matrix and Jacobian."""
    dof, row = island_places(data, island)
    return (
        Pattern(data.iM_rownnz[dof], data.iM_rowadr[dof], data.iM_colind),
        Pattern(data.iefc_J_rownnz[row], data.iefc_J_rowadr[row], data.iefc_J_colind),
    )


def island_problem(data: DataLike, island: int) -> Problem:
    """The dofs and rows of one island, from the arrays sorted by island."""
    dof, row = island_places(data, island)
    dofs, efc = data.map_idof2dof[dof], data.map_iefc2efc[row]
    M, J = island_patterns(data, island)
    return Problem(
        M=symmetric(M.rownnz, M.rowadr, M.colind, data.iM),
        J=matrix(J.rownnz, J.rowadr, J.colind, data.iefc_J, len(dofs)),
        rows=rows_of(data, efc),
        aref=data.efc_aref[efc],
        qfrc_smooth=data.qfrc_smooth[dofs],
        qacc_smooth=data.qacc_smooth[dofs],
        scale=island_scale(M, data.iM),
        island=island,
        dofs=dofs,
        efc=efc,
        M_pattern=M,
        J_pattern=J,
    )


def only_island(data: DataLike, whole: Problem) -> Problem:
    """The whole problem as that of the one island which has every dof; sorting changes no order there."""
    return attrs.evolve(whole, island=0, scale=island_scale(whole.M_pattern, data.M))


def island_scale(pattern: Pattern, M: Array) -> float:
    """One over the sum of the diagonal of an island's mass matrix."""
    total = float(M[pattern.rowadr + pattern.rownnz - 1].sum())
    return 1.0 / total if total else math.inf


def point_at(problem: Problem, qacc: Array, Ma: Array, jar: Array) -> Point:
    """Cost and gradient at an acceleration whose M·qacc and J·qacc − aref are known."""
    force, state, cost = evaluate(problem.rows, jar)
    excess = Ma - problem.qfrc_smooth
    gauss = 0.5 * float(excess @ (qacc - problem.qacc_smooth))
    qfrc_constraint = joint_forces(problem.J, force)
    return Point(
        qacc=qacc,
        Ma=Ma,
        jar=jar,
        force=force,
        state=state,
        gauss=gauss,
        cost=cost + gauss,
        gradient=excess - qfrc_constraint,
        qfrc_constraint=qfrc_constraint,
    )


def starting_acceleration(model: ModelLike, data: DataLike, problem: Problem) -> Array:
    """Last step's acceleration, or the smooth one if that costs less; the smooth one where no constraint acts.
    Last step's if it is not finite: that shows in the answer. `problem` is the whole one. Compare warmstart in
    engine_forward.c."""
    if model.opt.disableflags & DisableBit.WARMSTART:
        return data.qacc_smooth.copy()
    last = data.qacc_warmstart
    excess = problem.M @ last - data.qfrc_smooth
    cost = evaluate(problem.rows, problem.J @ last - problem.aref)[2] + 0.5 * excess @ (
        last - data.qacc_smooth
    )
    smooth_cost = evaluate(problem.rows, data.efc_b[: data.nefc])[2]
    warm = not cost > smooth_cost or not np.isfinite(last).all()  # a cost of NaN is not less
    start = last.copy() if warm else data.qacc_smooth.copy()
    if data.nisland:
        free = data.map_idof2dof[data.nidof : model.nv]
        start[free] = data.qacc_smooth[free]
    return start
