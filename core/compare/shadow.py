"""A second implementation beside the first, inside a running Simulation.

    shadow = Shadow("mass_matrix", "crb@numpy")
    sim = dovetail.Simulation(model, nworld=64, backend="taichi", wrap=[shadow])
    sim.step(100)
    print(shadow.table())

The first implementation's results go on; the shadow's are only compared, with the shadow as the authority.

As above it is a wrapper around one slot, at every call. With `every=`, `worlds=` or `on_guard=`, and for whole steps,
it stands around steps instead and takes no kernel apart: now and then a few worlds are stepped once more by a plan
that is the reference but for the shadowed slot, from the same state, and what both plans leave is compared. Only
where that differs are slots compared one by one.

    shadow = Shadow(every=100, worlds=4, dump="first.npz")     # the whole step, against the reference
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from dovetail import interrupts
from dovetail.arguments import whole
from dovetail.backend import REFERENCE, Advance, Slot
from dovetail.compare.beside import Beside, take_inputs
from dovetail.compare.divergence import WHOLE_STEP, Divergence
from dovetail.compare.dump import Dump
from dovetail.compare.errors import FieldError, Worst, compare_data
from dovetail.compare.isolate import Isolated, Worlds, isolate
from dovetail.compare.reports import Report
from dovetail.compare.sides import Side
from dovetail.compare.tables import error_table
from dovetail.contracts.derive import make_data
from dovetail.contracts.fields import Array
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import DATA_SPECS, Data
from dovetail.errors import ArgumentError, BadStateError, DovetailError, NotKeptError, SelectionError, shown
from dovetail.planning.plan import Plan
from dovetail.registry import Registry

OnDeviation = Literal["record", "warn", "raise"]

MOST_TRIPPED = 4
"""Worlds of one call that are run again when a guard has tripped."""


class DeviationError(DovetailError):
    """A stage and its shadow disagree beyond tolerance."""


class DeviationWarning(UserWarning):
    """A stage and its shadow disagree beyond tolerance."""


@attrs.frozen(kw_only=True)
class Trip:
    """A guard that tripped: a state went bad in a world."""

    step: int
    world: int
    text: str
    agrees: bool
    """Whether the shadow, from the same state, goes the same way."""


def _period(value: object) -> int | None:
    return None if value is None else whole("every", value, 1, None, ", or None for only when a guard trips")


def _some_worlds(value: Any) -> int | tuple[int, ...] | None:
    if value is None:
        return None
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return whole("worlds", value, 1, None, ", or their numbers")
    try:
        found = tuple(whole("worlds", number, 0) for number in value)
    except TypeError:
        raise ArgumentError(
            f"worlds = {shown(value)} should be how many worlds to check, or their numbers"
        ) from None
    if not found:
        raise ArgumentError("worlds = () names no world, so nothing would be compared")
    return found


@attrs.define
class Shadow(Report):
    """Runs `implementation` (`name@backend`) beside the slot `stage` and compares what both write.

    Without a stage it is the whole step, against the reference. `on_deviation`: only record (default), warn, or raise
    DeviationError. `tolerance` replaces the fields' own.
    `every`: check one step in so many (None: none but those of `on_guard`); `worlds`: how many worlds of a batch,
    other ones each time, or which. `on_guard`: when a state goes bad, or a NanGuard trips, repeat the steps of that
    call in that world and compare. `dump`: the file that the first divergence is written to, for
    `dovetail.compare.dump.replay`.
    """

    stage: str = WHOLE_STEP
    implementation: str = f"@{REFERENCE}"
    on_deviation: OnDeviation = attrs.field(
        default="record", kw_only=True, validator=attrs.validators.in_(("record", "warn", "raise"))
    )
    tolerance: float | None = attrs.field(default=None, kw_only=True)
    every: int | None = attrs.field(default=1, kw_only=True, converter=_period)
    worlds: int | tuple[int, ...] | None = attrs.field(default=None, kw_only=True, converter=_some_worlds)
    on_guard: bool = attrs.field(default=False, kw_only=True)
    dump: str | Path | None = attrs.field(default=None, kw_only=True)
    registry: Registry | None = attrs.field(default=None, kw_only=True, repr=False)
    comparisons: int = attrs.field(default=0, init=False)
    first: Divergence | None = attrs.field(default=None, init=False)
    """The first divergence."""
    first_dump: Dump | None = attrs.field(default=None, init=False, repr=False)
    """It with everything that reproduces it."""
    trips: list[Trip] = attrs.field(factory=list, init=False)
    """Guards that tripped."""
    _worst: Worst | None = attrs.field(default=None, init=False, repr=False)
    _watches: WeakKeyDictionary[Data, _Watch] = attrs.field(
        factory=WeakKeyDictionary, init=False, repr=False, eq=False
    )
    _bad: list[tuple[int, str]] = attrs.field(factory=list, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.every is None and not self.on_guard:
            raise ArgumentError("every=None without on_guard=True would never compare anything")
        if self.stage == WHOLE_STEP and self.implementation != f"@{REFERENCE}":
            raise ArgumentError(
                f"Shadow({self.stage!r}, {self.implementation!r}): a whole step is compared with the reference; "
                "name the stage that this implementation is for"
            )

    @property
    def name(self) -> str:
        return f"shadow {self.implementation}"

    @property
    def watches_steps(self) -> bool:
        """Whether it stands around steps, not around its slot."""
        return self.stage == WHOLE_STEP or self.every != 1 or self.worlds is not None or self.on_guard

    def wants(self, label: str) -> bool:
        return not self.watches_steps and label == self.stage

    def wrap(self, slot: Slot, call: Callable[[Data], None]) -> Callable[[Data], None]:
        companion: _Companion | None = None

        def shadowed(data: Data) -> None:
            nonlocal companion
            if companion is None or companion.owner is not data:
                companion = _Companion.of(self, slot, data)
            companion.take_inputs(self.first is None)
            call(data)
            self._judge(companion.deviations(self))

        return shadowed

    # ---- around steps

    def wrap_steps(self, plan: Plan, advance: Advance) -> Advance:
        """Take steps, and step some worlds once more by the other plan when it is time."""

        def watched(data: Data, nstep: int) -> None:
            watch = self._watches.get(data)
            if watch is None or watch.plan is not plan:
                taken = 0 if watch is None else watch.taken
                watch = self._watches[data] = _Watch.of(self, plan, data, taken)
            watch.advance(data, nstep, advance)

        return watched

    def bad_state(self, world: int, text: str) -> None:
        if self.on_guard:
            self._bad.append((world, text))

    # ---- what it found

    @property
    def rows(self) -> tuple[FieldError, ...]:
        """The worst error of every field so far."""
        return () if self._worst is None else self._worst.sorted_rows()

    def table(self) -> str:
        """The worst errors so far, as text."""
        parts = [f"{self.stage} beside {self.implementation}: {self.comparisons or 'no'} comparisons"]
        if not self.comparisons:
            return f"{parts[0]}: nothing was compared"
        if self.first is not None:
            parts.append(f"first divergence: {self.first}")
        parts += [
            f"went bad at step {t.step}, in the shadow {'too' if t.agrees else 'not'}: {t.text}"
            for t in self.trips
        ]
        return "\n".join([*parts, error_table(self.rows)])

    def to_dict(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "implementation": self.implementation,
            "comparisons": self.comparisons,
            "ok": self.ok,
            "first": None if self.first is None else self.first.to_dict(),
            "trips": [attrs.asdict(trip) for trip in self.trips],
            "rows": self.rows_as_dicts(),
        }

    @property
    def ok(self) -> bool:
        """Whether every compared field is within its tolerance, and no bad state is the run's own."""
        return self.first is None and not self.failures

    def note(self, rows: Sequence[FieldError], data: Data) -> None:
        """Keep the worst errors."""
        if self._worst is None:
            self._worst = Worst(data.model, data.precision)
        for row in rows:
            self._worst.keep(row)

    def keep_first(self, divergence: Divergence, dump: Dump) -> None:
        """Keep a divergence with its inputs, if it is the first, and write it."""
        if self.first is not None:
            return
        self.first, self.first_dump = divergence, dump
        if self.dump is not None:
            dump.save(self.dump)

    def _judge(self, deviations: list[FieldError]) -> None:
        self.comparisons += 1
        if deviations:
            self.tell(f"{self.stage} deviates from {self.implementation}: " + "; ".join(map(str, deviations)))

    def tell(self, text: str) -> None:
        """Say what deviates, in the way that was asked for."""
        if self.on_deviation == "raise":
            raise DeviationError(text)
        if self.on_deviation == "warn":
            warnings.warn(text, DeviationWarning, stacklevel=5)


