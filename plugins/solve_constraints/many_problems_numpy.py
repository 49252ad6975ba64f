"""The problems of many islands side by side, in one set of arrays.

A cloth on a floor is hundreds of islands of three dofs each, and array operations on three numbers take as long as
those on a thousand. So rows and dofs of all islands stand one after the other, M and J are block-diagonal, and what
is a number in the problem of one island (`problem_numpy`: a cost, a norm, a scale) is an array with an entry per
island, summed over the island's own rows or dofs. Compare mj_solPrimal, which MuJoCo runs island by island.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike
from dovetail.plugins.shared.solver.cost_numpy import CostRows, evaluate_each, rows_of
from dovetail.plugins.shared.solver.sparse_numpy import entries, joint_forces, sparse_matrix, sparse_symmetric
from dovetail.plugins.shared.sparse_rows_numpy import ranges
from dovetail.plugins.solve_constraints.problem_numpy import Pattern


@attrs.frozen(eq=False)
class Members:
    """Which of `count` islands each of n things (dofs, rows) belongs to; those of an island follow one another, and
    each has at least one."""

    owner: Array
    start: Array
    """First of each island."""

    @classmethod
    def of(cls, sizes: Array) -> Members:
        return cls(np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes) - sizes)

    def sums(self, values: Array) -> Array:
        """Sums over each island of values (…, n)."""
        return np.add.reduceat(values, self.start, axis=-1)

    def norms(self, values: Array) -> Array:
        return np.sqrt(self.sums(values * values))


@attrs.frozen(eq=False)
class Problems:
    """Matrices and vectors of the minimisations, over dofs and rows in the order of islands. See `Problem`."""

    islands: Array
    of_dofs: Members
    of_rows: Members
    M: Any
    """Sparse, as J: in a dense product numbers that one island has lost would spread to all."""
    J: Any
    rows: CostRows
    aref: Array
    qfrc_smooth: Array
    qacc_smooth: Array
    scale: Array
    """One number per island."""
    dofs: Array
    efc: Array
    idof: Array
    """Places of the dofs in the arrays sorted by island."""
    iefc: Array
    """Places of the rows there."""

    def __len__(self) -> int:
        return len(self.islands)


@attrs.frozen(eq=False)
class Points:
    """An acceleration for each island, and what its cost is like there. See `Point`."""

    qacc: Array
    Ma: Array
    jar: Array
    force: Array
    state: Array
    gauss: Array
    """One number per island, as `cost`."""
    cost: Array
    gradient: Array
    qfrc_constraint: Array


def many_problems(data: DataLike, islands: Array) -> Problems:
    """The problems of some islands, from the arrays sorted by island."""
    nv, nefc = data.island_nv[islands], data.island_nefc[islands]
    of_dofs, of_rows = Members.of(nv), Members.of(nefc)
    idof, iefc = ranges(data.island_idofadr[islands], nv), ranges(data.island_iefcadr[islands], nefc)
    dofs, efc = data.map_idof2dof[idof], data.map_iefc2efc[iefc]
    M = side_by_side(
        Pattern(data.iM_rownnz[idof], data.iM_rowadr[idof], data.iM_colind), data.iM, of_dofs, of_dofs
    )
    J = side_by_side(
        Pattern(data.iefc_J_rownnz[iefc], data.iefc_J_rowadr[iefc], data.iefc_J_colind),
        data.iefc_J,
        of_rows,
        of_dofs,
    )
    diagonal = data.iM[data.iM_rowadr[idof] + data.iM_rownnz[idof] - 1]
    return Problems(
        islands=islands,
        of_dofs=of_dofs,
        of_rows=of_rows,
        M=sparse_symmetric(*M),
        J=sparse_matrix(*J, len(dofs)),
        rows=rows_of(data, efc),
        aref=data.efc_aref[efc],
        qfrc_smooth=data.qfrc_smooth[dofs],
        qacc_smooth=data.qacc_smooth[dofs],
        scale=1.0 / of_dofs.sums(diagonal),
        dofs=dofs,
        efc=efc,
        idof=idof,
        iefc=iefc,
    )


def side_by_side(
    pattern: Pattern, values: Array, of_rows: Members, of_columns: Members
) -> tuple[Array, Array, Array, Array]:
    """The blocks of islands as one block-diagonal matrix (rownnz, rowadr, colind, values): columns, which are counted
    from the first of an island, are moved to where it stands."""
    row, at = entries(pattern.rownnz, pattern.rowadr)
    column = pattern.colind[at] + of_columns.start[of_rows.owner[row]]
    return pattern.rownnz, np.cumsum(pattern.rownnz) - pattern.rownnz, column, values[at]


def points_at(problems: Problems, qacc: Array, Ma: Array, jar: Array) -> Points:
    """Costs and gradients at accelerations whose M·qacc and J·qacc − aref are known."""
    force, state, cost = evaluate_each(problems.rows, jar, problems.of_rows.owner, len(problems))
    excess = Ma - problems.qfrc_smooth
    gauss = 0.5 * problems.of_dofs.sums(excess * (qacc - problems.qacc_smooth))
    qfrc_constraint = joint_forces(problems.J, force)
    return Points(
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


def write_points(data: DataLike, problems: Problems, points: Points) -> None:
    """Put answers in their places, and in the arrays sorted by island."""
    data.qacc[problems.dofs] = points.qacc
    data.qfrc_constraint[problems.dofs] = points.qfrc_constraint
    data.efc_force[problems.efc] = points.force
    data.efc_state[problems.efc] = points.state
    data.iacc[problems.idof] = points.qacc
    data.iacc_smooth[problems.idof] = problems.qacc_smooth
    data.ifrc_smooth[problems.idof] = problems.qfrc_smooth
    data.ifrc_constraint[problems.idof] = points.qfrc_constraint
    data.iefc_aref[problems.iefc] = problems.aref
    data.iefc_force[problems.iefc] = points.force
    data.iefc_state[problems.iefc] = points.state
