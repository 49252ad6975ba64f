"""Sequential projection: Gauss-Seidel whose contacts take a plain step and are then put back into their cone.

An alternative to PGS for elliptic contacts. All rows of a contact step to where each would be best alone; then the
normal force is made non-negative and the friction forces, if too large for it, are shortened in their own direction
until Σ(f_j/friction_j)² = f₀². That is cheaper than MuJoCo's two moves (`pgs_numpy`) but does not minimise the same
cost. Contacts that hold get the same forces. One that slips keeps the normal force it would have without slip, as
Coulomb's law has it, whereas the minimum raises it; and where the rows of a contact influence each other, friction
is shortened in the direction it happens to have. Scalar rows, frictionless and pyramidal contacts and the warm start
are as in PGS. A sweep is the last if the largest change of a force, scaled by inertia, is below the tolerance; that
is also what `data.solver.improvement` holds.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.solver.dual_numpy import Dual, Order, Visit, Wave, gauss_seidel
from dovetail.plugins.solve_constraints.pgs_numpy import visit_scalar, visit_scalars

NO_FRICTION = 1e-12
"""Friction coefficients below this exert nothing."""


def solve_constraints(model: ModelLike, data: DataLike) -> None:
    """Write qacc, the constraint forces and states, efc_AR, efc_b and statistics."""
    gauss_seidel(model, data, sweep)


def sweep(dual: Dual, force: Array, order: Order) -> float:
    """Visit every row and contact once, changing `force`; the largest change of a force."""
    before = force.copy()
    for visit in order:
        if isinstance(visit, Wave):
            visit_wave(dual, force, visit)
        elif visit.cone < 0:
            visit_scalar(dual, force, visit.row)
        else:
            visit_elliptic(dual, force, visit)
    return float(np.abs(force - before).max())


def visit_wave(dual: Dual, force: Array, wave: Wave) -> None:
    """Rows that do not feel each other, all at once; contacts one by one."""
    if wave.visits[0].cone < 0:
        visit_scalars(dual, force, wave)
        return
    for visit in wave.visits:
        visit_elliptic(dual, force, visit)


def visit_elliptic(dual: Dual, force: Array, visit: Visit) -> None:
    """A step of every row of an elliptic contact, then the projection."""
    rows = slice(visit.row, visit.row + visit.size)
    residual = np.array([dual.residual(force, row) for row in range(rows.start, rows.stop)])
    friction = dual.rows.cones.scale[visit.cone, 1 : visit.size]
    force[rows] = project(force[rows] - residual / dual.diagonal[rows], friction)


def project(force: Array, friction: Array) -> Array:
    """The force with its normal made non-negative and its tangents shortened to the cone."""
    normal = max(0.0, float(force[0]))
    tangent = np.where(friction > NO_FRICTION, force[1:], 0.0)
    length = float(np.linalg.norm(tangent / np.maximum(friction, NO_FRICTION)))
    return np.concatenate([[normal], tangent * min(1.0, normal / length) if length else tangent])
