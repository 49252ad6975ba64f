"""Exact line searches of many islands at once, each with its own distance, bracket, tolerance and end.

What `line_search_numpy` does for one line, written with masks: a sample is taken on every line, and counts on those
that asked for it; a line that has its answer keeps it while others go on. Compare PrimalSearch in engine_solver.c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.solver.cost_numpy import Cones
from dovetail.plugins.solve_constraints.many_problems_numpy import Points, Problems


class Samples(NamedTuple):
    """On each line: the cost a distance along it, and its first and second derivative there."""

    at: Array
    cost: Array
    slope: Array
    curvature: Array

    @property
    def newton(self) -> Array:
        """Where slopes would vanish if curvatures did not change."""
        return self.at - self.slope / self.curvature


def chosen(mask: Array, one: Samples, other: Samples) -> Samples:
    """The samples of `one` on lines of the mask, of `other` on the rest."""
    return Samples(*(np.where(mask, a, b) for a, b in zip(one, other, strict=True)))


def picked(number: Array, candidates: list[Samples]) -> Samples:
    """On each line the candidate of the given number."""
    line = np.arange(len(number))
    return Samples(*(np.stack(values)[number, line] for values in zip(*candidates, strict=True)))


class CostsAlongLines:
    """The cost of every island along its part of `direction`; counts the evaluations of each."""

    def __init__(self, problems: Problems, points: Points, direction: Array, Mv: Array, Jv: Array) -> None:
        rows, jar, sums = problems.rows, points.jar, problems.of_dofs.sums
        self.count = np.zeros(len(problems), int)
        self._members = problems.of_rows
        weighted = rows.D * Jv
        quadratics = np.stack([0.5 * rows.D * jar * jar, weighted * jar, 0.5 * weighted * Jv])
        excess = points.Ma - problems.qfrc_smooth
        gauss = np.stack([points.gauss, sums(direction * excess), 0.5 * sums(direction * Mv)])
        self._always = gauss + self._members.sums(np.where(rows.two_sided, quadratics, 0.0))
        self._one_sided = (jar, Jv, np.where(rows.one_sided, quadratics, 0.0))
        dry = rows.dry
        self._dry = (jar[dry], Jv[dry], quadratics[:, dry], rows.frictionloss[dry], rows.R[dry])
        self._dry_owner = self._members.owner[dry]
        owner = self._members.owner[rows.cones.rows[:, 0]]
        self._cones = _ConeLines(rows.cones, owner, len(problems), jar, Jv) if len(rows.cones) else None

    def sample(self, at: Array, asked: Array) -> Samples:
        """Samples at distances `at`, of use where they were asked for."""
        self.count += asked
        at = np.where(asked, at, 0.0)
        start, rate, quadratics = self._one_sided
        pushing = start + at[self._members.owner] * rate < 0.0
        constant, linear, square = self._always + self._members.sums(quadratics * pushing)
        if len(self._dry_owner):
            dry = self._dry_friction(at)
            constant, linear, square = constant + dry[0], linear + dry[1], square + dry[2]
        cost = constant + at * (linear + at * square)
        slope = linear + 2.0 * at * square
        curvature = 2.0 * square
        if self._cones is not None:
            cone = self._cones.sample(at)
            cost, slope, curvature = cost + cone[0], slope + cone[1], curvature + cone[2]
        return Samples(at, cost, slope, np.where(curvature > 0.0, curvature, MINVAL))

    def _dry_friction(self, at: Array) -> list[Array]:
        """The quadratics (constant, linear, square) that friction loss rows amount to."""
        start, rate, quadratics, loss, R = self._dry
        x = start + at[self._dry_owner] * rate
        bound = R * loss
        sign = np.sign(x) * (np.abs(x) >= bound)
        slipping = np.stack([loss * (sign * start - 0.5 * bound), loss * sign * rate, np.zeros(len(x))])
        terms = np.where(sign != 0.0, slipping, quadratics)
        return [np.bincount(self._dry_owner, term, minlength=len(at)) for term in terms]


class _ConeLines:
    """The cost of elliptic contacts along the lines of their islands."""

    def __init__(self, cones: Cones, owner: Array, count: int, jar: Array, Jv: Array) -> None:
        x, v = jar[cones.rows], Jv[cones.rows]
        U, V = cones.scale * x, cones.scale * v
        self._owner, self._count = owner, count
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

    def sample(self, at: Array) -> list[Array]:
        """Costs, slopes, curvatures."""
        mu, VV, at = self._mu, self._VV, at[self._owner]
        N = self._N0 + at * self._N1
        T = np.sqrt(np.maximum(self._UU + at * (2.0 * self._UV + at * VV), 0.0))
        gap = N - mu * T
        pushes = gap < 0.0
        bottom = pushes & (mu * N + T <= 0.0)
        constant, linear, square = self._quadratics * bottom
        # Between the zones the cost is ½·Dm·gap²; there T is not zero.
        weight = np.where(pushes & ~bottom, self._Dm, 0.0)
        T = np.maximum(T, MINVAL)
        T1 = (self._UV + at * VV) / T
        gap1 = self._N1 - mu * T1
        bend = mu * gap * (VV - T1 * T1) / T
        terms = (
            constant + at * (linear + at * square) + 0.5 * weight * (gap * gap),
            linear + 2.0 * at * square + weight * (gap * gap1),
            2.0 * square + weight * (gap1 * gap1 - bend),
        )
        return [np.bincount(self._owner, term, minlength=self._count) for term in terms]


def minimise_along_lines(lines: CostsAlongLines, asked: Array, tolerance: Array, limit: int) -> Samples:
    """On each line that asks: the sample where the slope is below its `tolerance`, or the best found in about `limit`
    evaluations. Its distance is 0 if the line does not lead down."""
    origin = lines.sample(np.zeros(len(asked)), asked)
    ahead = lines.sample(origin.newton, asked)
    ahead = chosen(origin.cost < ahead.cost, origin, ahead)
    sign = np.where(ahead.slope < 0.0, 1.0, -1.0)
    behind, has_behind = ahead, np.zeros(len(asked), bool)
    searching = asked & ~(np.abs(ahead.slope) < tolerance)
    going = searching.copy()
    while True:
        going = going & (ahead.slope * sign <= -tolerance) & (lines.count < limit)
        if not going.any():
            break
        behind, ahead = (
            chosen(going, ahead, behind),
            chosen(going, lines.sample(ahead.newton, going), ahead),
        )
        has_behind |= going
        flat = going & (np.abs(ahead.slope) < tolerance)
        searching, going = searching & ~flat, going & ~flat
    bracketed = searching & has_behind & (lines.count < limit)
    return _narrow(lines, bracketed, origin, ahead, behind, tolerance, limit)


def _narrow(
    lines: CostsAlongLines,
    searching: Array,
    origin: Samples,
    ahead: Samples,
    behind: Samples,
    tolerance: Array,
    limit: int,
) -> Samples:
    """Narrow the brackets of lines that are still searching; the others' answers are `ahead`."""
    best = ahead
    if not searching.any():
        return best
    next_ahead, next_behind = lines.sample(ahead.newton, searching), ahead
    while True:
        narrowing = searching & (lines.count < limit)
        if not narrowing.any():
            break
        middle = lines.sample(0.5 * (ahead.at + behind.at), narrowing)
        candidates = [next_ahead, next_behind, middle]
        is_flat, flattest = _cheapest_flat(candidates, tolerance)
        best = chosen(narrowing & is_flat, flattest, best)
        on = narrowing & ~is_flat
        is_ahead, closer_ahead = _closer(ahead, candidates)
        is_behind, closer_behind = _closer(behind, candidates)
        move_ahead, move_behind = on & is_ahead, on & is_behind
        if move_ahead.any():
            ahead = chosen(move_ahead, closer_ahead, ahead)
            next_ahead = chosen(move_ahead, lines.sample(ahead.newton, move_ahead), next_ahead)
        if move_behind.any():
            behind = chosen(move_behind, closer_behind, behind)
            next_behind = chosen(move_behind, lines.sample(behind.newton, move_behind), next_behind)
        stuck = on & ~is_ahead & ~is_behind  # as flat as the arithmetic allows
        best = chosen(stuck, middle, best)
        searching = searching & ~(narrowing & is_flat) & ~stuck
    ends = chosen(behind.cost < ahead.cost, behind, ahead)
    return chosen(searching, chosen(ends.cost < origin.cost, ends, origin), best)


def _cheapest_flat(candidates: list[Samples], tolerance: Array) -> tuple[Array, Samples]:
    """Whether a candidate has a slope below the tolerance, and of those the one of least cost."""
    flat = np.stack([np.abs(c.slope) < tolerance for c in candidates])
    cost = np.where(flat, [c.cost for c in candidates], np.inf)
    some: Array = np.logical_or.reduce(flat, axis=0)
    return some, picked(np.argmin(cost, axis=0), candidates)


def _closer(end: Samples, candidates: list[Samples]) -> tuple[Array, Samples]:
    """Whether a candidate is on the same side of the minimum as `end` with a smaller slope, and that of the
    smallest."""
    slope = np.stack([c.slope for c in candidates])
    better = (np.sign(slope) == np.sign(end.slope)) & (np.abs(slope) < np.abs(end.slope))
    steepness = np.where(better, np.abs(slope), np.inf)
    return better.any(axis=0), picked(np.argmin(steepness, axis=0), candidates)
