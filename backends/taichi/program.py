"""Fusing lane stages into one kernel, and running it.

A tile is W worlds side by side. Each thread owns a slot: a scratch tile in which the stages compute. For every tile
of the Data arena the kernel copies the fields it needs into scratch, runs all steps there, and copies the kept
fields back. Sizes and offsets are literals of the generated source, loops are loops, Model values are read from the
packed buffers at run time; so editing the Model in place needs no new kernel.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.blocks import Trace
from dovetail.backends.lanes.kernel import (
    INTEGERS,
    LACKING,
    PRIVATE,
    REALS,
    FieldPlace,
    Kernel,
    LaneError,
    Layout,
)
from dovetail.backends.taichi import progress
from dovetail.backends.taichi import runtime as runtimes
from dovetail.backends.taichi.cache import (
    forgotten_on_failure,
    load_module,
    writable_directory,
    write_module,
)
from dovetail.backends.taichi.emit import (
    BUFFERS,
    OPTIONAL_BUFFERS,
    STAGE_ARGUMENTS,
    Live,
    any_lane,
    find_live,
    stage_source,
)
from dovetail.backends.taichi.exports import Export, Exports, Outbox, memory_name, wanted_memories
from dovetail.contracts.arena import ALIGNMENT, aligned_zeros
from dovetail.errors import PerWorldError

__all__ = ["FieldPlace", "LaneStage", "Program", "clear_stage", "compile_program"]

logger = logging.getLogger(__name__)

SPREAD = 512
"""A top-level loop this much longer than its slots is dealt out one slot per thread (the runtimes' chunk size)."""

ADDRESS_BITS = (1 << 28) - 1
"""Bits that the number of a scratch row can have. Masking with them tells the compiler that adding a literal cannot
overflow, so that neighbouring numbers are reached from one address (humanoid: 13 % less time)."""

LANES = (1, 2, 4, 8, 16, 32)

AGAIN = "watch/again"
"""Shared integer by which the watch (see `watch`) says that an evaluation must be repeated."""

DONE = -1
"""Stands in the place of a tile that has been run."""

FLOAT: dict[str, np.dtype[Any]] = {"f64": np.dtype(np.float64), "f32": np.dtype(np.float32)}


Role = Literal["stage", "begin", "before_step", "before_integration", "end"]
"""A stage, or a part of watching the worlds (see `watch`): before the first step of a tile, before each step, before
each integration, after the last step."""


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
    """What it is to the program: a stage, or a part of watching the worlds."""
    group: str = attrs.field(default=attrs.Factory(lambda self: self.stage, takes_self=True))
    """Neighbours of one group are repeated together in a repeatable program."""

    @property
    def label(self) -> str:
        return "_".join(filter(None, (self.stage, self.key, self.name)))


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


@attrs.frozen
class _Traced:
    stage: LaneStage
    function: str
    kernel: Kernel

    @property
    def trace(self) -> Trace:
        return self.kernel.trace


def trace_stages(
    stages: Sequence[LaneStage], layout: Layout, store: Iterable[str], precision: str, lanes: int
) -> list[_Traced]:
    """Run every builder once."""
    kept = set(store)
    read_by = {name: {n for n, s in enumerate(stages) if name in s.reads} for s in stages for name in s.reads}
    traced = []
    tables: dict[str, NDArray[Any]] = {}
    for n, stage in enumerate(stages):

        def needed(name: str, n: int = n) -> bool:
            return name in kept or bool(read_by.get(name, set()) - {n})

        function = f"s{n:02d}_{stage.label}"
        kernel = Kernel(layout, function, needed, precision, lanes, tables=tables)
        with _per_world_errors(stage, kernel):
            _build(stage, kernel)
        _check_declared(stage, kernel)
        traced.append(_Traced(stage, function, kernel))
    return traced


@contextmanager
def _per_world_errors(stage: LaneStage, kernel: Kernel) -> Iterator[None]:
    """Say which values per world a builder cannot do with."""
    try:
        yield
    except LaneError as error:
        if not kernel.per_world:
            raise
        fields = ", ".join(sorted(kernel.per_world))
        raise PerWorldError(
            f"{stage.stage} ({stage.name}@taichi) cannot work with values per world of {fields}: {error}. "
            f"Take what it "
            f'cannot do with out of per_world, or run this stage on NumPy: stages={{"{stage.stage}": "@numpy"}}'
        ) from error


def _build(stage: LaneStage, kernel: Kernel) -> None:
    extra: list[Any] = []
    if stage.integrate:
        extra.append(kernel.evaluation)
    if stage.parts or "parts" in inspect.signature(stage.builder).parameters:
        extra.append(stage.parts)
    stage.builder(kernel, *extra)


def _check_declared(stage: LaneStage, kernel: Kernel) -> None:
    """A stage touches only what its record declares: fusion, transfers and A/B comparison rely on it."""
    undeclared = {
        "writes": sorted(kernel.writes - stage.writes),
        "reads": sorted(kernel.reads - stage.reads - stage.writes),
    }
    problems = [f"{verb} {', '.join(names)}" for verb, names in undeclared.items() if names]
    if problems:
        raise LaneError(
            f"{stage.stage} ({stage.name}@taichi) {' and '.join(problems)} without declaring it: "
            "add the fields to the implementation's record"
        )


def _check_loaded(stages: Sequence[_Traced], load: Iterable[str]) -> None:
    """A field read before a later stage writes it must come from the arena, else a tile would see another tile's.

    One that no stage writes and that is not loaded keeps its initial value.
    """
    available = set(load)
    written = {name for t in stages for name in t.kernel.writes}
    for t in stages:
        missing = sorted((t.kernel.reads - t.kernel.writes - available) & written)
        if missing:
            raise LaneError(
                f"{t.stage.stage} ({t.stage.name}@taichi) reads {', '.join(missing)}, which only a later stage of "
                "the program writes and which is not in `load`"
            )
        available |= t.kernel.writes


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
) -> list[tuple[int, int, int]]:
    """(scratch row, arena row, rows) to copy, neighbours joined."""
    runs: list[tuple[int, int, int]] = []
    present = [n for n in set(names) if n in scratch and scratch[n].count]
    for name in sorted(present, key=lambda n: scratch[n].offset):
        row, far, count = scratch[name].offset, arena[name].offset, scratch[name].count
        if runs and runs[-1][0] + runs[-1][2] == row and runs[-1][1] + runs[-1][2] == far:
            runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + count)
        else:
            runs.append((row, far, count))
    return runs


