"""Fusing lane stages: from builders to one description of a kernel, which a printer turns into source.

A tile is W worlds side by side. Each thread owns a slot: a scratch tile in which the stages compute. For every tile
of the Data arena the kernel copies the fields it needs into scratch, runs all steps there, and copies the kept fields
back. Here the stages are traced in order, what they touch is compared with what their records declare, what nobody
needs is dropped, and everything that is left gets its place. What runtime prints and runs it is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.blocks import Trace
from dovetail.backends.lanes.exports import Export, Exports, memory_name, wanted_memories
from dovetail.backends.lanes.imports import imports_of
from dovetail.backends.lanes.kernel import (
    FORGOTTEN,
    INTEGERS,
    LACKING,
    PRIVATE,
    PROGRAM,
    REALS,
    FieldPlace,
    Kernel,
    LaneError,
    LaneLayout,
)
from dovetail.backends.lanes.landings import Landings, PlacedLandings
from dovetail.backends.lanes.lifetimes import Lifetime, lifetimes
from dovetail.backends.lanes.live import Live, find_live
from dovetail.blame import blame
from dovetail.errors import PerWorldError
from dovetail.implementation import Implementation
from dovetail.recorded_model import RecordedModel
from dovetail.signatures import signature

AGAIN = "watch/again"
"""Integer of the program by which `bad_states` says that an evaluation must be repeated."""

OPTIONAL_BUFFERS = ("R", "MF")
"""What a kernel gets only if a stage needs it, since every argument makes a launch dearer: scratch of uniform reals,
and the Model's single precision numbers."""

Role = Literal["stage", "begin", "before_step", "before_integration", "end"]
"""A stage, or a look at the worlds (see `bad_states`): before the first step of a tile, before each step,
before each integration, after the last step."""


@attrs.frozen(kw_only=True)
class LaneStage:
    """One slot of the fused kernel."""

    stage: str
    name: str
    builder: Callable[..., None]
    reads: frozenset[str]
    writes: frozenset[str]
    key: str | None = None
    parts: Mapping[str, Mapping[str, Callable[..., Any]]] = attrs.field(factory=dict)
    """Tables a dispatching stage chooses from: parts["actuator_gain"]["fixed"]."""
    first_only: bool = False
    """Runs in evaluation 0 only (sensor, energy)."""
    integrate: bool = False
    """Gets the evaluation as second argument, and ends the step."""
    role: Role = "stage"
    """What it is to the program: a stage, or a part of the looks at the worlds."""
    group: str = attrs.field(default=attrs.Factory(lambda self: self.stage, takes_self=True))
    """Neighbours of one group are repeated together in a repeatable program."""
    record: Implementation | None = attrs.field(default=None, eq=False, repr=False)
    """Whom to name on an exception of the builder; None for what the program itself adds."""

    @property
    def label(self) -> str:
        return "_".join(filter(None, (self.stage, self.key, self.name)))

    @property
    def described(self) -> str:
        """All of it that is not a function."""
        when = (self.first_only, self.integrate, self.role, self.group)
        return f"{self.label} {when} {sorted(self.reads)} {sorted(self.writes)}"

    @property
    def origin(self) -> str:
        """Whose it is, where it is not dovetail's."""
        return "" if self.record is None or self.record.is_builtin else f" of {self.record.provider}"

    def on(self, backend: str) -> str:
        """Its name in messages."""
        slot = self.stage if self.key is None else f"{self.stage}:{self.key}"
        return f"{slot} ({self.name}@{backend})"


def clear_stage(*fields: str, stage: str = "clear") -> LaneStage:
    """A slot that zeroes fields to which several rows of a table will add."""

    def clear(k: Kernel) -> None:
        for name in fields:
            field = getattr(k.data, name)
            with k.loop(0, field.shape[0]) as i:
                field[i] = 0.0

    return LaneStage(
        stage=stage,
        name="zero",
        builder=clear,
        reads=frozenset(),
        writes=frozenset(fields),
        key="_".join(fields),
    )


