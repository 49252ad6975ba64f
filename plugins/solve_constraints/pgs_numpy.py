"""Projected Gauss-Seidel: minimise over the force of one row after another, the others held, sweep by sweep.

A scalar row moves to its own minimum and is clipped to what it can exert. An elliptic contact makes two moves: along
the ray of its present force (or, if it has none, by its normal alone), then over the friction forces inside the
ellipse that the normal force allows. So a contact without force stays without if its normal alone would not gain,
even where normal and friction together would; MuJoCo's does too. Islands are not told apart, but rows and contacts
that do not feel each other move together. Compare mj_solPGS.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.solver.dual_numpy import (
    WORSE,
    Dual,
    Order,
    Visit,
    Wave,
    cost_change,
    gauss_seidel,
)
from dovetail.plugins.shared.solver.qcqp_numpy import minimise_in_ellipsoid, minimise_in_ellipsoid_rows
from dovetail.plugins.shared.vectors_numpy import apply_rows, dot_rows


def solve_constraints(model: ModelLike, data: DataLike) -> None:
    """Write qacc, the constraint forces and states, efc_AR, efc_b and statistics."""
    gauss_seidel(model, data, sweep)


def sweep(dual: Dual, force: Array, order: Order) -> float:
    """Visit every row and contact once, changing `force`; by how much the cost fell."""
    fallen = 0.0
    for visit in order:
        if isinstance(visit, Wave):
            fallen -= visit_wave(dual, force, visit)
        elif visit.cone < 0:
            fallen -= visit_scalar(dual, force, visit.row)
        else:
            fallen -= visit_elliptic(dual, force, visit)
    return fallen


def visit_scalar(dual: Dual, force: Array, row: int) -> float:
    """Move one row's force to its best within its bounds; the change of cost."""
    residual = dual.residual(force, row)
    old, curvature = float(force[row]), float(dual.diagonal[row])
    new = min(max(old - residual / curvature, dual.lower[row]), dual.upper[row])
    force[row] = new
    return (new - old) * (residual + 0.5 * curvature * (new - old))


def visit_wave(dual: Dual, force: Array, wave: Wave) -> float:
    """Move the forces of a wave, each visit's as if it were alone; the change of cost."""
    if wave.visits[0].cone < 0:
        return visit_scalars(dual, force, wave)
    return visit_cones(dual, force, wave)


def visit_scalars(dual: Dual, force: Array, wave: Wave) -> float:
    """What `visit_scalar` does, for many rows."""
    rows = wave.rows[:, 0]
    residual, curvature = wave.residuals(dual, force)[:, 0], dual.diagonal[rows]
    old = force[rows]
    new = np.clip(old - residual / curvature, dual.lower[rows], dual.upper[rows])
    force[rows] = new
    return float(((new - old) * (residual + 0.5 * curvature * (new - old))).sum())


def visit_cones(dual: Dual, force: Array, wave: Wave) -> float:
    """What `visit_elliptic` does, for many contacts of one size."""
    residual, old, block = wave.residuals(dual, force), force[wave.rows], wave.blocks
    cone = [visit.cone for visit in wave.visits]
    friction = dual.rows.cones.scale[cone, 1 : wave.rows.shape[1]]
    new = ray_moves(block, residual, old)
    new[:, 1:] = friction_moves(block, residual, old, new[:, 0], friction)
    move = new - old
    change = dot_rows(move, residual + 0.5 * apply_rows(block, move))
    worse = change > WORSE
    force[wave.rows] = np.where(worse[:, None], old, new)
    return float(np.where(worse, 0.0, change).sum())


def visit_elliptic(dual: Dual, force: Array, visit: Visit) -> float:
    """Move the forces of an elliptic contact; the change of cost."""
    rows = slice(visit.row, visit.row + visit.size)
    residual = np.array([dual.residual(force, row) for row in range(rows.start, rows.stop)])
    block = dual.block(visit.row, visit.size)
    old = force[rows].copy()
    new = ray_move(block, residual, old)
    friction = dual.rows.cones.scale[visit.cone, 1 : visit.size]
    new[1:] = friction_move(block, residual, old, new[0], friction)
    change = cost_change(block, residual, new - old)
    force[rows] = new if change is not None else old
    return change or 0.0


def ray_move(block: Array, residual: Array, old: Array) -> Array:
    """The best multiple of the present force, or the best normal force if there is none."""
    if old[0] < MINVAL:
        new = np.zeros_like(old)
        new[0] = max(0.0, old[0] - residual[0] / block[0, 0])
        return new
    curvature = float(old @ block @ old)
    if curvature < MINVAL:
        return old.copy()
    return old * (1.0 + max(-1.0, -float(old @ residual) / curvature))


def friction_move(block: Array, residual: Array, old: Array, normal: float, friction: Array) -> Array:
    """The best friction forces at the given normal force."""
    if normal < MINVAL:
        return np.zeros(len(old) - 1)
    A = block[1:, 1:]
    b = residual[1:] - A @ old[1:] + block[1:, 0] * (normal - old[0])
    return minimise_in_ellipsoid(A, b, friction, normal)


def ray_moves(block: Array, residual: Array, old: Array) -> Array:
    """What `ray_move` does, for many contacts (n, size)."""
    none = old[:, 0] < MINVAL
    normal = np.zeros_like(old)
    normal[:, 0] = np.maximum(0.0, old[:, 0] - residual[:, 0] / block[:, 0, 0])
    curvature = dot_rows(old, apply_rows(block, old))
    flat = curvature < MINVAL
    stretch = np.maximum(-1.0, -dot_rows(old, residual) / np.where(flat, 1.0, curvature))
    along_ray = old * (1.0 + np.where(flat, 0.0, stretch))[:, None]
    return np.where(none[:, None], normal, along_ray)


def friction_moves(block: Array, residual: Array, old: Array, normal: Array, friction: Array) -> Array:
    """What `friction_move` does, for many contacts."""
    A = block[:, 1:, 1:]
    b = residual[:, 1:] - apply_rows(A, old[:, 1:]) + block[:, 1:, 0] * (normal - old[:, 0])[:, None]
    some = ~(normal < MINVAL)
    moves = np.zeros_like(b)
    moves[some] = minimise_in_ellipsoid_rows(A[some], b[some], friction[some], normal[some])
    return moves
