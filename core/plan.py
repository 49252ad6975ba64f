"""A plan: every decision about how to step a model, made once; then run straight.

`planner.compile_plan` makes it. `forward` and `step` run compiled segments; `explain()` tells what runs, why,
and what fell back.
"""

from __future__ import annotations

import pkgutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import attrs

from dovetail import interrupts, pipeline
from dovetail.arguments import instance, whole
from dovetail.backend import Runner, Segment, Slot, Wrapper, group_slots, live_in, written
from dovetail.compile_choice import compile_lines
from dovetail.contracts.arena import DEFAULT_MAX_BYTES
from dovetail.contracts.choices import Precision
from dovetail.contracts.derive import initial_values, make_data
from dovetail.contracts.enums import EnableBit
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.indices import check_indices, check_rings
from dovetail.contracts.types import DATA_SPECS, Data, Model
from dovetail.errors import MissingStageError, PlanError
from dovetail.flow import Contracts, Flow
from dovetail.guard import Guard
from dovetail.implementation import Implementation
from dovetail.per_world import check_patterns, data_name, specs_of
from dovetail.registry import Registry
from dovetail.replay import Replay
from dovetail.selection import REFERENCE, Choice
from dovetail.structure import StructureWatch


@attrs.frozen
class Missing:
    """A slot the model needs and nothing implements."""

    slot: str
    reason: str
    detail: str


@attrs.frozen
class Line:
    """One line of `explain()`."""

    slot: str
    implementation: str
    provider: str
    origin: str
    fallback: str
    segment: int
    wrapped_by: tuple[str, ...]


