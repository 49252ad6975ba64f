"""What solvers share that look for forces instead of accelerations: PGS, sequential projection, no-slip.

Forces f minimise ½·fᵀ·(A + R)·f + fᵀ·b over the forces that constraints can exert, with A = J·M⁻¹·Jᵀ the inverse
inertia that rows feel and b = J·qacc_smooth − aref. `efc_AR` holds A + R by row: an entry for each pair of rows that
move a common kinematic tree. Compare mj_projectConstraint, and dualFinish and dualState in engine_solver.c.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import attrs
import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.ldl_numpy import solve
from dovetail.plugins.shared.solver.cost_numpy import (
    CONE,
    LARGEST_DIM,
    LINEARNEG,
    LINEARPOS,
    QUADRATIC,
    SATISFIED,
    CostRows,
    evaluate,
    rows_of,
)
from dovetail.plugins.shared.solver.sparse_numpy import entries, inverse_mass, jacobian, joint_forces
from dovetail.plugins.shared.solver.statistics_numpy import Iteration, changes, record
from dovetail.plugins.shared.sparse_rows_numpy import ranges

# ---- the matrix


def write_dual_matrix(model: ModelLike, data: DataLike, J: Any) -> None:
    """Write efc_AR, its structure and nA. `J` is the Jacobian of all rows."""
    nefc = data.nefc
    count, column = rows_with_common_trees(model, data)
    row = np.repeat(np.arange(nefc), count)
    A = J @ inverse_mass(model, data) @ J.T
    values = A[row, column] if isinstance(A, np.ndarray) else _stored(A, row, column)
    values[row == column] += data.efc_R[:nefc]
    data.reserve(nA_max=len(values))
    data.nA = len(values)
    data.efc_AR_rownnz[:nefc] = count
    data.efc_AR_rowadr[:nefc] = np.cumsum(count) - count
    data.efc_AR_colind[: len(values)] = column
    data.efc_AR[: len(values)] = values


def rows_with_common_trees(model: ModelLike, data: DataLike) -> tuple[Array, Array]:
    """For each row, how many rows move a tree that it moves too, and which, in ascending order."""
    from scipy.sparse import csr_array

    nefc = data.nefc
    row, at = entries(data.efc_J_rownnz[:nefc], data.efc_J_rowadr[:nefc])
    tree = model.dof_treeid[data.efc_J_colind[at]]
    moves = csr_array((np.ones(len(row)), (row, tree)), shape=(nefc, model.ntree))
    common = (moves @ moves.T).tocsr()
    common.sort_indices()
    return np.diff(common.indptr), common.indices


def _stored(A: Any, row: Array, column: Array) -> Array:
    """Entries of a sparse matrix at places in ascending order; zero where it stores none."""
    A = A.tocsr()
    A.sort_indices()
    width = A.shape[1]
    have = np.repeat(np.arange(A.shape[0], dtype=np.int64), np.diff(A.indptr)) * width + A.indices
    want = row.astype(np.int64) * width + column
    place = np.minimum(np.searchsorted(have, want), len(have) - 1)
    return np.where(have[place] == want, A.data[place], 0.0)


# ---- the problem


@attrs.frozen(eq=False)
class Dual:
    """The problem in terms of forces."""

    rows: CostRows
    b: Array
    columns: list[Array]
    """Rows that each row feels."""
    values: list[Array]
    """Entries of A + R in those columns."""
    diagonal: Array
    """Of A + R."""
    lower: Array
    upper: Array
    """Bounds of each row's force; for the rows of elliptic contacts none."""

    def residual(self, force: Array, row: int) -> float:
        """Slope of the cost with respect to one row's force."""
        return float(self.b[row] + (self.values[row] * force[self.columns[row]]).sum())

    def block(self, row: int, size: int) -> Array:
        """A + R among `size` rows of one contact, which all feel the same rows."""
        first = int(np.searchsorted(self.columns[row], row))
        return np.stack([self.values[row + k][first : first + size] for k in range(size)])


def dual_problem(data: DataLike) -> Dual:
    """The problem of a Data whose efc_AR and efc_b are written."""
    nefc = data.nefc
    rows = rows_of(data)
    first, end = data.efc_AR_rowadr[:nefc], data.efc_AR_rowadr[:nefc] + data.efc_AR_rownnz[:nefc]
    stretches = [slice(*ends) for ends in zip(first.tolist(), end.tolist(), strict=True)]
    column, value = data.efc_AR_colind[: data.nA], data.efc_AR[: data.nA]
    columns, values = [column[s] for s in stretches], [value[s] for s in stretches]
    diagonal = value[column == np.repeat(np.arange(nefc), end - first)]
    lower, upper = np.full(nefc, -np.inf), np.full(nefc, np.inf)
    lower[rows.one_sided] = 0.0
    lower[rows.dry], upper[rows.dry] = -rows.frictionloss[rows.dry], rows.frictionloss[rows.dry]
    return Dual(rows, data.efc_b[:nefc].copy(), columns, values, diagonal, lower, upper)