@attrs.frozen(kw_only=True)
class Sources:
    """What to fuse."""

    stages: Sequence[LaneStage]
    layout: LaneLayout
    """What they can address; `growth` is taken from the target."""
    data_places: Mapping[str, FieldPlace]
    """Where fields lie in the Data arena."""
    initial: Mapping[str, NDArray[Any]]
    """First content of scratch memory."""
    load: Sequence[str]
    store: Sequence[str]
    converted: Sequence[str] = ()
    """Fields that are loaded from a buffer of their own, one after another: numbers that Data does not hold as
    reals."""
    evaluations: int = 1
    landings: Landings = attrs.field(factory=Landings)
    """Data fields to be made of kernel memory after the last step."""
    exports: Sequence[Export] = ()
    """Kernel fields to hand out after the last step; what no stage uses is left out."""
    repeatable: bool = False
    """Whether each group of stages runs as often as `FusedKernel.repeats` says: to measure its time."""
    empty: Container[str] = ()
    """Kernel fields that hold nothing in this plan: no stage writes them, and they stay zero."""
    imported: Collection[str] = ()
    """Kernel fields that are brought in when a tile begins."""
    identity: str | None = None
    """What the builders are, and all that they were told besides what stands here; None if no name says it."""
    recorded: RecordedModel | None = None
    """The Model as builders see it: what they look at is noted."""


@attrs.frozen(kw_only=True)
class Target:
    """What a kernel is made for."""

    lanes: int = 8
    """Worlds of a tile."""
    precision: str = "f64"
    threads: int = 1
    options: Mapping[str, Any] = attrs.field(factory=dict)
    """Settings of the plan, of which a backend knows its own, as its runtime."""
    growth: int = 1
    """How many times their usual room lists have."""
    backend: str = "lanes"
    """The name that messages give implementations: `newton@lanes`."""
    lands: bool = False
    """Whether the kernel writes what lands to its places in Data; else that is exported."""


@attrs.frozen
class Run:
    """Neighbouring rows to copy between scratch and another buffer."""

    scratch: int
    far: int
    count: int


class Rows(NamedTuple):
    """Lengths of a slot's scratch memory: of numbers per world, of uniform integers, of uniform reals."""

    numbers: int
    integers: int
    reals: int


@attrs.frozen
class FusedStage:
    """A stage that has been traced."""

    stage: LaneStage
    function: str
    """Its name in the kernel."""
    kernel: Kernel

    @property
    def trace(self) -> Trace:
        return self.kernel.trace

    @property
    def title(self) -> str:
        """The stage in words, as `solve_constraints newton`, with what is special about when it runs."""
        name = " ".join(filter(None, (self.stage.stage, self.stage.key, self.stage.name)))
        return f"{name}, in the first evaluation only" if self.stage.first_only else name


@attrs.frozen(kw_only=True)
class FusedKernel:
    """Everything that a printer needs to know of a kernel."""

    stages: tuple[FusedStage, ...]
    """In the order in which they run, with the looks at the worlds among them."""
    live: Live
    lanes: int
    precision: str
    evaluations: int
    places: Mapping[str, FieldPlace]
    """Where each memory lies in its kind of scratch (see `kind_of_memory`)."""
    rows: Rows
    tables: Mapping[str, int]
    """Where each table begins in `table`."""
    table: NDArray[Any]
    """Constant integers of all stages."""
    table_fields: Mapping[str, NDArray[Any]]
    """Kernel fields that are tables."""
    load: tuple[Run, ...]
    store: tuple[Run, ...]
    converted: tuple[Run, ...]
    converted_rows: int
    """Rows of the fields that come from a buffer of their own."""
    exports: Exports
    landings: Landings
    """What becomes Data fields when a tile is done."""
    landed: PlacedLandings
    """What of it the kernel itself writes to its places in Data; the rest is exported."""
    imports: Exports
    """What is copied into a tile before its first step, in buffers of the same form."""
    optional: tuple[str, ...]
    """Those of OPTIONAL_BUFFERS that it has."""
    repeats: Mapping[str, int]
    """Groups of stages of a repeatable kernel: where in `table` stands how often each runs."""
    first: NDArray[Any]
    """What the numbers of a slot's scratch hold at first, the same for all worlds (rows.numbers)."""
    lifetimes: Mapping[str, Lifetime]
    """How long each memory holds what is in it."""

    @property
    def lacking(self) -> int | None:
        """The integer by which a tile says how many times more room its lists need, if any list may lack some."""
        return self._integer(LACKING)

    @property
    def again(self) -> int | None:
        """The integer that says that an evaluation must be repeated, if the worlds are looked at."""
        return self._integer(memory_name(AGAIN, integers=True, owner=PROGRAM))

    @property
    def forgotten(self) -> tuple[FieldPlace, ...]:
        """Integers that are to be zero before the first step of a tile."""
        return tuple(place for memory, place in self.places.items() if memory.endswith(FORGOTTEN))

    def _integer(self, memory: str) -> int | None:
        return self.places[memory].offset if memory in self.places else None

    @property
    def fields(self) -> frozenset[str]:
        """Data fields that it touches after unneeded results were dropped."""
        return frozenset(name for name in self.live.memories if PRIVATE not in name)

    def with_role(self, role: Role) -> list[FusedStage]:
        """The stages, or the looks at the worlds, that have a role."""
        return [fused for fused in self.stages if fused.stage.role == role]