@attrs.frozen(kw_only=True, eq=False)
class Plan:
    """Chosen implementations, in order; segments are compiled on first use."""

    model: Model
    nworld: int | None
    precision: Precision
    threads: int
    lanes: int
    kept: frozenset[str]
    """Fields that the user keeps, or that stay by habit."""
    slots: tuple[Slot, ...]
    choices: Mapping[str, Choice]
    """By slot label, parts included."""
    missing: tuple[Missing, ...]
    skip_missing: bool
    """Whether to run although slots are missing."""
    skipped: tuple[str, ...]
    """Slots this model does not need."""
    unasked: tuple[Implementation, ...] = ()
    """Rows of installed packages that would add to what others compute, and that nobody asks for."""
    idle: tuple[str, ...]
    """Slots left out because nobody keeps or reads what they write."""
    wrappers: tuple[Wrapper, ...]
    registry: Registry
    contracts: Contracts
    """The kernel fields there are, and how they pass to and from Data."""
    options: Mapping[str, Any]
    replay: Replay | None = None
    """What fills kept fields that the plan's own slots do not (see `replay`)."""
    per_world: tuple[str, ...] = ()
    """Model fields that have values of their own in every world."""
    structure: StructureWatch
    """The Model values that the plan depends on."""
    partial: bool = False
    """Whether it is only some stages of another plan, on what the others left."""
    _programs: dict[str, list[_Step]] = attrs.field(factory=dict, init=False, repr=False)
    _turn: Any = attrs.field(factory=threading.RLock, init=False, repr=False)
    """Held while it runs: its kernels' memory is for one thread at a time."""

    @property
    def is_current(self) -> bool:
        """Whether the Model still has the values that the plan depends on."""
        return self.structure.holds() and all(captures.hold() for captures in self._captures)

    @cached_property
    def _captures(self) -> list[Any]:
        """What functions in its kernels take from around them."""
        return [c.record.captures for c in self.choices.values() if c.record.captures is not None]

    @cached_property
    def keep(self) -> frozenset[str]:
        """Fields a Data of this plan has: what is kept, what passes between segments, and what backends without
        memory of their own touch."""
        slots = list(self.slots)
        groups = group_slots(slots, self.wrappers)
        crossing = frozenset().union(*map(live_in, groups)) if len(groups) > 1 else frozenset[str]()
        in_place = [s for s in slots if self.registry.backend(s.record.backend).in_place]
        touched = frozenset[str]().union(*(slot.reads | slot.writes for slot in in_place))
        sources = [self.contracts.into[f] for fields in self.flow.imports for f in fields]
        passed = crossing.union(touched, *self.flow.exports, *sources) - self.contracts.fields.keys()
        return self.kept | passed | {data_name(field) for field in self.per_world}

    @cached_property
    def flow(self) -> Flow:
        """What passes between the slots of a step."""
        return self.flow_of(self.slots)

    def flow_of(self, slots: Sequence[Slot], later: frozenset[str] = frozenset()) -> Flow:
        """What passes between some slots; `later`: Data fields that are read after them."""
        labels = [slot.label for slot in self.slots]
        first = min((labels.index(slot.label) for slot in slots), default=0)
        return Flow.of(
            slots,
            self.wrappers,
            self.contracts,
            absent={*self.skipped, *(m.slot for m in self.missing)},
            earlier=self.slots[:first],
            wanted=self.kept | later,
        )

    def make_data(self, max_bytes: int = DEFAULT_MAX_BYTES) -> Data:
        """A Data with just the fields and the layout this plan works on."""
        return make_data(
            self.model,
            self.nworld,
            precision=self.precision,
            keep=self.keep,
            lanes=self.lanes,
            extra=self.extra_fields,
            max_bytes=max_bytes,
        )

    @property
    def extra_fields(self) -> tuple[FieldSpec, ...]:
        """Fields that the chosen implementations add, and values of the Model that every world has for itself."""
        fields = {f.name: f for choice in self.choices.values() for f in choice.record.fields}
        return (*fields.values(), *specs_of(self.per_world))

    @property
    def evaluations(self) -> int:
        """Forward evaluations per step."""
        return self.choices["integrate"].record.evaluations

    @property
    def implementations(self) -> dict[str, str]:
        """`name@backend/version` by slot: what a saved state records."""
        return {s: c.record.identity for s, c in self.choices.items()}

    def forward(self, data: Data) -> None:
        """Compute everything that follows from the state, without moving it."""
        self._take_on(data)
        with self._turn, self._suspecting_indices():
            self._look_first(data)
            for step in self._program("forward"):
                step.run(data, 1, 0)
            if self.replay is not None:
                self.replay.forward(data)
            self.structure.settle(self._only_kernels)

    def step(self, data: Data, nstep: int = 1) -> None:
        """Advance the state by `nstep` steps."""
        nstep = whole("nstep", nstep, 0, "STEPS")
        self._take_on(data)
        if not nstep:
            return
        with self._turn, interrupts.held_back(), self._suspecting_indices():
            self._step(data, nstep)

    def _step(self, data: Data, nstep: int) -> None:
        """Advance, and fill what is filled once per call; an interrupt makes it fewer steps."""
        self._look_first(data)
        if self.replay is None:
            self._advance(data, nstep)
        else:
            self._advance(data, nstep - 1)
            before = self.replay.remember(data)
            with interrupts.unheeded():
                self._advance(data, 1)
                self.replay.step(data, before)
        for look in self._program("late") if self.late else ():
            look.run(data, 1, 0)
        self.structure.settle(self._only_kernels)

    def _look_first(self, data: Data) -> None:
        """Evaluate once more before anything else, where an implementation asks for it after a reset."""
        if any(asks(self.model, data) for asks in self._first_looks):
            for step in self._program("forward"):
                step.run(data, 1, 0)

    @cached_property
    def _first_looks(self) -> list[Callable[[Model, Data], bool]]:
        """Functions of implementations that say whether they have to see an evaluation first."""
        facts = (choice.record.facts.get("looks_first") for choice in self.choices.values())
        return [pkgutil.resolve_name(target) for target in facts if target]

    def _advance(self, data: Data, nstep: int) -> None:
        """Take steps without a look back."""
        if not nstep:
            return
        program = self._program("step")
        if len(program) == 1 and program[0].whole_step:
            self._watched(data, lambda: program[0].run(data, nstep, 0))
            return
        for _ in range(nstep):
            self._watched(data, lambda: self._one_step(program, data))
            if interrupts.wanted():
                return

    def _one_step(self, program: list[_Step], data: Data) -> None:
        for evaluation in range(self.evaluations):
            for step in program:
                step.run(data, 1, evaluation)

    def _watched(self, data: Data, run: Callable[[], None]) -> None:
        """Run one launch; a backend that does not watch its worlds itself has them watched between launches."""
        if self._watches_itself:
            run()
            return
        guard = Guard(self.options.get("on_nan", "reset"))
        guard.watch(data, run)

    @cached_property
    def _watches_itself(self) -> bool:
        """Whether one backend runs the whole step and looks at every world itself."""
        program = self._program("step")
        if len(program) > 1 or not program[0].whole_step:
            return False
        return getattr(self.registry.backend(self.slots[0].record.backend), "watches", False)

    def segments(self, sequence: str = "step") -> list[list[Slot]]:
        """The slots of `forward` or `step`, segment by segment."""
        groups = group_slots(self._sequence(sequence), self.wrappers)
        return [*groups, list(self.late)] if sequence == "step" and self.late else groups

    @cached_property
    def late(self) -> tuple[Slot, ...]:
        """Observing rows of the reference that run once per call of `step`, after its last step: those behind a
        kernel which holds all the rest of the step, if nothing that they read changes after them in a step."""
        slots = self._in_steps()
        late = [slot for n, slot in enumerate(slots) if self._may_be_late(slot, slots[n + 1 :])]
        groups = group_slots([slot for slot in slots if slot not in late], self.wrappers)
        kernel = len(groups) == 1 and not self.registry.backend(groups[0][0].record.backend).in_place
        return tuple(late) if kernel and self.evaluations == 1 else ()

    def _may_be_late(self, slot: Slot, after: Sequence[Slot]) -> bool:
        others = [later for later in after if later.stage is not slot.stage]
        read = frozenset[str]().union(*(later.reads for later in others))
        return (
            (slot.stage.phase, slot.stage.kind, slot.record.backend) == ("observe", "table", REFERENCE)
            and not slot.zero
            and not self._wrappers_of(slot)
            and slot.reads.isdisjoint(written(others))
            and slot.leaves.isdisjoint(read)
        )

    @contextmanager
    def _suspecting_indices(self) -> Iterator[None]:
        """An index that NumPy finds out of bounds may be one of the Model, in a field too large to be watched."""
        try:
            yield
        except IndexError:
            check_indices(self.model)
            raise

    @cached_property
    def _only_kernels(self) -> bool:
        """Whether nothing runs on the Model itself."""
        return not any(self.registry.backend(slot.record.backend).in_place for slot in self.slots)

    def prepare(self, sequence: str = "step") -> None:
        """Compile a sequence now instead of at its first run."""
        self._program(sequence)

    def runners(self, sequence: str = "step") -> list[Runner]:
        """The compiled segments of a sequence, in order."""
        return [step.run for step in self._program(sequence)]

    def fits(self, data: Data) -> bool:
        """Whether a Data has the model, worlds, precision and fields this plan works on."""
        return not self._misfit(data)

    def _misfit(self, data: Data) -> str:
        """Why a Data does not fit, or an empty string."""
        instance("data", data, Data, "a dovetail.Data")
        if data.model is not self.model:
            return f"it belongs to another model, {data.model!r}"
        for what, there, here in (
            ("nworld", data.nworld, self.nworld),
            ("precision", data.precision, self.precision),
            ("worlds per tile", data.arena.lanes, self.lanes),
        ):
            if there != here:
                return f"its {what} is {there}, the plan's {here}"
        absent = sorted(f for f in self.keep if f not in data)
        return f"it lacks {', '.join(absent[:5])}" if absent else ""

    def _take_on(self, data: Data) -> None:
        """See that indices of the Model are well, and that a Data fits. What another plan left in fields that this
        one does not fill is cleared: without contacts there are none."""
        self.structure.check_indices()
        self._check(data)
        if self.model.opt.enableflags & EnableBit.SLEEP and "tree_asleep" in data:
            check_rings(data)
        if not self.partial and data.served_by is not self:
            for name in self._unfilled:
                if name in data:
                    spec = DATA_SPECS[name]
                    data.field(name)[...] = initial_values(self.model, spec)
            data.note_plan(self)

    @cached_property
    def _unfilled(self) -> tuple[str, ...]:
        """Fields that stages of a step compute, and no slot of this plan. What only looks leaves its last reading, as
        in MuJoCo."""
        filled = written(self.slots).union(*self.flow.exports, self.contracts.constant)
        filled |= set() if self.replay is None else set(self.replay.fields)
        computing = {name for name in pipeline.STEP if pipeline.STAGES[name].phase != "observe"}
        return tuple(
            name for name, spec in DATA_SPECS.items() if spec.writer in computing and name not in filled
        )

    def _check(self, data: Data) -> None:
        if self.missing and not self.skip_missing:
            raise missing_error(self.model, self.missing)
        why = self._misfit(data)
        if why:
            raise PlanError(f"this Data was not made for this plan ({why}); use plan.make_data()")
        check_patterns(self.model, data, self.per_world)

    def _program(self, sequence: str) -> list[_Step]:
        if sequence not in self._programs:
            check_indices(self.model)  # also what other sequences do not read
            late = self.late if sequence == "step" else ()
            later = frozenset[str]().union(*(slot.reads for slot in late))
            flow = self.flow_of(self._sequence(sequence), later)
            whole = sequence == "step" and len(flow.groups) == 1
            self._programs[sequence] = [self._compile(flow, n, whole) for n in range(len(flow.groups))]
        return self._programs[sequence]

    def inspect(self) -> None:
        """Have backends look at slots that others wrote: what they touch without declaring it is an error now, not
        when the plan runs."""
        for number, group in enumerate(self.flow.groups):
            backend = self.registry.backend(group[0].record.backend)
            look = getattr(backend, "inspect", None)
            strange = any(not slot.record.is_builtin for slot in group)
            if look is not None and strange and not self.missing:
                look(self.segment(self.flow, number, whole=False))

    def _sequence(self, sequence: str) -> list[Slot]:
        """The slots of `forward`, of every step, or those that are `late`."""
        if sequence == "forward":
            return [slot for slot in self.slots if slot.stage.name in pipeline.FORWARD]
        return [slot for slot in self._in_steps() if (slot in self.late) == (sequence == "late")]

    def _in_steps(self) -> list[Slot]:
        names = {*pipeline.STEP, "step_begin", "step_end"}
        return [slot for slot in self.slots if slot.stage.name in names]

    def _compile(self, flow: Flow, number: int, whole: bool) -> _Step:
        segment = self.segment(flow, number, whole)
        first = segment.slots[0]
        runner = self.registry.backend(first.record.backend).compile(segment)
        wrappers = self._wrappers_of(first)
        return _Step(_wrapped(runner, first, wrappers, self.evaluations), whole and not wrappers)

    def segment(self, flow: Flow, number: int, whole: bool) -> Segment:
        """One segment of a flow, with all that a backend needs to compile it."""
        group = flow.groups[number]
        return Segment(
            model=self.model,
            structure=self.structure.watched,
            slots=tuple(group),
            load=tuple(sorted({*(live_in(group) & self.keep), *map(data_name, self.per_world)})),
            store=tuple(sorted(written(group) & self.keep)),
            whole_step=whole,
            evaluations=self.evaluations,
            extra_shapes={f.name: f.dims(dict(self.model.sizes)) for f in self.extra_fields},
            lanes=self.lanes,
            precision=self.precision,
            threads=self.threads,
            options=self.options,
            per_world=self.per_world,
            facts={slot: dict(c.record.facts) for slot, c in self.choices.items() if c.record.facts},
            kernel_fields=self.contracts.fields,
            transfers=self.contracts.transfers,
            imports=frozenset(flow.imports[number]),
            exports=frozenset(flow.exports[number]),
            empty=frozenset(flow.empty),
        )

    def _wrappers_of(self, slot: Slot) -> list[Wrapper]:
        return [w for w in self.wrappers if w.wants(slot.label)]

    @cached_property
    def _segment_numbers(self) -> dict[str, int]:
        groups = enumerate(self.segments("step"), start=1)
        return {slot.label: number for number, group in groups for slot in group}

    def lines(self) -> list[Line]:
        """What runs, in order, one entry per slot and part."""
        lines = []
        for slot in self._in_steps():
            lines.append(self._line(slot.label, slot, tuple(w.name for w in self._wrappers_of(slot))))
            lines += [self._line(label, slot, ()) for label in slot.part_choices]
        return lines

    def _line(self, label: str, slot: Slot, wrapped: tuple[str, ...]) -> Line:
        choice: Choice = slot.part_choices.get(label) or self.choices[label]
        return Line(
            slot=label,
            implementation=choice.record.label,
            provider=choice.record.provider,
            origin=choice.origin,
            fallback=choice.fallback,
            segment=self._segment_numbers[slot.label],
            wrapped_by=wrapped,
        )

    def explain(self) -> str:
        """The plan as text: each slot, its implementation, who chose it, and what fell back or is missing."""
        rows = self.lines()
        width = max((len(n) for n in (*(r.slot for r in rows), *(m.slot for m in self.missing))), default=0)
        label = max((len(r.implementation) for r in rows), default=0)
        text = [self.headline()]
        for row in rows:
            note = f"; fell back: {row.fallback}" if row.fallback else ""
            note += f"; wrapped by {', '.join(row.wrapped_by)}" if row.wrapped_by else ""
            note += f"; from {row.provider}" if row.provider != "dovetail" else ""
            text.append(
                f"  {row.segment:>2}  {row.slot:<{width}}  {row.implementation:<{label}}  ({row.origin}{note})"
            )
        if self.skipped:
            text.append(f"   -  not needed by this model: {', '.join(self.skipped)}")
        if self.idle:
            text.append(f"   -  left out, results not kept: {', '.join(self.idle)}")
        text += [f"   -  {line}" for line in compile_lines(self.model)]
        for record in self.unasked:
            text.append(f"   -  installed, not asked for: {record.slot} {record.label} of {record.provider}")
        text += self._price_of_segments()
        if self.per_world:
            text.append(f"   -  with values per world: {', '.join(self.per_world)}")
        if self.replay is not None:
            text.append(
                "   +  repeated with the reference after the last step of a call, world by world, for: "
                + ", ".join(self.replay.fields)
            )
        text += [f"  !!  {m.slot:<{width}}  MISSING, needed by {m.reason}" for m in self.missing]
        return "\n".join(text)

    def _price_of_segments(self) -> list[str]:
        """What it costs that a kernel does not hold the whole step."""
        groups = group_slots(self._sequence("step"), self.wrappers)
        kernels = {group[0].record.backend for group in groups} - {REFERENCE}
        text = []
        for number, fields in enumerate(self.flow.imports, start=1):
            if fields:
                groups_of = ", ".join(sorted({f.partition(".")[0] for f in fields}))
                text.append(
                    f"   >  segment {number} takes {groups_of} from Data, sorted into tiles before each launch"
                )
        if self.late:
            labels = ", ".join(slot.label for slot in self.late)
            text.append(f"   -  once per call, after its last step, world by world: {labels}")
        if len(groups) > 1 and kernels:
            text.append(f"   -  steps are launched one by one, {len(groups)} segments each")
        return text

    def headline(self) -> str:
        count = len(self.segments("step"))
        worlds = "one world" if self.nworld is None else f"{self.nworld} worlds, {self.lanes} per tile"
        name = self.model.modelname or self.model.source
        return (
            f"plan for {name!r}: {worlds}, {self.precision}, {self.threads} thread{'s'[: self.threads > 1]}, "
            f"{count} segment{'s'[: count > 1]} a step"
        )


