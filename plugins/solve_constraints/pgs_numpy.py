"""Projected Gauss-Seidel: minimise over the force of one row after another, the others held, sweep by sweep.

A scalar row moves to its own minimum and is clipped to what it can exert. An elliptic contact makes two moves: along
the ray of its present force (or, if it has none, by its normal alone), then over the friction forces inside the
ellipse that the normal force allows. So a contact without force stays without if its normal alone would not gain,
even where normal and friction together would; MuJoCo's does too. Islands are not told apart, but for single rows that
do not feel each other, which move together. Compare mj_solPGS.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.solver.dual_numpy import Dual, Order, Visit, Wave, cost_change, gauss_seidel
from dovetail.plugins.shared.solver.qcqp_numpy import minimise_in_ellipsoid


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
    """Move the forces of rows that do not feel each other, each as if alone; the change of cost."""
    residual, curvature = wave.residuals(dual, force), dual.diagonal[wave.rows]
    old = force[wave.rows]
    new = np.clip(old - residual / curvature, dual.lower[wave.rows], dual.upper[wave.rows])
    force[wave.rows] = new
    return float(((new - old) * (residual + 0.5 * curvature * (new - old))).sum())


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
