"""Conjugate gradients, preconditioned with the inverse of the mass matrix, by the rule of Polak and Ribière.

A direction is the preconditioned gradient plus a share of the last direction; the share is never negative, so that
the method starts afresh where the cost's curvature has changed. No Hessian is formed. Compare mj_solCG; Nocedal and
Wright, Numerical Optimization, section 5.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.solver.sparse_numpy import inverse_mass
from dovetail.plugins.solve_constraints.many_problems_numpy import Points, Problems
from dovetail.plugins.solve_constraints.primal_numpy import solve_primal
from dovetail.plugins.solve_constraints.problem_numpy import Point, Problem


def solve_constraints(model: ModelLike, data: DataLike) -> None:
    """Write qacc, the constraint forces and states, and statistics."""
    inverse: Any = inverse_mass(model, data) if data.nefc else None

    def method(model: ModelLike, data: DataLike, problem: Problem) -> ConjugateGradients:
        # Islands consist of whole trees, so their part of the inverse is the inverse of their part.
        return ConjugateGradients(inverse[problem.dofs][:, problem.dofs])

    def many(model: ModelLike, data: DataLike, problems: Problems) -> ConjugateGradientsOfMany:
        from scipy.sparse import csr_array

        return ConjugateGradientsOfMany(csr_array(inverse[problems.dofs][:, problems.dofs]), problems)

    solve_primal(model, data, method, many)


class ConjugateGradients:
    """Directions of conjugate gradients for one problem."""

    nnz = 0

    def __init__(self, inverse: Any) -> None:
        self._inverse = inverse
        self._last: tuple[Array, Array, Array] | None = None
        """Gradient, preconditioned gradient and direction of the point before."""

    def direction(self, point: Point) -> Array:
        gradient = point.gradient
        conditioned: Array = self._inverse @ gradient
        direction = -conditioned
        if self._last is not None:
            old, old_conditioned, old_direction = self._last
            share = gradient @ (conditioned - old_conditioned) / max(MINVAL, old @ old_conditioned)
            direction += max(0.0, share) * old_direction
        self._last = gradient, conditioned, direction
        return direction

    def updates(self, old: Point, new: Point) -> int:
        return 0

    def finish(self, point: Point) -> None:
        """Nothing is left to write."""


class ConjugateGradientsOfMany:
    """Directions of conjugate gradients for many islands, each with a share of its own."""

    def __init__(
        self, inverse: Any, problems: Problems, last: tuple[Array, Array, Array] | None = None
    ) -> None:
        self._inverse, self._problems, self._last = inverse, problems, last

    def entries(self, island: int) -> int:
        return 0

    def directions(self, points: Points) -> Array:
        gradient, sums = points.gradient, self._problems.of_dofs.sums
        conditioned: Array = self._inverse @ gradient
        direction = -conditioned
        if self._last is not None:
            old, old_conditioned, old_direction = self._last
            before = sums(old * old_conditioned)
            share = sums(gradient * (conditioned - old_conditioned)) / np.where(
                before > MINVAL, before, MINVAL
            )
            direction += np.where(share > 0.0, share, 0.0)[self._problems.of_dofs.owner] * old_direction
        self._last = gradient, conditioned, direction
        return direction

    def updates(self, old: Points, new: Points) -> Array:
        return np.zeros(len(self._problems), int)

    def left(self, problems: Problems, dofs: Array) -> ConjugateGradientsOfMany:
        gradient, conditioned, direction = (part[dofs] for part in self._last or ())
        return ConjugateGradientsOfMany(
            self._inverse[dofs][:, dofs], problems, (gradient, conditioned, direction)
        )

    def finish(self, points: Points) -> None:
        """Nothing is left to write."""