def table_places(traced: Sequence[_Traced]) -> tuple[dict[str, int], NDArray[Any]]:
    """Where each table begins in one array of all their integers."""
    offsets: dict[str, int] = {}
    parts: list[NDArray[Any]] = []
    total = 0
    for name, numbers in (traced[0].kernel.tables if traced else {}).items():
        offsets[name] = total
        parts.append(numbers.reshape(-1))
        total += numbers.size
    return offsets, np.concatenate([*parts, np.zeros(1, np.int32)])


_SCRATCH = {INTEGERS: "SI", REALS: "R"}
"""Buffer of scratch memory, by how its name ends; else it is lanes."""


def program_source(
    traced: Sequence[_Traced],
    live: Live,
    places: Mapping[str, FieldPlace],
    rows: tuple[int, int, int],
    tables: Mapping[str, int],
    load: list[tuple[int, int, int]],
    store: list[tuple[int, int, int]],
    *,
    converted: list[tuple[int, int, int]],
    evaluations: int,
    lanes: int,
    precision: str,
    runtime: str,
    exports: Exports,
    repeats: Mapping[str, int],
) -> str:
    """The module's text; `rows`: of a slot's scratch tile, and of its integers; `repeats`: see `_call_lines`."""

    def address(name: str, base: str, literal: int) -> str:
        if name in tables:
            buffer, row = "TI", tables[name] + literal
        else:
            buffer, row = _SCRATCH.get(name[-1:], "S"), places[name].offset + literal
        if buffer == "S" and base and row:
            base = f"({base} & {ADDRESS_BITS})"
        index = " + ".join(filter(None, (base, str(row) if row or not base else "")))
        return f"{buffer}[{index}]"

    lines = [
        f"import {runtime} as ti",
        f"fp = ti.{precision}",
        f"VT = ti.types.vector({lanes}, fp)" if lanes > 1 else "VT = fp",
        *any_lane(lanes),
    ]
    buffers = [*BUFFERS, *optional_buffers(traced)]
    for t in traced:
        lines += stage_source(t.function, t.trace, live, address, buffers)
    lacking = f"SI[c + {places[LACKING].offset}]" if LACKING in places else ""
    again = memory_name(AGAIN, integers=True)
    again = f"SI[c + {places[again].offset}]" if again in places else ""
    lines += _kernel_source(
        traced, rows, load, converted, store, evaluations, lacking, exports, repeats, again
    )
    return "\n".join(lines) + "\n"


