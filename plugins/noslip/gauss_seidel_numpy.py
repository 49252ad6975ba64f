"""No-slip: friction forces as if friction were hard, at the normal forces that the solver found.

Soft friction lets contacts creep. This pass sweeps over friction loss rows and over the friction of contacts like
PGS, but with A = J·M⁻¹·Jᵀ alone, without R, so that the relative acceleration itself is brought to what it aims at.
Normal forces stay: of an elliptic contact only the tangents move, of a pyramid the two edges of a pair exchange force
while their sum remains. It follows whichever solver ran. Compare mj_solNoSlip.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import ConstraintType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.solver.cost_numpy import SATISFIED
from dovetail.plugins.shared.solver.dual_numpy import (
    Dual,
    Visit,
    cost_change,
    dual_problem,
    finish,
    states,
    visits,
    whole_scale,
)
from dovetail.plugins.shared.solver.qcqp_numpy import minimise_in_ellipsoid
from dovetail.plugins.shared.solver.sparse_numpy import jacobian
from dovetail.plugins.shared.solver.statistics_numpy import Iteration, changes, record

PYRAMIDAL = int(ConstraintType.CONTACT_PYRAMIDAL)

SMALLEST = 1e-10
"""Least diagonal of A within a contact (extractBlock in engine_solver.c)."""


def noslip(model: ModelLike, data: DataLike) -> None:
    """Write efc_force, efc_state, qfrc_constraint and qacc anew; add to the solver's statistics."""
    nefc = data.nefc
    if not nefc:
        return
    dual = dual_problem(data)
    force = data.efc_force[:nefc].copy()
    order, scale = list_frictional(data, dual), whole_scale(model)
    state = states(dual.rows, force)
    iterations: list[Iteration] = []
    while len(iterations) < model.opt.noslip_iterations:
        # The first sweep also gains what regularisation cost.
        fallen = 0.0 if iterations else 0.5 * float(force @ (dual.rows.R * force))
        improvement = scale * (fallen + sweep(dual, force, order))
        state, old = states(dual.rows, force), state
        nactive = int((state != SATISFIED).sum())
        iterations.append(Iteration(improvement=improvement, nactive=nactive, nchange=changes(old, state)))
        if not improvement >= model.opt.noslip_tolerance:
            break
    data.efc_force[:nefc] = force
    data.efc_state[:nefc] = state
    finish(model, data, jacobian(model, data))
    record(data, -1, iterations)


def list_frictional(data: DataLike, dual: Dual) -> list[Visit]:
    """What is visited, in the order of rows: friction loss rows, pairs of pyramid edges, elliptic contacts."""
    rows = dual.rows
    dry = [Visit(row, 1, -1) for row in rows.dry.tolist()]
    edges = np.flatnonzero(data.efc_type[: data.nefc] == PYRAMIDAL)
    pairs = [Visit(row, 2, -1) for row in edges[::2].tolist()]
    cones = [visit for visit in visits(rows) if visit.cone >= 0]
    return dry + sorted([*pairs, *cones])


def sweep(dual: Dual, force: Array, order: list[Visit]) -> float:
    """Visit everything once, changing `force`; by how much the cost without regularisation fell."""
    fallen = 0.0
    for visit in order:
        if visit.cone >= 0:
            fallen -= visit_elliptic(dual, force, visit)
        elif visit.size == 2:
            fallen -= visit_edges(dual, force, visit.row)
        else:
            fallen -= visit_dry(dual, force, visit.row)
    return fallen


def residuals(dual: Dual, force: Array, row: int, size: int) -> Array:
    """Slope of the cost without regularisation with respect to the forces of `size` rows."""
    rows = slice(row, row + size)
    full = np.array([dual.residual(force, r) for r in range(row, row + size)])
    return full - dual.rows.R[rows] * force[rows]


def block_of(dual: Dual, row: int, size: int) -> Array:
    """A among `size` rows of a contact."""
    block = dual.block(row, size)
    at = np.arange(size)
    block[at, at] = np.maximum(SMALLEST, block[at, at] - dual.rows.R[row : row + size])
    return block


def visit_dry(dual: Dual, force: Array, row: int) -> float:
    """Move the force of a friction loss row; the change of cost."""
    curvature = max(MINVAL, float(dual.diagonal[row] - dual.rows.R[row]))
    residual = float(residuals(dual, force, row, 1)[0])
    old = float(force[row])
    force[row] = min(max(old - residual / curvature, dual.lower[row]), dual.upper[row])
    move = float(force[row]) - old
    return move * (residual + 0.5 * curvature * move)


def visit_edges(dual: Dual, force: Array, row: int) -> float:
    """Shift force between two opposite edges of a pyramid, their sum kept; the change of cost."""
    old = force[row : row + 2].copy()
    residual, block = residuals(dual, force, row, 2), block_of(dual, row, 2)
    mean = 0.5 * float(old.sum())
    curvature = float(block[0, 0] + block[1, 1] - block[0, 1] - block[1, 0])
    if curvature < MINVAL:
        shift = 0.0
    else:
        b = residual - block @ old
        slope = mean * float(block[0, 0] - block[1, 1]) + float(b[0] - b[1])  # at equal forces
        shift = min(max(-slope / curvature, -mean), mean)
    new = np.array([mean + shift, mean - shift])
    return accept(force, row, new, old, block, residual)


def visit_elliptic(dual: Dual, force: Array, visit: Visit) -> float:
    """Move the friction forces of an elliptic contact inside its ellipse; the change of cost."""
    row, size = visit.row + 1, visit.size - 1
    old = force[row : row + size].copy()
    residual, block = residuals(dual, force, row, size), block_of(dual, row, size)
    normal = float(force[visit.row])
    if normal < MINVAL:
        new = np.zeros(size)
    else:
        friction = dual.rows.cones.scale[visit.cone, 1 : visit.size]
        new = minimise_in_ellipsoid(block, residual - block @ old, friction, normal)
    return accept(force, row, new, old, block, residual)


def accept(force: Array, row: int, new: Array, old: Array, block: Array, residual: Array) -> float:
    """Take a move over unless it raises the cost; the change of cost."""
    change = cost_change(block, residual, new - old)
    force[row : row + len(new)] = old if change is None else new
    return change or 0.0
