"""Comparisons along a run: every one is kept by step, so that the first that is beyond tolerance is known, and where.

A Timeline is a `Worst` that also knows at which step, evaluation and slot it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import numpy as np

from dovetail.compare.errors import FLOOR, FieldError, Worst, has_room, tolerance_of, worst_entry
from dovetail.contracts.derive import describe_index, describe_object
from dovetail.contracts.fields import Array, FieldSpec

MOVES = 1e3
"""So many of the authority's own moves count as rounding."""


@attrs.frozen(kw_only=True)
class Divergence:
    """One field of one slot at one step: the entry where A and B are farthest apart."""

    step: int
    time: float
    evaluation: int
    stage: str
    """The slot: `stage` or `stage:key`; several with + between them if they run as one kernel."""
    field: str
    object: str
    """`body "torso"`, or empty where an entry belongs to none."""
    index: tuple[int, ...]
    world: int | None
    a: float
    b: float
    error: float
    """As `dovetail.compare.errors` defines it: relative to the largest value of the field."""
    relative: float
    """Relative to the larger of the two values."""
    ulps: float
    """How many of A's units in the last place lie between the two values."""
    tolerance: float
    note: str = ""
    start: str = ""
    """Where the run began, if there are several runs."""
    alone: bool = True
    """Whether the stage shows it by itself, on A's inputs; else only whole steps of B do."""
    how: str = ""
    """How the stage was told from others of its kernel, or what else is known."""

    @property
    def where(self) -> str:
        """`xpos[3][0] (body "torso") in world 2`."""
        text = self.field + "".join(f"[{i}]" for i in self.index)
        text += f" ({self.object})" if self.object else ""
        return text if self.world is None else f"{text} in world {self.world}"

    def __str__(self) -> str:
        begun = f"{self.start}, " if self.start else ""
        return f"{begun}step {self.step}, {self.stage}: {self.where}: {self.values()}"

    def values(self) -> str:
        """Both values and how far apart they are."""
        if self.note:
            return self.note
        return (
            f"{self.a!r} and {self.b!r}; error {self.error:.1e} (tolerance {self.tolerance:.0e}), "
            f"relative {self.relative:.1e}, {_count(self.ulps)} ulp"
        )

    def to_dict(self) -> dict[str, Any]:
        return {**attrs.asdict(self), "index": list(self.index)}


def _count(ulps: float) -> str:
    return f"{ulps:.0f}" if ulps < 1e6 else f"{ulps:.1e}"


@attrs.define
class SlotHistory:
    """What comparisons of one slot found."""

    errors: dict[int, float] = attrs.field(factory=dict)
    """The largest error by step."""
    excused: set[int] = attrs.field(factory=set)
    """Steps whose differences the tolerance of an iterative solver explains."""
    moved: set[int] = attrs.field(factory=set)
    """Steps whose differences are no larger than those that rounding makes: see `Timeline.moves`."""
    worst: Divergence | None = None
    """The largest error over tolerance, also within it."""
    first: Divergence | None = None
    """The first beyond tolerance."""
    fixed: int = 0
    """Entries compared of fields that always have as many."""
    counted: int = 0
    """Entries compared of fields whose number of entries varies."""
    varies: bool = False
    """Whether it writes such fields."""

    @property
    def compared(self) -> int:
        """Entries that tell something: of a slot whose work is a list (contacts, rows), those of the list."""
        return self.counted if self.varies else self.fixed

    @property
    def largest(self) -> float:
        return max(self.errors.values(), default=0.0)