def optional_buffers(traced: Sequence[_Traced]) -> list[str]:
    """Arguments that some stage needs beyond those every kernel has."""
    needed = set[str]().union(*(t.kernel.buffers for t in traced))
    return [name for name in OPTIONAL_BUFFERS if name in needed]


_OPTIONAL_TYPES = {"R": "fp", "MF": "ti.f32"}


def _kernel_source(
    traced: Sequence[_Traced],
    rows: tuple[int, int, int],
    load: list[tuple[int, int, int]],
    converted: list[tuple[int, int, int]],
    store: list[tuple[int, int, int]],
    evaluations: int,
    lacking: str,
    exports: Exports,
    repeats: Mapping[str, int],
    again: str,
) -> list[str]:
    """The kernel: each slot takes tile after tile.

    `lacking` is where a tile says that its lists need more room; it then stores nothing but that number, in its place
    of `taken`. One whose lists are too long to be exported stores nothing at all. Tiles whose place does not hold
    0 are passed over. `again` is where the watch says that an evaluation must be repeated.
    """
    optional = optional_buffers(traced)
    numbers = "ti.types.ndarray(dtype=VT, ndim=1)"
    arguments = [
        f"D: {numbers}",
        f"C: {numbers}",
        f"S: {numbers}",
        "SI: ti.types.ndarray(dtype=ti.i32, ndim=1)",
        "TI: ti.types.ndarray(dtype=ti.i32, ndim=1)",
        "MR: ti.types.ndarray(dtype=fp, ndim=1)",
        "MI: ti.types.ndarray(dtype=ti.i32, ndim=1)",
        "MB: ti.types.ndarray(dtype=ti.u8, ndim=1)",
        "taken: ti.types.ndarray(dtype=ti.i32, ndim=1)",
        *(f"{n}: ti.types.ndarray(dtype={_OPTIONAL_TYPES[n]}, ndim=1)" for n in optional),
        *(f"{n}: ti.i32" for n in ("stride", "converted", "ntile", "nslot", "nstep", "first")),
        *exports.arguments,
    ]
    lines = [
        "@ti.kernel",
        f"def run({', '.join(arguments)}):",
        f"    for spread in range(nslot * {SPREAD}):",
        f"        if spread % {SPREAD} == 0:",
        f"            slot = spread // {SPREAD}",
        f"            b = slot * {rows[0]}",
        f"            c = slot * {rows[1]}",
        f"            r = slot * {rows[2]}",
        "            tile = ti.atomic_add(taken[0], 1)",
        "            while tile < ntile:",
    ]
    pad = " " * 16
    if lacking or exports.any:
        lines += [f"{pad}if taken[1 + tile] == 0:"]
        pad += "    "
    if lacking:
        lines += [f"{pad}{lacking} = 0"]
    lines += [f"{pad}a = tile * stride"]
    for n, (row, far, count) in enumerate(load):
        lines += [f"{pad}for l{n} in range({count}):", f"{pad}    S[b + {row} + l{n}] = D[a + {far} + l{n}]"]
    for n, (row, far, count) in enumerate(converted):
        source = f"C[tile * converted + {far} + c{n}]"
        lines += [f"{pad}for c{n} in range({count}):", f"{pad}    S[b + {row} + c{n}] = {source}"]
    passed = [*STAGE_ARGUMENTS, *BUFFERS, *optional]
    outside = ["first" if a == "e" else a for a in passed]
    lines += _watch_lines(traced, "begin", outside, pad)
    number = f"ti.select({lacking} == 0, {evaluations}, 0)" if lacking else str(evaluations)
    lines += [f"{pad}for step in range(nstep):", f"{pad}    for e in range(first, first + {number}):"]
    lines += _evaluation_lines(traced, passed, f"{pad}        ", repeats, again)
    lines += _watch_lines(traced, "end", outside, pad)
    if lacking or exports.any:
        lines += [f"{pad}taken[1 + tile] = {DONE}"]
    if lacking:
        lines += [f"{pad}if {lacking} != 0:", f"{pad}    taken[1 + tile] = {lacking}", f"{pad}else:"]
        pad += "    "
    lines += exports.source(pad)
    if exports.count is not None:
        lines += [f"{pad}if listed > room:", f"{pad}    taken[1 + tile] = 0", f"{pad}else:"]
        pad += "    "
    for n, (row, far, count) in enumerate(store):
        lines += [f"{pad}for o{n} in range({count}):", f"{pad}    D[a + {far} + o{n}] = S[b + {row} + o{n}]"]
    if (lacking or exports.count is not None) and not store:
        lines += [f"{pad}pass"]
    lines += [" " * 16 + "tile = ti.atomic_add(taken[0], 1)"]
    return lines