@attrs.frozen
class _Step:
    """A compiled segment with its wrappers around it."""

    run: Runner
    whole_step: bool


def _wrapped(runner: Runner, slot: Slot, wrappers: Sequence[Wrapper], evaluations: int) -> Runner:
    """The runner, inside its wrappers; each wrapper is asked once, here. Where the slot does not run, neither do
    they."""
    if not wrappers:
        return runner
    arguments = [1, 0]

    def call(data: Data) -> None:
        runner(data, *arguments)

    outer: Callable[[Data], None] = call
    for wrapper in wrappers:
        outer = wrapper.wrap(slot, outer)

    only = {"first": 0, "last": evaluations - 1}.get(slot.when)

    def run(data: Data, nstep: int, evaluation: int) -> None:
        if only is not None and evaluation != only:
            return
        arguments[:] = nstep, evaluation
        outer(data)

    return run


def missing_error(model: Model, missing: Iterable[Missing]) -> MissingStageError:
    """The error for a plan with holes."""
    lines = "\n".join(f"  - {m.slot}: needed by {m.reason}" for m in missing)
    return MissingStageError(
        f"model {model.modelname or model.source!r} needs stages that no installed plugin implements:\n{lines}\n"
        'Disable what needs them (as <option><flag constraint="disable"/></option>, or '
        'model.opt.disableflags), or compile the plan with missing="skip" to leave them out knowingly'
    )
