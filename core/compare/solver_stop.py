"""Whether two answers of iterative solvers differ only by where each stopped.

The cost that a constraint solver minimises rises at least by ½ dᵀMd at a distance d of accelerations from its minimum.
Two answers whose distance costs less than the solver's tolerance, in the solver's own scale (1 over mean inertia and
number of dofs, as in mj_solPrimal), cannot be told apart by it.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.types import Data, Model
from dovetail.simulation import full_mass_matrix

SOLVERS = ("solve_constraints", "noslip")
"""Stages that iterate until a tolerance is met."""


def scaled_cost(model: Model, a: Data, b: Data) -> float:
    """The largest cost of the distance between two answers over worlds, in units of `opt.tolerance`'s scale."""
    scale = 1.0 / (max(float(model.stat.meaninertia), 1e-15) * max(1, model.nv))
    worst = 0.0
    for one, other in zip(a.worlds(), b.worlds(), strict=True):
        distance = np.asarray(one.qacc, np.float64) - np.asarray(other.qacc, np.float64)
        if not np.isfinite(distance).all():
            return np.inf
        worst = max(worst, 0.5 * scale * float(distance @ full_mass_matrix(model, one) @ distance))
    return worst


def stopped_elsewhere(model: Model, a: Data, b: Data) -> bool:
    """Whether two answers are the same as far as the solver's tolerance tells."""
    return scaled_cost(model, a, b) <= float(model.opt.tolerance)