def _evaluation_lines(
    traced: Sequence[_Traced], arguments: Sequence[str], pad: str, repeats: Mapping[str, int], again: str
) -> list[str]:
    """One forward evaluation, and what integrates it. If the worlds are watched and one of them was bad, the first
    evaluation of a step is repeated before it is integrated."""
    stages = [t for t in traced if t.stage.role == "stage"]
    if not again:
        return _call_lines(stages, arguments, pad, repeats)
    forward = [t for t in stages if not t.stage.integrate]
    inner = f"{pad}        "
    return [
        f"{pad}if e == 0:",
        *_watch_lines(traced, "before_step", arguments, f"{pad}    "),
        f"{pad}{again} = 0",
        f"{pad}for attempt in range(2):",
        f"{pad}    if (attempt == 0) | ({again} > 0):",
        *_call_lines(forward, arguments, inner, repeats),
        f"{inner}if (e == 0) & (attempt == 0):",
        *_watch_lines(traced, "before_integration", arguments, f"{inner}    "),
        *_call_lines([t for t in stages if t.stage.integrate], arguments, pad, repeats),
    ]


def _watch_lines(traced: Sequence[_Traced], role: Role, arguments: Sequence[str], pad: str) -> list[str]:
    return [f"{pad}{t.function}({', '.join(arguments)})" for t in traced if t.stage.role == role]


def _call_lines(
    traced: Sequence[_Traced], arguments: Sequence[str], pad: str, repeats: Mapping[str, int]
) -> list[str]:
    """The calls of all stages. `repeats` says, for each group of a repeatable program, where in the table of integers
    stands how often it runs."""
    lines = []
    for group, members in groupby(traced, key=lambda t: t.stage.group):
        inner = pad
        if repeats:
            lines += [f"{pad}for again in range(TI[{repeats[group]}]):"]
            inner += "    "
        for t in members:
            call = f"{t.function}({', '.join(arguments)})"
            if t.stage.first_only:
                lines += [f"{inner}if e == 0:", f"{inner}    {call}"]
            else:
                lines += [f"{inner}{call}"]
    return lines


def _flat(buffers: Mapping[str, NDArray[Any]], dtype: str) -> NDArray[Any]:
    """A Model buffer with one axis, never empty."""
    buffer = buffers.get(dtype)
    return np.zeros(1, dtype) if buffer is None or not buffer.size else buffer.reshape(-1)


