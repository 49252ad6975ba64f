"""Exact line search in lanes: the samples that `line_search_numpy` takes, in its order, in every world at once.

A search evaluates the cost once after another; each sample decides where the next one is taken. Worlds differ in
that, so each has a *phase*: the sample that it waits for. All worlds are evaluated together, each at its own
distance; a world whose search has ended keeps what it found. The numbers of a search have names: they are variables
for a problem of all dofs, and memory by tree for islands. Compare PrimalSearch in engine_solver.c.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import attrs
import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneField, Variable
from dovetail.plugins.shared.constants import MINVAL

DONE, ORIGIN, FIRST, ONE_SIDED, NEXT, MIDDLE, AHEAD, BEHIND = range(8)
"""What a world waits for: nothing; the sample where it stands; that of the first Newton step; that of a further one
towards the minimum; the first beyond it; and, in rounds, the one in the middle of the bracket, those of Newton steps
from its two ends."""

LARGEST = {"f64": float(np.finfo(np.float64).max), "f32": float(np.finfo(np.float32).max)}
"""The largest number of a precision; infinite directions lead nowhere."""

PARTS = ("at", "cost", "slope", "newton")
"""Of a sample."""

POINTS = ("ahead", "behind", "ahead_next", "behind_next")
"""Samples that are kept: the ends of the bracket, and those of Newton steps from them."""

NAMES = (
    *("phase", "count", "at", "sign", "waits"),
    *("origin.cost", "origin.slope", "origin.newton", "found.at", "found.cost"),
    *(f"{point}.{part}" for point in POINTS for part in PARTS),
)
"""The numbers of a search."""

MOST_OVER = 5
"""Samples beyond `ls_iterations` that a search may take: it ends between rounds only."""

ROUNDING = 5e-7
"""In single precision, slopes relative to their parts that are mere noise."""

NEAR = 1e-4
"""In single precision, relative changes of the distance that end the search: they matter to the cost by their
squares."""

LARGEST_STRIDE = 16.0
"""How many times as far a Newton step in single precision goes at most: beyond, the numbers would overflow."""


class Numbers(Protocol):
    """The numbers of a search, by name."""

    def __getitem__(self, name: str) -> Any: ...

    def __setitem__(self, name: str, value: Any) -> None: ...


class Sample(NamedTuple):
    """The cost a distance along the line, its slope there, and where the slope would vanish if the curvature did not
    change."""

    at: Any
    cost: Any
    slope: Any
    newton: Any


class Variables:
    """The numbers of a search as variables of the kernel."""

    def __init__(self, k: Kernel) -> None:
        self._variables: dict[str, Variable] = {name: k.local(0.0) for name in NAMES}

    def __getitem__(self, name: str) -> Any:
        return self._variables[name].value

    def __setitem__(self, name: str, value: Any) -> None:
        self._variables[name].set(value)


class Row:
    """The numbers of a search in a row of memory."""

    def __init__(self, field: LaneField, row: Any) -> None:
        self._field, self._row = field, row

    def __getitem__(self, name: str) -> Any:
        return self._field[self._row, NAMES.index(name)]

    def __setitem__(self, name: str, value: Any) -> None:
        self._field[self._row, NAMES.index(name)] = value


@attrs.frozen(eq=False)
class LineSearch:
    """The search of one problem: `begin`, then `advance` with the sample at `at` until no world is `searching`."""

    k: Kernel
    numbers: Numbers

    @property
    def at(self) -> Any:
        """Where the next sample is taken."""
        return self.numbers["at"]

    @property
    def searching(self) -> Any:
        """Mask of the worlds that wait for a sample."""
        return self.numbers["phase"] > 0.0

    def begin(self, live: Any, *, evaluated: Any, cost: Any, descent: Any) -> None:
        """Begin in worlds where `live` is positive. Where `evaluated` holds, the sample where they stand is taken;
        elsewhere the direction is Newton's own, so that the slope there is −`descent`, and the curvature its
        opposite."""
        k, s = self.k, self.numbers
        start = k.select(evaluated, float(ORIGIN), float(FIRST))
        s["phase"] = k.select(live > 0.0, start, float(DONE))
        s["count"] = k.select(evaluated, 0.0, 1.0)
        s["at"] = k.select(evaluated, 0.0, 1.0)
        s["origin.cost"], s["origin.slope"], s["origin.newton"] = cost, -descent, 1.0
        s["found.at"], s["found.cost"] = 0.0, cost
        for name in ("sign", "waits", *(f"{point}.{part}" for point in POINTS for part in PARTS)):
            s[name] = 0.0

    def sample(self, cost: Any, slope: Any, curvature: Any) -> Sample:
        """The sample at `at`. However small, a curvature above 0 is one."""
        k, at = self.k, self.at
        newton = at - slope / k.select(curvature > 0.0, curvature, MINVAL)
        if k.precision == "f32":
            newton = k.select(at > 0.0, k.min(newton, LARGEST_STRIDE * at), newton)
        return Sample(at, cost, slope, newton)

    def advance(self, here: Sample, tolerance: Any, limit: Any) -> None:
        """Take in the sample at `at`. Slopes below `tolerance` are flat; the search ends after about `limit`
        samples."""
        k, s = self.k, self.numbers
        phase = k.local(s["phase"])
        s["count"] = s["count"] + 1.0
        spare = s["count"] < limit
        self._approach(phase.value, here, tolerance, spare)
        with k.when(k.any(phase.value >= float(NEXT))):
            self._narrow(phase.value, here, tolerance, spare)
        origin = phase.value == float(ORIGIN)
        with k.when(k.any(origin)):
            for part in ("cost", "slope", "newton"):
                self._set(origin, f"origin.{part}", getattr(here, part))
            self._set(origin, "found.cost", here.cost)
            self._go(origin, FIRST, here.newton)

    # ---- towards the minimum

    def _approach(self, phase: Any, here: Sample, tolerance: Any, spare: Any) -> None:
        """A Newton step, and further ones as long as the slope keeps its sign."""
        k, s = self.k, self.numbers
        first, further = phase == float(FIRST), phase == float(ONE_SIDED)
        worse = first & (s["origin.cost"] < here.cost)
        origin = Sample(0.0, s["origin.cost"], s["origin.slope"], s["origin.newton"])
        ahead = Sample(*(k.select(worse, a, b) for a, b in zip(origin, here, strict=True)))
        self._set(first, "sign", k.select(ahead.slope < 0.0, 1.0, -1.0))
        left = ahead.slope * s["sign"]
        flat = self._is_flat(ahead, tolerance)
        onward = (first | further) & ~flat & (left <= -tolerance) & spare
        crossed = further & ~flat & (left > -tolerance) & spare
        self._put(first | further, "ahead", ahead)
        self._put(onward, "behind", ahead)
        self._put(crossed, "behind_next", ahead)
        self._end((first | further) & ~onward & ~crossed, ahead)
        self._go(onward, ONE_SIDED, ahead.newton)
        self._go(crossed, NEXT, ahead.newton)

    def _is_flat(self, here: Sample, tolerance: Any) -> Any:
        flat = self.k.abs(here.slope) < tolerance
        if self.k.precision == "f32":
            flat |= self.k.abs(here.newton - here.at) <= NEAR * here.at
        return flat

    # ---- between two slopes of opposite sign

    def _narrow(self, phase: Any, here: Sample, tolerance: Any, spare: Any) -> None:
        """Rounds of three samples: in the middle, then Newton steps from the ends that came closer."""
        s = self.numbers
        ahead, behind, middle = (phase == float(each) for each in (AHEAD, BEHIND, MIDDLE))
        beyond = phase == float(NEXT)
        self._put(ahead | beyond, "ahead_next", here)
        self._put(behind, "behind_next", here)
        self._take_middle(middle, here, tolerance)
        waits = ahead & (s["waits"] > 0.0)
        self._go(waits, BEHIND, s["behind.newton"])
        whole = beyond | behind | (ahead & ~waits)
        self._go(whole & spare, MIDDLE, 0.5 * (s["ahead.at"] + s["behind.at"]))
        self._end_with_bracket(whole & ~spare)

    def _take_middle(self, middle: Any, here: Sample, tolerance: Any) -> None:
        """The sample in the middle completes a round: the flattest of three is the answer, or narrows the bracket."""
        k, s = self.k, self.numbers
        candidates = [self._kept("ahead_next"), self._kept("behind_next"), here]
        found, best = k.local(0.0), [k.local(0.0), k.local(0.0)]
        for each in candidates:
            better = self._is_flat(each, tolerance) & ((found.value == 0.0) | (each.cost < best[1].value))
            for kept, number in zip(best, (each.at, each.cost), strict=True):
                kept.set(k.select(better, number, kept.value))
            found.set(k.select(better, 1.0, found.value))
        flat = middle & (found.value > 0.0)
        moved = [self._bring_closer(middle, end, candidates) > 0.0 for end in ("ahead", "behind")]
        stuck = middle & ~flat & ~moved[0] & ~moved[1]  # as flat as the arithmetic allows
        self._end(flat, Sample(best[0].value, best[1].value, 0.0, 0.0))
        self._end(stuck, here)
        self._set(middle, "waits", k.select(moved[1], 1.0, 0.0))
        going = middle & ~flat & ~stuck
        self._go(going & moved[0], AHEAD, s["ahead.newton"])
        self._go(going & ~moved[0], BEHIND, s["behind.newton"])

    def _bring_closer(self, where: Any, end: str, candidates: list[Sample]) -> Any:
        """Move an end of the bracket to the candidate on its side with the smallest slope; 1 where it moved."""
        k, moved = self.k, self.k.local(0.0)
        for each in candidates:
            slope = self.numbers[f"{end}.slope"]
            falling = (slope < 0.0) & (each.slope < 0.0) & (slope < each.slope)
            rising = (slope > 0.0) & (each.slope > 0.0) & (slope > each.slope)
            closer = where & (falling | rising)
            self._put(closer, end, each)
            moved.set(k.select(closer, 1.0, moved.value))
        return moved.value

    def _end_with_bracket(self, where: Any) -> None:
        """No samples are left: the better end, if it is better than where the search began."""
        k, s = self.k, self.numbers
        ahead, behind = s["ahead.cost"], s["behind.cost"]
        ahead_best = (ahead <= behind) & (ahead < s["origin.cost"])
        behind_best = (behind <= ahead) & (behind < s["origin.cost"]) & ~ahead_best
        for part, nothing in (("at", 0.0), ("cost", s["origin.cost"])):
            other = k.select(behind_best, s[f"behind.{part}"], nothing)
            self._set(where, f"found.{part}", k.select(ahead_best, s[f"ahead.{part}"], other))
        self._set(where, "phase", float(DONE))

    # ---- numbers

    def _set(self, where: Any, name: str, value: Any) -> None:
        self.numbers[name] = self.k.select(where, value, self.numbers[name])

    def _put(self, where: Any, point: str, sample: Sample) -> None:
        for part in PARTS:
            self._set(where, f"{point}.{part}", getattr(sample, part))

    def _kept(self, point: str) -> Sample:
        return Sample(*(self.numbers[f"{point}.{part}"] for part in PARTS))

    def _go(self, where: Any, phase: int, at: Any) -> None:
        """Wait for a sample."""
        self._set(where, "phase", float(phase))
        self._set(where, "at", at)

    def _end(self, where: Any, sample: Sample) -> None:
        """The search has found its answer."""
        self._set(where, "phase", float(DONE))
        self._set(where, "found.at", sample.at)
        self._set(where, "found.cost", sample.cost)


def goes_anywhere(k: Kernel, length: Any) -> Any:
    """Whether a direction of some length is worth a search, as far as it is known: NaN is, and shows in the
    answer."""
    return ~((length < MINVAL) | (length > LARGEST[k.precision]))


def noise(k: Kernel, linear: Any, square: Any, at: Any) -> Any:
    """Slopes that are mere noise, from the parts of that of the smooth cost; none in double precision, where the
    search is the reference's to its end."""
    return ROUNDING * (k.abs(linear) + at * square) if k.precision == "f32" else 0.0