def begin(model: ModelLike, data: DataLike, J: Any) -> Dual:
    """Write efc_b and efc_AR; the problem to solve."""
    nefc = data.nefc
    data.efc_b[:nefc] = J @ data.qacc_smooth - data.efc_aref[:nefc]
    write_dual_matrix(model, data, J)
    return dual_problem(data)


def starting_forces(model: ModelLike, data: DataLike, dual: Dual, J: Any) -> Array:
    """The forces that last step's acceleration would give, or none if those cost more. An acceleration that is not
    finite gives such forces: that shows in the answer."""
    nothing = np.zeros(data.nefc)
    if model.opt.disableflags & DisableBit.WARMSTART:
        return nothing
    force = evaluate(dual.rows, J @ data.qacc_warmstart - data.efc_aref[: data.nefc])[0]
    row = np.repeat(np.arange(data.nefc), data.efc_AR_rownnz[: data.nefc])
    felt = data.efc_AR[: data.nA] * force[data.efc_AR_colind[: data.nA]]
    slope = np.bincount(row, felt, minlength=data.nefc)
    warm = force @ dual.b + 0.5 * force @ slope <= 0.0 or not np.isfinite(data.qacc_warmstart).all()
    return force if warm else nothing


def whole_scale(model: ModelLike) -> float:
    """What improvement is multiplied by before it is compared with the tolerance: 1 / total inertia of the model at
    its reference pose."""
    total = float(model.stat.meaninertia) * max(1, model.nv)
    return 1.0 / total if total else math.inf  # a model may say that its inertia is zero


def finish(model: ModelLike, data: DataLike, J: Any) -> None:
    """Write qfrc_constraint and qacc from the forces of the rows."""
    data.qfrc_constraint[:] = joint_forces(J, data.efc_force[: data.nefc])
    data.qacc[:] = data.qacc_smooth + solve(model, data.qLD, data.qLDiagInv, data.qfrc_constraint)


def states(rows: CostRows, force: Array) -> Array:
    """States of rows told from their forces. Elliptic contacts that hold (force inside the cone) or do not touch
    count as satisfied, those that slip as cones; so it is in dualState."""
    state = np.where(rows.one_sided & ~(force > 0.0), SATISFIED, QUADRATIC)
    dry = rows.dry
    loss = rows.frictionloss[dry]
    slipping = np.where(force[dry] >= loss, LINEARNEG, QUADRATIC)
    state[dry] = np.where(force[dry] <= -loss, LINEARPOS, slipping)
    cones = rows.cones
    if len(cones):
        scaled = np.divide(force[cones.rows], cones.scale, where=cones.real, out=np.zeros(cones.scale.shape))
        N, T = scaled[:, 0], np.linalg.norm(scaled[:, 1:], axis=1)
        zone = np.where(cones.mu * N >= T, SATISFIED, np.where(N + cones.mu * T <= 0.0, QUADRATIC, CONE))
        state[cones.rows[cones.real]] = np.broadcast_to(zone[:, None], cones.real.shape)[cones.real]
    return state


def dual_entries(model: ModelLike, data: DataLike) -> int:
    """Entries of efc_AR as MuJoCo stores it, for solver_nnz: all of them where its Jacobian is dense."""
    return int(data.nA) if is_sparse(model) else int(data.nefc) ** 2


# ---- sweeping over rows and contacts


class Visit(NamedTuple):
    """A row, or the rows of an elliptic contact, whose forces are improved together."""

    row: int
    size: int
    cone: int
    """Which cone; -1: a single row."""


def visits(rows: CostRows) -> list[Visit]:
    """Every row and elliptic contact, in the order of rows."""
    cones = rows.cones
    coned = np.zeros(len(rows), bool)
    coned[cones.rows[cones.real]] = True
    single = [Visit(row, 1, -1) for row in np.flatnonzero(~coned).tolist()]
    several = [
        Visit(row, size, cone)
        for cone, (row, size) in enumerate(zip(cones.rows[:, 0].tolist(), cones.dim.tolist(), strict=True))
    ]
    return sorted([*single, *several])


