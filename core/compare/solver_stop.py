"""Whether two answers of iterative solvers differ only by where each stopped.

The cost that a constraint solver minimises rises at least by ½ dᵀMd at a distance d of accelerations from its
minimum. Two answers whose distance costs less than the solver's tolerance, in the solver's own scale (1 over mean
inertia and number of dofs, as in mj_solPrimal), cannot be told apart by it. That holds for answers that are
consistent: forces that do not belong to their acceleration are a mistake, however near the acceleration is.
"""

from __future__ import annotations

import numpy as np

from dovetail.compare.errors import FLOOR
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.simulation import full_mass_matrix

SOLVERS = ("solve_constraints", "noslip")
"""Stages that iterate until a tolerance is met."""


def stopped_elsewhere(model: Model, a: Data, b: Data) -> bool:
    """Whether two answers are the same as far as the solver's tolerance tells."""
    return all(_same(model, one, other) for one, other in zip(a.worlds(), b.worlds(), strict=True))


def _same(model: Model, a: Data, b: Data) -> bool:
    scale = 1.0 / (max(float(model.stat.meaninertia), 1e-15) * max(1, model.nv))
    mass = full_mass_matrix(model, a)
    distance = _real(a, "qacc") - _real(b, "qacc")
    if not np.isfinite(distance).all():
        return False
    tolerance = float(model.opt.tolerance)
    return (
        0.5 * scale * float(distance @ mass @ distance) <= tolerance
        and 0.5 * scale * _cost_of_force(mass, force_left(mass, b)) <= tolerance
        and row_forces_fit(b)
    )


def _cost_of_force(mass: Array, force: Array) -> float:
    return float(force @ np.linalg.solve(mass, force)) if force.size else 0.0


def force_left(mass: Array, data: Data) -> Array:
    """What is left between the force of constraints and the acceleration it should make (zero at the minimum)."""
    return mass @ (_real(data, "qacc") - _real(data, "qacc_smooth")) - _real(data, "qfrc_constraint")


def row_forces_fit(data: Data) -> bool:
    """Whether the forces of rows add up to the force of constraints: Jᵀf, up to rounding of what is summed."""
    total = _real(data, "qfrc_constraint")
    summed, size = np.zeros_like(total), np.zeros_like(total)
    force, count = _real(data, "efc_force"), int(data.field("nefc"))
    lengths, starts = (np.asarray(data.field(f"efc_J_{name}")) for name in ("rownnz", "rowadr"))
    columns, entries = np.asarray(data.field("efc_J_colind")), _real(data, "efc_J")
    for row in range(count):
        here = slice(int(starts[row]), int(starts[row] + lengths[row]))
        np.add.at(summed, columns[here], entries[here] * force[row])
        np.add.at(size, columns[here], np.abs(entries[here] * force[row]))
    single = data.precision == "f32"
    rounding = (1e-3 if single else 1e-8) * np.maximum(size, FLOOR)
    return bool(np.all(np.abs(summed - total) <= rounding))


def _real(data: Data, name: str) -> Array:
    return np.asarray(data.field(name), np.float64)