def chosen_worlds(worlds: int | tuple[int, ...] | None, nworld: int | None, turn: int = 0) -> tuple[int, ...]:
    """Which worlds of a Data to check: all, those named, or some that are spread over the batch, at every turn the
    next ones, so that each has its turn."""
    count = 1 if nworld is None else nworld
    if worlds is None:
        return tuple(range(count))
    if isinstance(worlds, int):
        spread = np.linspace(0, count - 1, min(worlds, count)).astype(int)
        return tuple(((np.unique(spread) + turn) % count).tolist())
    beyond = [number for number in worlds if number >= count]
    if beyond:
        raise ArgumentError(f"worlds = {worlds}: there is no world {beyond[0]}; there are {count}")
    return worlds


@attrs.define(eq=False)
class _Watch:
    """The steps of one Data under one plan, some of which are checked."""

    shadow: Shadow
    plan: Plan
    worlds: tuple[int, ...]
    ours: Side
    theirs: Side
    registry: Registry
    taken: int
    """Steps so far."""
    _beside: Beside | None = None

    @classmethod
    def of(cls, shadow: Shadow, plan: Plan, data: Data, taken: int) -> _Watch:
        registry = shadow.registry or plan.registry
        stages = {} if shadow.stage == WHOLE_STEP else {shadow.stage: shadow.implementation}
        worlds = chosen_worlds(shadow.worlds, data.nworld)
        return cls(shadow, plan, worlds, Side.of(plan), Side.beside(plan, stages, registry), registry, taken)

    def advance(self, data: Data, nstep: int, advance: Advance) -> None:
        """Take steps: up to the next that is to be checked, and that one by itself."""
        end = self.taken + nstep
        while self.taken < end and not interrupts.wanted():
            wait = self._wait()
            if wait == 0:
                self._checked_step(data, advance)
            else:
                self._guarded(data, min(wait, end - self.taken), advance)

    def _wait(self) -> int:
        """Steps until the next one that is checked: the last of each period."""
        every = self.shadow.every
        if every is None:
            return 1 << 62
        return every - 1 - self.taken % every

    def _checked_step(self, data: Data, advance: Advance) -> None:
        shadow, step = self.shadow, self.taken
        worlds = self.worlds
        if isinstance(shadow.worlds, int):
            worlds = chosen_worlds(shadow.worlds, data.nworld, shadow.comparisons)
        inputs = take_inputs(data, worlds)
        self._guarded(data, 1, advance)
        beside = self._second(data)
        beside.step(inputs)
        errors = beside.errors(data, worlds, beside.specs(self.plan))
        shadow.comparisons += 1
        for rows in errors:
            shadow.note(rows, data)
        deviations = [row for rows in errors for row in rows if not row.ok]
        if deviations and shadow.first is not None:  # the slot is known already
            shadow.tell(f"a step deviates from the shadow: {deviations[0]}")
        elif deviations:
            found = beside.first_divergence(data, worlds, inputs, errors, step)
            assert found is not None  # a row is out of tolerance
            self._found(found, data, inputs, worlds, steps=1)

    def _second(self, data: Data) -> Beside:
        if self._beside is None or not self._beside.plan.is_current:
            nworld = None if data.nworld is None else len(self.worlds)
            self._beside = Beside.of(
                self.plan.model, self.ours, self.theirs, nworld, self.registry, self.shadow.tolerance
            )
        return self._beside

    def _found(
        self, found: Divergence, data: Data, inputs: dict[str, Array], worlds: Sequence[int], steps: int
    ) -> None:
        if self.shadow.first is None:
            dump = Dump(
                model=self.plan.model.copy(),
                ours=self.ours,
                theirs=self.theirs,
                inputs=inputs,
                nworld=None if data.nworld is None else len(worlds),
                worlds=tuple(worlds),
                step=found.step - steps + 1,
                steps=steps,
                slot=WHOLE_STEP,
                tolerance=self.shadow.tolerance,
                divergence=found,
            )
            self.shadow.keep_first(found, dump)
        self.shadow.tell(f"{found.slot} deviates: {found}")

    # ---- guards

    def _guarded(self, data: Data, nstep: int, advance: Advance) -> None:
        """Take steps; where a state goes bad in one, repeat them in that world beside the shadow."""
        shadow, start = self.shadow, self.taken
        if not shadow.on_guard:
            advance(data, nstep)
            self.taken += nstep
            return
        shadow._bad.clear()
        before = {name: np.array(data.field(name)) for name in data.state}
        try:
            advance(data, nstep)
        except BadStateError as error:
            self.taken += nstep
            self._repeat(data, before, start, nstep, shadow._bad or _bad_worlds(data, str(error)))
            raise
        self.taken += nstep
        if shadow._bad:
            self._repeat(data, before, start, nstep, shadow._bad)

    def _repeat(
        self, data: Data, before: dict[str, Array], start: int, nstep: int, bad: Sequence[tuple[int, str]]
    ) -> None:
        """Run the worlds that went bad again, both plans step by step, up to where they part."""
        told: dict[int, str] = {}
        for world, text in bad:
            told.setdefault(world, text)
        for world in list(told)[:MOST_TRIPPED]:
            inputs = {
                name: np.array(values if data.nworld is None else values[world : world + 1])
                for name, values in before.items()
            }
            dump = Dump(
                model=self.plan.model.copy(),
                ours=self.ours,
                theirs=self.theirs,
                inputs=inputs,
                nworld=None if data.nworld is None else 1,
                worlds=(world,),
                step=start,
                steps=nstep,
                slot=WHOLE_STEP,
                tolerance=self.shadow.tolerance,
                divergence=None,
            )
            report = dump.replay(registry=self.registry)
            self.shadow.comparisons += 1
            self.shadow.note(report.rows, data)
            agrees = report.divergence is None
            self.shadow.trips.append(Trip(step=start, world=world, text=told[world], agrees=agrees))
            if report.divergence is not None:
                self.shadow.keep_first(report.divergence, attrs.evolve(dump, divergence=report.divergence))
                self.shadow.tell(f"{report.divergence.slot} deviates: {report.divergence}")
            elif self.shadow.dump is not None and self.shadow.first_dump is None:
                self.shadow.first_dump = dump
                dump.save(self.shadow.dump)