@attrs.define(eq=False)
class Program:
    """A fused kernel, its source, and its scratch memory."""

    source: str
    path: Path
    lanes: int
    precision: str
    threads: int
    runtime: str
    rows: int
    """Scratch rows per slot."""
    kernel: Callable[..., None]
    scratch: NDArray[Any]
    integers: NDArray[Any]
    """Uniform integers of all slots."""
    reals: NDArray[Any]
    """Uniform reals of all slots."""
    table: NDArray[Any]
    """Constant integers of all stages."""
    live: frozenset[str]
    """Data fields the kernel touches after unneeded results were dropped."""
    converted: int = 0
    """Rows of the fields that come from a buffer of their own."""
    optional: tuple[str, ...] = ()
    """Arguments that not every kernel has."""
    exports: Exports = attrs.field(factory=lambda: Exports.of((), {}))
    tables: Mapping[str, NDArray[Any]] = attrs.field(factory=dict)
    """Constant integers by name."""
    repeats: Mapping[str, int] = attrs.field(factory=dict)
    """Groups of stages of a repeatable program: where in `table` stands how often each runs."""
    compile_seconds: float = 0.0
    _mirror: NDArray[Any] | None = None

    def run(
        self,
        data_buffer: NDArray[Any],
        model_buffers: Mapping[str, NDArray[Any]],
        nstep: int,
        evaluation: int = 0,
        converted: NDArray[Any] | None = None,
        only: NDArray[Any] | None = None,
        outbox: Outbox | None = None,
    ) -> NDArray[Any]:
        """Run on every tile of `data_buffer` (ntile, size, W): `nstep` steps, or one part of a step.

        Gives for each tile how many times more room its lists would have needed, or 0: such tiles are as they were,
        to be run by a program of larger `growth`, which takes this array as `only`.

        A program that is only part of a step has one evaluation, and `evaluation` says which. `converted`
        (ntile, size, W) holds the numbers of the fields that the program was told to find there. What it exports is
        put into `outbox`, which is enlarged as needed.
        """
        runtimes.check_process()
        self._check(data_buffer)
        converted = data_buffer[:, :0] if converted is None else converted
        if converted.shape != (data_buffer.shape[0], self.converted, self.lanes):
            raise ValueError(f"converted fields have {converted.shape[1]} rows, not {self.converted}")
        if self.converted:
            self._check(converted)
        taken = np.zeros(1 + data_buffer.shape[0], np.int32)
        if only is not None:
            taken[1:] = np.where(only > 0, 0, DONE)
        outbox = self.outbox() if outbox is None else outbox
        outbox.prepare(data_buffer.shape[0])
        while (taken[1:] == 0).any():
            taken[0] = 0
            self._launch(
                data_buffer, converted, data_buffer.shape[0], model_buffers, nstep, evaluation, taken, outbox
            )
            if not outbox.too_small:
                break
            outbox.enlarge()
        return np.maximum(taken[1:], 0)

    def outbox(self) -> Outbox:
        """Room for what the program exports."""
        return Outbox(self.exports, self.lanes, FLOAT[self.precision], self.tables)

    def _launch(
        self,
        buffer: NDArray[Any],
        converted: NDArray[Any],
        ntile: int,
        model: Mapping[str, NDArray[Any]],
        nstep: int,
        evaluation: int,
        taken: NDArray[Any],
        outbox: Outbox | None = None,
    ) -> None:
        outbox = self.outbox() if outbox is None else outbox
        self.kernel(
            self._numbers(buffer),
            self._numbers(converted if converted.size else buffer),
            self._numbers(self.scratch),
            self.integers,
            self.table,
            self._reals(_flat(model, "float64")),
            _flat(model, "int32"),
            _flat(model, "uint8"),
            taken,
            *self._optional(model),
            buffer.shape[1],
            converted.shape[1],
            ntile,
            max(1, min(self.threads, ntile)),
            nstep,
            evaluation,
            *self._exported(outbox),
        )

    def _exported(self, outbox: Outbox) -> list[Any]:
        """Arguments for what is exported."""
        known = {
            "E": self._numbers(outbox.numbers),
            "EI": outbox.integers,
            "EL": outbox.lengths,
            "room": outbox.room,
        }
        return [known[name] for name in self.exports.names]

    def _optional(self, model: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """Arguments that not every kernel has."""
        known = {"R": self.reals, "MF": _flat(model, "float32")}
        return [known[name] for name in self.optional]

    def _check(self, buffer: NDArray[Any]) -> None:
        """An array of another kind would be read out of bounds, or crash the process."""
        if (
            buffer.shape[2] != self.lanes
            or buffer.dtype != FLOAT[self.precision]
            or not buffer.flags.c_contiguous
        ):
            raise ValueError(
                f"the program was built for C-contiguous tiles of {self.lanes} lanes of {FLOAT[self.precision]}, "
                f"not {buffer.shape} of {buffer.dtype}"
            )
        if buffer.ctypes.data % ALIGNMENT:
            raise ValueError(f"the Data buffer must start at a multiple of {ALIGNMENT} bytes")

    def _numbers(self, buffer: NDArray[Any]) -> NDArray[Any]:
        """A buffer as the kernel takes it: one axis of lane vectors, or of numbers where a tile is one world."""
        return buffer.reshape(-1, self.lanes) if self.lanes > 1 else buffer.reshape(-1)

    def _reals(self, reals: NDArray[Any]) -> NDArray[Any]:
        """The Model's reals in the kernel's precision, cast anew so that edits are seen."""
        if self.precision == "f64":
            return reals
        if self._mirror is None or self._mirror.shape != reals.shape:
            self._mirror = np.empty(reals.shape, np.float32)
        self._mirror[:] = reals
        return self._mirror

    def compile(self) -> None:
        """Compile now, by a launch over no tiles."""
        began = time.perf_counter()
        logger.info("compiling %s with %s (%d lines)", self.path.name, self.runtime, self.source.count("\n"))
        unused = aligned_zeros((1, 1, self.lanes), FLOAT[self.precision])
        what = f"compiling a kernel of {self.source.count(chr(10))} lines with {self.runtime}"
        with (
            progress.telling(what, self.source.count("\n")),
            forgotten_on_failure(self.path),
            runtimes.literal_precision(self.runtime, self.precision),
            runtimes.short_positions(self.runtime),
        ):
            self._launch(unused, unused, 0, {}, 0, 0, np.zeros(1, np.int32))
        self.compile_seconds = time.perf_counter() - began
        logger.info("compiled %s in %.1f s", self.path.name, self.compile_seconds)


def compile_program(
    *,
    stages: Sequence[LaneStage],
    model_places: Mapping[str, tuple[str, FieldPlace]],
    data_places: Mapping[str, FieldPlace],
    data_shapes: Mapping[str, tuple[int, ...]],
    initial: Mapping[str, NDArray[Any]],
    load: Sequence[str],
    store: Sequence[str],
    converted: Sequence[str] = (),
    sizes: Mapping[str, int],
    features: Mapping[str, Container[str]] | None = None,
    structure: Any = None,
    evaluations: int = 1,
    lanes: int = 8,
    precision: str = "f64",
    threads: int = 1,
    runtime: str = "auto",
    arch: str = "auto",
    growth: int = 1,
    exports: Sequence[Export] = (),
    repeatable: bool = False,
    per_world: Container[str] = (),
) -> Program:
    """Trace, fuse, print and compile `stages` in the order given. Fields in `converted` are loaded from a buffer of
    their own, one after another: numbers that Data does not hold as reals. Lists have `growth` times their usual
    room. `exports` names memory of stages to hand out after the last step; what no stage uses is left out. Model
    fields in `per_world` are lanes.
    In a `repeatable` program each group of stages runs as often as `Program.repeats` says: to measure its time."""
    if lanes not in LANES:
        raise ValueError(
            f"lanes={lanes}: a tile has one of {LANES} worlds (powers of two; others crash the runtimes)"
        )
    _check_placed(data_places, load, store)
    name = runtimes.choose_runtime(runtime)
    runtimes.check_lanes(runtimes.choose_arch(arch), lanes)
    layout = Layout(model_places, data_shapes, sizes, features or {}, structure, growth, per_world)
    traced = trace_stages(stages, layout, store, precision, lanes)
    _check_loaded(traced, [*load, *converted])
    exports = [e for e in exports if any(e.memory in t.kernel.private for t in traced)]
    watched = [memory_name(AGAIN, integers=True)] if any(s.role != "stage" for s in stages) else []
    kept = [*store, *_lists_that_grow(traced), *wanted_memories(exports), *watched]
    live = find_live([(t.function, t.trace) for t in traced], kept)
    shapes = dict(data_shapes)
    for t in traced:
        _add_shapes(shapes, t.kernel.private)
    whole = {name for name in live.memories if name.endswith(INTEGERS)}
    single = {name for name in live.memories if name.endswith(REALS)}
    places, rows = assign_places(live.memories - whole - single, shapes, data_places)
    integer_places, integer_rows = assign_places(whole, shapes, {})
    real_places, real_rows = assign_places(single, shapes, {})
    offsets, table = table_places(traced)
    own = [stage for stage in stages if stage.role == "stage"]
    groups = list(dict.fromkeys(stage.group for stage in own)) if repeatable else []
    repeats = {group: len(table) + n for n, group in enumerate(groups)}
    table = np.concatenate([table, np.ones(len(groups), np.int32)])
    converted_places, converted_rows = _in_order(converted, shapes)
    exported = Exports.of(exports, {**places, **integer_places})
    source = program_source(
        traced,
        live,
        {**places, **integer_places, **real_places},
        (rows, integer_rows, real_rows),
        offsets,
        copy_runs(load, places, data_places),
        copy_runs(store, places, data_places),
        converted=copy_runs(converted, places, converted_places),
        evaluations=evaluations,
        lanes=lanes,
        precision=precision,
        runtime=name,
        exports=exported,
        repeats=repeats,
    )
    runtimes.start(name, arch)
    path = write_module(source, writable_directory())
    program = Program(
        source=source,
        path=path,
        lanes=lanes,
        precision=precision,
        threads=threads,
        runtime=name,
        rows=rows,
        kernel=load_module(path, source).run,
        scratch=_scratch(places, rows, initial, lanes, precision, threads),
        integers=np.zeros(threads * integer_rows + 1, np.int32),
        reals=np.zeros(threads * real_rows + 1, FLOAT[precision]),
        table=table,
        live=frozenset(n for n in live.memories if PRIVATE not in n),
        converted=converted_rows,
        optional=tuple(optional_buffers(traced)),
        exports=exported,
        tables=dict(traced[0].kernel.tables) if traced else {},
        repeats=repeats,
    )
    program.compile()
    return program


def _lists_that_grow(traced: Sequence[_Traced]) -> list[str]:
    """The memory in which a stage may say that a list lacks room."""
    return [LACKING] if any(LACKING in t.kernel.private for t in traced) else []


def _add_shapes(known: dict[str, tuple[int, ...]], more: Mapping[str, tuple[int, ...]]) -> None:
    """Take over the shapes of scratch memory; stages that share some must agree."""
    for name, shape in more.items():
        if known.setdefault(name, shape) != shape:
            raise LaneError(f"{name} is used with shape {shape} and with {known[name]}")


def _check_placed(places: Mapping[str, FieldPlace], *lists: Sequence[str]) -> None:
    absent = sorted({n for names in lists for n in names} - set(places))
    if absent:
        raise LaneError(f"fields to load or store have no place in the Data arena: {', '.join(absent)}")


def _scratch(
    places: Mapping[str, FieldPlace],
    rows: int,
    initial: Mapping[str, NDArray[Any]],
    lanes: int,
    precision: str,
    threads: int,
) -> NDArray[Any]:
    """Every slot starts from the reset values, so that constants such as the world body's frame are there."""
    one = np.zeros(rows)
    for name, place in places.items():
        if name in initial:
            one[place.offset : place.offset + place.count] = np.ravel(initial[name])
    if threads * rows > ADDRESS_BITS:
        raise LaneError(
            f"{threads} threads with {rows} numbers of scratch each: more than {ADDRESS_BITS} in all"
        )
    scratch = aligned_zeros((threads * rows, lanes), FLOAT[precision])
    used = np.flatnonzero(one)  # memory that is never touched, as of lists that stay short, costs nothing
    for thread in range(threads):
        scratch[thread * rows + used] = one[used, None]
    return scratch