def kind_of_memory(name: str) -> Literal["numbers", "integers", "reals"]:
    """What a memory holds: numbers per world, uniform integers or uniform reals."""
    return "integers" if name.endswith(INTEGERS) else "reals" if name.endswith(REALS) else "numbers"


def fuse(sources: Sources, target: Target) -> FusedKernel:
    """Trace the stages in the order given, drop what nobody needs, and give everything its place."""
    _check_placed(sources.data_places, sources.load, sources.store)
    layout = attrs.evolve(sources.layout, growth=target.growth, memo=dict(sources.layout.memo))
    traced = trace_stages(sources, layout, target)
    _check_loaded(traced, [*sources.load, *sources.converted], target.backend)
    _reach(traced, sources)
    landed = sources.landings.exports
    wanted = sources.exports if target.lands else [*sources.exports, *landed]
    exports = [e for e in wanted if _is_used(e, traced)]
    imports = imports_of(sources.imported, layout.kernel_fields)
    all_out = [*exports, *(e for e in landed if _is_used(e, traced))]
    kept = [*sources.store, *_kept(traced, all_out), *_lengths(traced, imports)]
    live = find_live([(t.function, t.trace) for t in traced], kept)
    shapes = _shapes(layout.data, traced)
    places, rows = _all_places(live.memories, shapes, sources.data_places)
    converted_places, converted_rows = _in_order(sources.converted, shapes)
    offsets, table = _table_places(traced)
    repeats = _repeats(sources, len(table))
    return FusedKernel(
        stages=tuple(traced),
        live=live,
        lanes=target.lanes,
        precision=target.precision,
        evaluations=sources.evaluations,
        places=places,
        rows=rows,
        tables=offsets,
        table=np.concatenate([table, np.ones(len(repeats), np.int32)]),
        table_fields={**layout.given_tables, **(traced[0].kernel.table_fields if traced else {})},
        load=copy_runs(sources.load, places, sources.data_places),
        store=copy_runs(sources.store, places, sources.data_places),
        converted=copy_runs(sources.converted, places, converted_places),
        converted_rows=converted_rows,
        exports=Exports.of(exports, places),
        landings=sources.landings,
        landed=PlacedLandings.of(sources.landings if target.lands else Landings(), places),
        imports=Exports.of(imports, places),
        optional=_optional_buffers(traced),
        repeats=repeats,
        first=_first_content(places, rows.numbers, sources.initial),
        lifetimes=_lifetimes(sources, traced, live.memories),
    )


# ---- tracing


def trace_stages(sources: Sources, layout: LaneLayout, target: Target) -> list[FusedStage]:
    """Run every builder once."""
    kept, stages = set(sources.store), sources.stages
    read_by = {name: {n for n, s in enumerate(stages) if name in s.reads} for s in stages for name in s.reads}
    traced = []
    tables: dict[str, NDArray[Any]] = {}
    table_fields: dict[str, NDArray[Any]] = {}
    filled: set[str] = set()
    for n, stage in enumerate(stages):

        def needed(name: str, n: int = n) -> bool:
            return name in kept or bool(read_by.get(name, set()) - {n})

        function = f"s{n:02d}_{stage.label}"
        kernel = Kernel(
            layout,
            function,
            needed,
            target.precision,
            target.lanes,
            tables=tables,
            table_fields=table_fields,
        )
        with _named_errors(stage, target.backend), _per_world_errors(stage, kernel, target.backend):
            _build(stage, kernel)
        _check_declared(stage, kernel, target.backend)
        _check_filled(stage, kernel, filled, sources, target.backend)
        filled |= stage.writes
        traced.append(FusedStage(stage, function, kernel))
    return traced


@contextmanager
def _named_errors(stage: LaneStage, backend: str) -> Iterator[None]:
    """Say which implementation a builder's mistake is in."""
    try:
        yield
    except LaneError as error:
        raise LaneError(f"{stage.on(backend)}: {error}") from error