@attrs.frozen(eq=False)
class Wave:
    """Single rows, or elliptic contacts of one size, that do not feel each other: their forces are improved
    together."""

    visits: list[Visit]
    rows: Array
    """(n, size)."""
    columns: Array
    """Rows that they feel, one row's after the other's."""
    values: Array
    """Entries of A + R in those columns."""
    start: Array
    """Where each row's begin."""
    blocks: Array
    """A + R among the rows of each visit (n, size, size)."""

    def residuals(self, dual: Dual, force: Array) -> Array:
        """Slopes of the cost with respect to the forces of the rows (n, size)."""
        felt: Array = np.add.reduceat(self.values * force[self.columns], self.start)
        return dual.b[self.rows] + felt.reshape(self.rows.shape)


Order: TypeAlias = list[Visit | Wave]

CROWD = 16
"""Visits in a wave, on average, from which waves are quicker than one by one."""


def in_waves(dual: Dual, order: list[Visit]) -> Order:
    """The same visits, sorted: first the first of every group of rows that feel each other, then the second ones, and
    so on, which make waves. Groups do not feel each other, so that all forces come out the same. Where waves would be
    small, the order stays."""
    if len(order) < CROWD * max(map(len, dual.columns)) / LARGEST_DIM:  # what a row feels is in its group
        return list(order)
    matrix = flat_matrix(dual)
    row, size, cone = np.array(order).T
    group = groups(matrix)[row]
    members = np.bincount(group)
    if len(order) < CROWD * members.max():
        return list(order)
    turn = np.empty(len(order), int)
    turn[np.argsort(group, kind="stable")] = ranges(0, members)
    kind = (turn * (LARGEST_DIM + 1) + size) * 2 + (cone >= 0)
    return [wave_of(matrix, order, np.flatnonzero(kind == now)) for now in np.unique(kind).tolist()]


def flat_matrix(dual: Dual) -> tuple[Array, Array, Array]:
    """Where the entries of each row of A + R begin and the last one's end, their columns, and their values."""
    starts = np.cumsum([0, *map(len, dual.columns)])
    return starts, np.concatenate(dual.columns), np.concatenate(dual.values)


def groups(matrix: tuple[Array, Array, Array]) -> Array:
    """The number of the group of each row: rows that feel each other, directly or through others."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    starts, columns, _ = matrix
    pattern = csr_array((np.ones(len(columns)), columns, starts), shape=(len(starts) - 1,) * 2)
    number: Array = connected_components(pattern, directed=False)[1]
    return number


def wave_of(matrix: tuple[Array, Array, Array], order: list[Visit], chosen: Array) -> Wave:
    """A wave of the chosen visits, which have one size."""
    starts, columns, values = matrix
    visits = [order[place] for place in chosen.tolist()]
    size = visits[0].size
    rows = np.array([visit.row for visit in visits])[:, None] + np.arange(size)
    width = np.diff(starts)[rows.ravel()]
    at = ranges(starts[rows.ravel()], width)
    # the rows of a contact all feel the same rows, their own among them
    own = columns[at] - np.repeat(np.repeat(rows[:, 0], size), width)
    blocks = values[at][(own >= 0) & (own < size)].reshape(-1, size, size)
    return Wave(visits, rows, columns[at], values[at], np.cumsum(width) - width, blocks)


Sweep: TypeAlias = Callable[[Dual, Array, Order], float]


def gauss_seidel(model: ModelLike, data: DataLike, sweep: Sweep) -> None:
    """Sweep until one gains less than the tolerance; write qacc, forces, states, efc_AR, efc_b, statistics."""
    data.qfrc_constraint[:] = 0.0
    data.solver_niter[:] = 0
    nefc = data.nefc
    if not nefc:
        data.qacc[:] = data.qacc_smooth
        return
    J = jacobian(model, data)
    dual = begin(model, data, J)
    force = starting_forces(model, data, dual, J)
    order, scale = in_waves(dual, visits(dual.rows)), whole_scale(model)
    state = states(dual.rows, force)
    iterations: list[Iteration] = []
    while len(iterations) < model.opt.iterations:
        improvement = scale * sweep(dual, force, order)
        state, old = states(dual.rows, force), state
        nactive = int((state != SATISFIED).sum())
        iterations.append(Iteration(improvement=improvement, nactive=nactive, nchange=changes(old, state)))
        if not improvement >= model.opt.tolerance:
            break
    data.efc_force[:nefc] = force
    data.efc_state[:nefc] = state
    finish(model, data, J)
    record(data, -1, iterations, dual_entries(model, data))


WORSE = 1e-10
"""A move that raises the cost by more than this is taken back (costChange in engine_solver.c)."""


def cost_change(block: Array, residual: Array, move: Array) -> float | None:
    """By how much a move changes the cost; None if it would rise."""
    change = float(move @ (residual + 0.5 * block @ move))
    return None if change > WORSE else change