def _bad_worlds(data: Data, text: str) -> list[tuple[int, str]]:
    """Worlds in which some number is not finite, for a guard that does not say which."""
    count = data.nworld or 1
    bad = np.zeros(count, bool)
    for _, view in data.fields():
        values = np.asarray(view)
        if values.dtype.kind == "f" and values.size:
            bad |= ~np.isfinite(values.reshape(count, -1)).all(axis=1)
    return [(int(number), text) for number in np.flatnonzero(bad)]


@attrs.define(eq=False)
class _Companion:
    """The shadow's own runner and memory, for one Data of the simulation."""

    owner: Data
    slot: Slot
    isolated: Isolated
    data: Data
    inputs: tuple[str, ...]
    more: tuple[str, ...]
    """What the first implementation reads besides, and the state: with the inputs, all that a dump needs."""
    beside: str
    """The backend of the implementation it runs beside."""
    evaluation: int = 0
    calls: int = 0
    before: dict[str, Array] = attrs.field(factory=dict)

    @classmethod
    def of(cls, shadow: Shadow, slot: Slot, data: Data) -> _Companion:
        worlds = Worlds(nworld=data.nworld, precision=data.precision, lanes=data.arena.lanes)
        isolated = isolate(data.model, shadow.stage, shadow.implementation, worlds, registry=shadow.registry)
        record = isolated.slot.record
        if slot.integrates and record.evaluations != slot.record.evaluations:
            raise SelectionError(
                f"{slot.label}: {slot.record.label} needs {slot.record.evaluations} evaluation(s) per step, its "
                f"shadow {record.label} {record.evaluations}; they cannot run side by side"
            )
        if len(isolated.span) > 1:
            others = ", ".join(s.label for s in isolated.span if s.label != slot.label)
            raise SelectionError(
                f"{slot.label}: its shadow {record.label} shares kernel fields with {others}, so it cannot run "
                "beside this slot alone; use dovetail.compare.ab.compare, which runs them together"
            )
        needed = isolated.touches
        inputs = tuple(sorted(f for f in needed if f in DATA_SPECS and f in data))
        skipped = set(isolated.plan.skipped)
        absent = sorted(
            f
            for f in isolated.touches - isolated.leaves
            if f in DATA_SPECS and f not in data and DATA_SPECS[f].writer not in skipped
        )
        if absent:
            raise NotKeptError(
                f"shadow {record.label} of {slot.label} reads {', '.join(absent)}, which this plan does not keep; "
                f"make the Simulation with keep={tuple(absent)!r}"
            )
        own = make_data(
            data.model,
            data.nworld,
            precision=data.precision,
            lanes=data.arena.lanes,
            keep=tuple(sorted(needed)),
            extra=isolated.plan.extra_fields,
        )
        more = tuple(sorted(f for f in {*slot.reads, *data.state} if f in data and f not in inputs))
        return cls(data, slot, isolated, own, inputs, more, slot.record.backend)

    def take_inputs(self, all_of_them: bool) -> None:
        """Copy what the shadow reads, and what else a dump needs, before the first implementation changes it."""
        self.data.reserve(**{name: self.owner.sizes.get(name, 0) for name in CAPACITIES})
        for name in self.inputs:
            place = self.owner.arena.layout.places[name]
            own = self.data.arena.layout.places[name]
            self.data.arena.block(own)[:, : place.count] = self.owner.arena.block(place)
        if all_of_them:
            self.before = {name: np.array(self.owner.field(name)) for name in (*self.inputs, *self.more)}

    def deviations(self, shadow: Shadow) -> list[FieldError]:
        """Run the shadow and compare; the fields that deviate now."""
        evaluation, step = self.evaluation, self.calls
        self.isolated.run(self.data, self.evaluation)
        if self.isolated.slot.integrates:
            self.evaluation = (self.evaluation + 1) % self.isolated.plan.evaluations
        self.calls += 1
        specs = [s for s in self.isolated.written_specs if s.name in self.owner]
        now = Worst(self.owner.model, self.owner.precision, tolerance=shadow.tolerance)
        backends = {self.isolated.slot.record.backend, self.beside}
        compare_data(now, shadow.stage, specs, self.owner, self.data, reference=backends == {REFERENCE})
        shadow.note(now.sorted_rows(), self.owner)
        found = [row for row in now.sorted_rows() if not row.ok]
        if found and shadow.first is None:
            self._keep_first(shadow, found[0], step, evaluation)
        return found

    def _keep_first(self, shadow: Shadow, row: FieldError, call: int, evaluation: int) -> None:
        """The first deviation with the inputs of this call; its world is that of the worst entry."""
        where, _, number = row.where.partition(" in world ")
        world = int(number) if number else 0
        record = self.slot.record
        step = call // (self.isolated.plan.evaluations if self.slot.when == "always" else 1)
        found = Divergence.of(
            attrs.evolve(row, where=where),
            step=step,
            time=float(np.ravel(self.before["time"])[world]),
            world=world,
            first=record.label,
            second=self.isolated.slot.record.label,
        )
        batch = self.owner.nworld is not None
        inputs = {n: np.array(v[world : world + 1]) if batch else v for n, v in self.before.items()}
        lanes = self.owner.arena.lanes
        side = Side(stages={self.slot.label: record.label}, precision=self.owner.precision, lanes=lanes)
        second = {self.slot.label: self.isolated.slot.record.label}
        dump = Dump(
            model=self.owner.model.copy(),
            ours=side,
            theirs=attrs.evolve(side, stages=second),
            inputs=inputs,
            nworld=1 if batch else None,
            worlds=(world,),
            step=step,
            steps=1,
            slot=self.slot.label,
            evaluation=evaluation,
            tolerance=shadow.tolerance,
            divergence=found,
        )
        shadow.keep_first(found, dump)