@contextmanager
def _per_world_errors(stage: LaneStage, kernel: Kernel, backend: str) -> Iterator[None]:
    """Say which values per world a builder cannot do with."""
    try:
        yield
    except LaneError as error:
        if not kernel.per_world:
            raise
        fields = ", ".join(sorted(kernel.per_world))
        raise PerWorldError(
            f"{stage.on(backend)} cannot work with values per world of {fields}: {error}. "
            f"Take what it "
            f'cannot do with out of per_world, or run this stage on NumPy: stages={{"{stage.stage}": "@numpy"}}'
        ) from error


def _build(stage: LaneStage, kernel: Kernel) -> None:
    extra: list[Any] = []
    if stage.integrate:
        extra.append(kernel.evaluation)
    if stage.parts or "parts" in signature(stage.builder).parameters:
        extra.append(stage.parts)
    try:
        stage.builder(kernel, *extra)
        kernel.finish()
    except Exception as error:
        if stage.record is not None:
            blame(error, stage.record)
        raise


def _check_declared(stage: LaneStage, kernel: Kernel, backend: str) -> None:
    """A stage touches only what its record declares: fusion, transfers and A/B comparison rely on it."""
    undeclared = {
        "writes": sorted(kernel.writes - stage.writes),
        "reads": sorted(kernel.reads - stage.reads - stage.writes),
    }
    problems = [f"{verb} {', '.join(names)}" for verb, names in undeclared.items() if names]
    if problems:
        error = LaneError(
            f"{stage.on(backend)}{stage.origin} {' and '.join(problems)} without declaring it: "
            "add the fields to the implementation's record"
        )
        if stage.record is not None:
            blame(error, stage.record)
        raise error


def _check_filled(
    stage: LaneStage, kernel: Kernel, filled: Container[str], sources: Sources, backend: str
) -> None:
    """A kernel field exists in a tile only after a stage of the program that writes it has run; one that this stage
    then left out, since the model does not need it, is zero."""
    known = sources.layout.kernel_fields
    missing = [
        name
        for name in sorted(kernel.read_first)
        if name in known
        and known[name].kind != "table"
        and not any(name in there for there in (filled, sources.empty, sources.imported))
    ]
    if missing:
        raise LaneError(
            f"{stage.on(backend)} reads {', '.join(missing)}, which no earlier stage of the program writes"
        )


def _check_loaded(stages: Sequence[FusedStage], load: Iterable[str], backend: str) -> None:
    """A field read before it is written must come from the arena, else a tile would see another tile's.

    One that no stage writes and that is not loaded keeps its initial value. Kernel fields were looked at before.
    """
    available = set(load)
    written = {name for t in stages for name in t.kernel.writes} - set(
        stages[0].kernel.layout.kernel_fields if stages else ()
    )
    for t in stages:
        missing = sorted((t.kernel.read_first - available) & written)
        if missing:
            raise LaneError(
                f"{t.stage.on(backend)} reads {', '.join(missing)}, which the program writes only after that, and "
                "which is not in `load`"
            )
        available |= t.kernel.writes


def _check_placed(places: Mapping[str, FieldPlace], *lists: Sequence[str]) -> None:
    absent = sorted({n for names in lists for n in names} - set(places))
    if absent:
        raise LaneError(f"fields to load or store have no place in the Data arena: {', '.join(absent)}")


def _kept(traced: Sequence[FusedStage], exports: Sequence[Export]) -> list[str]:
    """Memory that must be computed besides the fields to store."""
    lacking = [LACKING] if any(LACKING in t.kernel.private for t in traced) else []
    looks = any(t.stage.role == "before_step" for t in traced)
    again = [memory_name(AGAIN, integers=True, owner=PROGRAM)] if looks else []
    return [*lacking, *wanted_memories(exports), *again]


def _is_used(export: Export, traced: Sequence[FusedStage]) -> bool:
    """Whether some stage knows the memory."""
    return any(export.memory in t.kernel.private for t in traced)


def _reach(traced: Sequence[FusedStage], sources: Sources) -> None:
    """Give imported fields that only pass through the kernel, to be exported again, a place there."""
    for export in (*sources.exports, *sources.landings.exports):
        for name in (export.name, export.count):
            if name in sources.imported:
                traced[-1].kernel.kernel_field(name)


def _lengths(traced: Sequence[FusedStage], imports: Sequence[Export]) -> set[str]:
    """Memory for the lengths of imported lists that some stage uses."""
    used = set[str]().union(*(t.kernel.private for t in traced))
    return {e.count_memory for e in imports if e.count and e.memory in used and e.count_memory in used}


# ---- places