@attrs.define
class Timeline(Worst):
    """Keeps the worst of each field, and of each slot its history."""

    step: int = 0
    time: float = 0.0
    evaluation: int = 0
    flipped: bool = False
    """Whether B is given as the authority."""
    single: bool = False
    """Whether A's numbers have single precision."""
    slots: dict[str, SlotHistory] = attrs.field(factory=dict)
    found: list[Divergence] = attrs.field(factory=list)
    """The first divergence of each slot and field, in the order of their coming."""
    contacts: Any = None
    """The Data whose contacts say which geoms an entry of theirs is about."""
    excusing: bool = False
    """Whether differences are those of a solver that stopped elsewhere."""
    start: str = ""
    """Where the present run began, if there are several."""
    offset: int = 0
    """Steps of the runs before the present one."""
    moves: Callable[[str], float] | None = None
    """How far the authority's own field moves when what it is computed from is nudged by rounding."""
    same_lost: bool = False
    """Whether two numbers that are both NaN or infinite agree: a run that begins with such a number."""
    beyond: int = 0
    """Comparisons beyond tolerance so far, those of fields that were found before too."""
    _seen: set[tuple[str, str]] = attrs.field(factory=set)

    def at(self, step: int, time: float) -> None:
        """Go on to a step."""
        self.step, self.time, self.evaluation = step, time, 0

    def add(
        self,
        slot: str,
        spec: FieldSpec,
        ours: Array,
        theirs: Array,
        *,
        reference: bool = True,
        batch: bool = False,
        world: int | None = None,
        note: str = "",
    ) -> FieldError:
        """Compare, remember when and where."""
        if self.same_lost:
            ours, theirs = _without_lost(ours, theirs)
        row = super().add(slot, spec, ours, theirs, reference=reference, batch=batch, world=world, note=note)
        entry = self._divergence(slot, spec, ours, theirs, reference, batch, world)
        history = self.slots.setdefault(slot, SlotHistory())
        if has_room(spec):
            history.varies = True
            history.counted += max(np.size(ours), np.size(theirs))
        else:
            history.fixed += np.size(ours)
        self._remember(history, entry)
        return row

    def _remember(self, history: SlotHistory, entry: Divergence) -> None:
        step = self.offset + self.step
        history.errors[step] = max(history.errors.get(step, 0.0), entry.error)
        if history.worst is None or _badness(entry) > _badness(history.worst):
            history.worst = entry
        if entry.error <= entry.tolerance:
            return
        if self.excusing:
            history.excused.add(step)
            return
        if self.moves is not None and entry.error <= MOVES * self.moves(entry.field):
            history.moved.add(step)
            return
        self.beyond += 1
        history.first = history.first or entry
        if (entry.stage, entry.field) not in self._seen:
            self._seen.add((entry.stage, entry.field))
            self.found.append(entry)

    def _divergence(
        self,
        slot: str,
        spec: FieldSpec,
        ours: Array,
        theirs: Array,
        reference: bool,
        batch: bool,
        world: int | None,
    ) -> Divergence:
        tolerance = self.tolerance
        if tolerance is None:
            tolerance = tolerance_of(spec, precision=self.precision, reference=reference)
        a, b = (np.asarray(v, np.float64) for v in ((ours, theirs) if self.flipped else (theirs, ours)))
        common: dict[str, Any] = {
            "step": self.step,
            "time": self.time,
            "evaluation": self.evaluation,
            "stage": slot,
            "field": spec.name,
            "tolerance": tolerance,
            "start": self.start,
        }
        if a.shape != b.shape:
            note = f"shape {b.shape} instead of {a.shape}"
            entries: dict[str, Any] = {"index": (), "object": "", "world": world, "a": np.nan, "b": np.nan}
            return Divergence(**common, **entries, error=np.inf, relative=np.inf, ulps=np.inf, note=note)
        first, second = (a, b) if batch else (a[None], b[None])
        error, place = worst_entry(second, first)
        index = place[1:]
        x, y = (float(first[place]), float(second[place])) if place else (0.0, 0.0)
        described = describe_index(self.model, spec, index) if index else ""
        return Divergence(
            **common,
            object=described.partition(" (")[2].removesuffix(")")
            or (error and self._contact(spec, index, world))
            or "",
            index=index,
            world=place[0] if batch and place else world,
            a=x,
            b=y,
            error=error,
            relative=relative(x, y),
            ulps=ulps_between(x, y, single=self.single or spec.dtype == "float32"),
        )

    def _contact(self, spec: FieldSpec, index: tuple[int, ...], world: int | None) -> str:
        """The geoms of a contact, in words."""
        if self.contacts is None or not index or not spec.shape or spec.shape[0] != "ncon_max":
            return ""
        pairs = np.asarray(self.contacts.field("contact.geom"))
        geoms = (pairs if world is None else pairs[world])[index[0]].tolist()
        return " and ".join(describe_object(self.model, "geom", g) for g in geoms if g >= 0)


def _without_lost(ours: Array, theirs: Array) -> tuple[Array, Array]:
    """Both, with zeros where both have lost the number."""
    a, b = (np.array(value, np.float64) for value in (ours, theirs))
    if a.shape == b.shape:
        lost = ~np.isfinite(a) & ~np.isfinite(b)
        a[lost] = b[lost] = 0.0
    return a, b


def _badness(entry: Divergence) -> float:
    return entry.error / entry.tolerance if entry.tolerance else entry.error / FLOOR


def relative(a: float, b: float) -> float:
    """The difference relative to the larger value; 0 of equal ones."""
    if a == b:
        return 0.0
    ratio = abs(a - b) / max(abs(a), abs(b))
    return float(ratio) if np.isfinite(ratio) else np.inf


def ulps_between(a: float, b: float, *, single: bool = False) -> float:
    """The difference in units of A's last place (of the larger value's, if A is zero)."""
    if a == b:
        return 0.0
    if not (np.isfinite(a) and np.isfinite(b)):
        return np.inf
    kind = np.float32 if single else np.float64
    unit = float(np.spacing(kind(abs(a) or abs(b))))
    with np.errstate(over="ignore"):
        return float(np.float64(abs(a - b)) / unit) if unit else np.inf


def in_pipeline_order(
    found: Iterable[Divergence], order: dict[str, int], starts: Sequence[str] = ("",)
) -> list[Divergence]:
    """By run and step, then by slot as they run; what only a whole step shows comes last."""
    last, runs = len(order), {start: n for n, start in enumerate(starts)}
    return sorted(
        found,
        key=lambda d: (
            runs.get(d.start, -1),
            d.step,
            d.evaluation,
            not d.alone,
            order.get(d.stage, last),
        ),
    )
