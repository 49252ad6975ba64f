"""Exact line search: how far to go in a given direction so that the cost's slope along it vanishes.

Along a direction the cost is a sum of quadratic pieces (and of cone pieces), smooth but for jumps of its second
derivative. Newton steps in one dimension approach the minimum from one side; once the slope has changed sign, the
bracket is narrowed from both ends and in the middle. Compare PrimalSearch in engine_solver.c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.solver.cost_numpy import Cones
from dovetail.plugins.solve_constraints.problem_numpy import Point, Problem


class Sample(NamedTuple):
    """The cost a distance along the line, and its first and second derivative there."""

    at: float
    cost: float
    slope: float
    curvature: float

    @property
    def newton(self) -> float:
        """Where the slope would vanish if the curvature did not change."""
        return self.at - self.slope / self.curvature


class CostAlongLine:
    """The cost along `direction` from `point`; counts its evaluations."""

    def __init__(self, problem: Problem, point: Point, direction: Array, Mv: Array, Jv: Array) -> None:
        rows, jar = problem.rows, point.jar
        self.count = 0
        weighted = rows.D * Jv
        quadratics = np.stack([0.5 * rows.D * jar * jar, weighted * jar, 0.5 * weighted * Jv])
        gauss = (point.gauss, direction @ (point.Ma - problem.qfrc_smooth), 0.5 * direction @ Mv)
        self._always = np.array(gauss) + quadratics[:, rows.two_sided].sum(axis=1)
        self._one_sided = (jar[rows.one_sided], Jv[rows.one_sided], quadratics[:, rows.one_sided])
        dry = rows.dry
        self._dry = (jar[dry], Jv[dry], quadratics[:, dry], rows.frictionloss[dry], rows.R[dry])
        self._cones = _ConeLine(rows.cones, jar, Jv) if len(rows.cones) else None

    def sample(self, at: float) -> Sample:
        self.count += 1
        start, rate, quadratics = self._one_sided
        constant, linear, square = self._always + quadratics @ (start + at * rate < 0.0).astype(float)
        if len(self._dry[0]):
            dry = self._dry_friction(at)
            constant, linear, square = constant + dry[0], linear + dry[1], square + dry[2]
        cost = constant + at * (linear + at * square)
        slope = linear + 2.0 * at * square
        curvature = 2.0 * square
        if self._cones is not None:
            cone = self._cones.sample(at)
            cost, slope, curvature = cost + cone[0], slope + cone[1], curvature + cone[2]
        # However small, a curvature above 0 is one: near the answer directions are as short as 1e-9.
        return Sample(at, float(cost), float(slope), float(curvature) if curvature > 0.0 else MINVAL)

    def _dry_friction(self, at: float) -> Array:
        """The quadratic (constant, linear, square) that friction loss rows amount to."""
        start, rate, quadratics, loss, R = self._dry
        x = start + at * rate
        bound = R * loss
        sign = np.sign(x) * (np.abs(x) >= bound)
        slipping = np.stack([loss * (sign * start - 0.5 * bound), loss * sign * rate, np.zeros(len(x))])
        total: Array = np.where(sign != 0.0, slipping, quadratics).sum(axis=1)
        return total


class _ConeLine:
    """The cost of elliptic contacts along the line."""

    def __init__(self, cones: Cones, jar: Array, Jv: Array) -> None:
        x, v = jar[cones.rows], Jv[cones.rows]
        U, V = cones.scale * x, cones.scale * v
        self._mu, self._Dm = cones.mu, cones.Dm
        self._N0, self._N1 = U[:, 0], V[:, 0]
        U, V = U[:, 1:], V[:, 1:]
        self._UU, self._UV, self._VV = (np.einsum("ij,ij->i", a, b) for a, b in ((U, U), (U, V), (V, V)))
        weighted = cones.D * v
        self._quadratics = np.stack(
            [
                0.5 * (cones.D * x * x).sum(axis=1),
                (weighted * x).sum(axis=1),
                0.5 * (weighted * v).sum(axis=1),
            ]
        )

    def sample(self, at: float) -> tuple[float, float, float]:
        """Cost, slope, curvature."""
        mu, VV = self._mu, self._VV
        N = self._N0 + at * self._N1
        T = np.sqrt(np.maximum(self._UU + at * (2.0 * self._UV + at * VV), 0.0))
        gap = N - mu * T
        pushes = gap < 0.0
        bottom = pushes & (mu * N + T <= 0.0)
        constant, linear, square = self._quadratics @ bottom.astype(float)
        # Between the zones the cost is ½·Dm·gap²; there T is not zero.
        weight = np.where(pushes & ~bottom, self._Dm, 0.0)
        T = np.maximum(T, MINVAL)
        T1 = (self._UV + at * VV) / T
        gap1 = self._N1 - mu * T1
        bend = mu * gap * (VV - T1 * T1) / T
        return (
            constant + at * (linear + at * square) + 0.5 * float(weight @ (gap * gap)),
            linear + 2.0 * at * square + float(weight @ (gap * gap1)),
            2.0 * square + float(weight @ (gap1 * gap1 - bend)),
        )


def minimise_along(line: CostAlongLine, tolerance: float, limit: int) -> Sample:
    """The sample where the slope is below `tolerance`, or the best found in about `limit` evaluations. Its distance
    is 0 if the line does not lead down."""
    origin = line.sample(0.0)
    ahead = line.sample(origin.newton)
    if origin.cost < ahead.cost:
        ahead = origin
    if abs(ahead.slope) < tolerance:
        return ahead
    sign = 1.0 if ahead.slope < 0.0 else -1.0
    behind = None
    while ahead.slope * sign <= -tolerance and line.count < limit:
        behind, ahead = ahead, line.sample(ahead.newton)
        if abs(ahead.slope) < tolerance:
            return ahead
    if line.count >= limit or behind is None:
        return ahead
    return _narrow(line, origin, ahead, behind, tolerance, limit)


def _narrow(
    line: CostAlongLine, origin: Sample, ahead: Sample, behind: Sample, tolerance: float, limit: int
) -> Sample:
    """Narrow a bracket whose ends have slopes of opposite sign."""
    next_ahead, next_behind = line.sample(ahead.newton), ahead
    while line.count < limit:
        middle = line.sample(0.5 * (ahead.at + behind.at))
        candidates = (next_ahead, next_behind, middle)
        flat = [c for c in candidates if abs(c.slope) < tolerance]
        if flat:
            return min(flat, key=lambda c: c.cost)
        closer_ahead, closer_behind = _closer(ahead, candidates), _closer(behind, candidates)
        if closer_ahead is not None:
            ahead, next_ahead = closer_ahead, line.sample(closer_ahead.newton)
        if closer_behind is not None:
            behind, next_behind = closer_behind, line.sample(closer_behind.newton)
        if closer_ahead is None and closer_behind is None:
            return middle  # as flat as the arithmetic allows
    best = min(ahead, behind, key=lambda c: c.cost)
    return best if best.cost < origin.cost else origin


def _closer(end: Sample, candidates: tuple[Sample, ...]) -> Sample | None:
    """The candidate on the same side of the minimum as `end` with the smallest slope, if below that of `end`."""
    sign = np.sign(end.slope)
    better = [c for c in candidates if np.sign(c.slope) == sign and abs(c.slope) < abs(end.slope)]
    return min(better, key=lambda c: abs(c.slope)) if better else None