def _shapes(data: Mapping[str, tuple[int, ...]], traced: Sequence[FusedStage]) -> dict[str, tuple[int, ...]]:
    """Shapes of fields and of scratch memory, on which stages that share some must agree."""
    known = dict(data)
    for t in traced:
        for name, shape in t.kernel.private.items():
            if known.setdefault(name, shape) != shape:
                raise LaneError(f"{name} is used with shape {shape} and with {known[name]}")
    return known


def _all_places(
    memories: Iterable[str], shapes: Mapping[str, tuple[int, ...]], arena: Mapping[str, FieldPlace]
) -> tuple[dict[str, FieldPlace], Rows]:
    """Places in all kinds of scratch, and how long those become."""
    places: dict[str, FieldPlace] = {}
    lengths = []
    for kind in ("numbers", "integers", "reals"):
        own = [name for name in memories if kind_of_memory(name) == kind]
        found, length = assign_places(own, shapes, arena)
        places.update(found)
        lengths.append(length)
    return places, Rows(*lengths)


def assign_places(
    names: Iterable[str], shapes: Mapping[str, tuple[int, ...]], arena: Mapping[str, FieldPlace]
) -> tuple[dict[str, FieldPlace], int]:
    """Rows of the scratch tile: arena fields first and in arena order, so that copies are long runs."""
    order = sorted(names, key=lambda n: (n not in arena, arena[n].offset if n in arena else 0, n))
    places: dict[str, FieldPlace] = {}
    row = 0
    for name in order:
        places[name] = FieldPlace(row, shapes[name])
        row += places[name].count
    return places, row


def _in_order(
    names: Sequence[str], shapes: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, FieldPlace], int]:
    """Places one after another."""
    places: dict[str, FieldPlace] = {}
    row = 0
    for name in names:
        places[name] = FieldPlace(row, shapes[name])
        row += places[name].count
    return places, row


def copy_runs(
    names: Iterable[str], scratch: Mapping[str, FieldPlace], arena: Mapping[str, FieldPlace]
) -> tuple[Run, ...]:
    """What to copy, neighbours joined."""
    runs: list[Run] = []
    present = [n for n in set(names) if n in scratch and scratch[n].count]
    for name in sorted(present, key=lambda n: scratch[n].offset):
        row, far, count = scratch[name].offset, arena[name].offset, scratch[name].count
        if runs and runs[-1].scratch + runs[-1].count == row and runs[-1].far + runs[-1].count == far:
            runs[-1] = attrs.evolve(runs[-1], count=runs[-1].count + count)
        else:
            runs.append(Run(row, far, count))
    return tuple(runs)


def _table_places(traced: Sequence[FusedStage]) -> tuple[dict[str, int], NDArray[Any]]:
    """Where each table begins in one array of all their integers."""
    offsets: dict[str, int] = {}
    parts: list[NDArray[Any]] = []
    total = 0
    for name, numbers in (traced[0].kernel.tables if traced else {}).items():
        offsets[name] = total
        parts.append(numbers.reshape(-1))
        total += numbers.size
    return offsets, np.concatenate([*parts, np.zeros(1, np.int32)])


def _repeats(sources: Sources, first: int) -> dict[str, int]:
    """Where in the table stands how often each group of stages runs, if the kernel is repeatable."""
    own = [stage.group for stage in sources.stages if stage.role == "stage"]
    groups = list(dict.fromkeys(own)) if sources.repeatable else []
    return {group: first + n for n, group in enumerate(groups)}


def _lifetimes(
    sources: Sources, traced: Sequence[FusedStage], memories: Collection[str]
) -> dict[str, Lifetime]:
    """How long each memory holds what is in it."""
    imported = imports_of(sources.imported, sources.layout.kernel_fields)
    return lifetimes(
        memories,
        {name: lifetime for t in traced for name, lifetime in t.kernel.lifetimes.items()},
        taken_over={*sources.load, *sources.converted, *wanted_memories(imported)},
        written={name for t in traced for name in t.kernel.writes},
    )


def _optional_buffers(traced: Sequence[FusedStage]) -> tuple[str, ...]:
    """Buffers that some stage needs beyond those every kernel has."""
    needed = set[str]().union(*(t.kernel.buffers for t in traced))
    return tuple(name for name in OPTIONAL_BUFFERS if name in needed)


def _first_content(
    places: Mapping[str, FieldPlace], rows: int, initial: Mapping[str, NDArray[Any]]
) -> NDArray[Any]:
    """The reset values, so that constants such as the world body's frame are there."""
    one = np.zeros(rows)
    for name, place in places.items():
        if name in initial:
            one[place.offset : place.offset + place.count] = np.ravel(initial[name])
    return one
