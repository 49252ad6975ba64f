"""The Taichi source of a fused kernel: a header that explains it, the stages as functions, and the kernel that runs
them.

Sizes and offsets are literals of the source, loops are loops, Model values are read from the packed buffers at run
time; so editing the Model in place needs no new kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from dovetail.backends.lanes.exports import Buffer, Exports
from dovetail.backends.lanes.fuse import FusedKernel, FusedStage, Role, Run, kind_of_memory
from dovetail.backends.lanes.program import DONE
from dovetail.backends.taichi.emit import STAGE_ARGUMENTS, any_lane, ordered, stage_source

SPREAD = 512
"""A top-level loop this much longer than its slots is dealt out one slot per thread (the runtimes' chunk size)."""

ADDRESS_BITS = (1 << 28) - 1
"""Bits that the number of a scratch row can have. Masking with them tells the compiler that adding a literal cannot
overflow, so that neighbouring numbers are reached from one address (humanoid: 13 % less time)."""

BUFFERS = ("S", "SI", "TI", "MR", "MI", "MB")
"""What every stage function gets."""

LEGEND = {
    "D": "Data, tile by tile",
    "C": "fields that Data does not hold as reals, converted",
    "S": "scratch: numbers per world of each slot",
    "SI": "scratch: uniform integers of each slot",
    "R": "scratch: uniform reals of each slot",
    "TI": "constant integers: the stages' tables, then how often each group runs",
    "MR": "reals of the Model",
    "MI": "integers of the Model",
    "MB": "bytes of the Model",
    "MF": "single precision numbers of the Model",
    "taken": f"at 0 the next tile; then by tile: 0 to be run, {DONE} run, else the room that its lists lack",
    "E": "exported numbers, tile by tile",
    "EI": "exported integers",
    "EL": "lengths of the exported lists",
    "I": "imported numbers, tile by tile",
    "II": "imported integers",
    "IL": "lengths of the imported lists",
}
"""What the arrays of a kernel hold."""

_SCALARS = {
    "b, c, r": "where S, SI and R of the slot begin",
    "e": "which forward evaluation of the step",
    "tN, vN, iN": "temporaries, variables and loop indices of a stage",
}
"""What the short names of a kernel mean."""

_SCRATCH = {"numbers": "S", "integers": "SI", "reals": "R"}
"""Buffer of each kind of scratch memory."""

_INTO = {"E": "I", "EI": "II", "EL": "IL", "room": "given_room"}
"""Arguments for what is imported, by those for what is exported."""

_OPTIONAL_TYPES = {"R": "fp", "MF": "ti.f32"}


def kernel_source(fused: FusedKernel, runtime: str) -> str:
    """The module's text."""

    def address(name: str, base: str, literal: int) -> str:
        if name in fused.tables:
            buffer, row = "TI", fused.tables[name] + literal
        else:
            buffer, row = _SCRATCH[kind_of_memory(name)], fused.places[name].offset + literal
        if buffer == "S" and base and row:
            base = f"({base} & {ADDRESS_BITS})"
        index = " + ".join(filter(None, (base, str(row) if row or not base else "")))
        return f"{buffer}[{index}]"

    lines = [
        *_header(fused),
        f"import {runtime} as ti",
        f"fp = ti.{fused.precision}",
        f"VT = ti.types.vector({fused.lanes}, fp)" if fused.lanes > 1 else "VT = fp",
        *any_lane(fused.lanes),
        *ordered(),
    ]
    for t in fused.stages:
        lines += stage_source(t.function, t.trace, fused.live, address, [*BUFFERS, *fused.optional])
    return "\n".join([*lines, *_kernel_lines(fused)]) + "\n"


# ---- header


def _header(fused: FusedKernel) -> list[str]:
    """The plan, and what the names mean."""
    numbers, integers, reals = fused.rows
    stages = [f"{t.function}: {t.title}" for t in fused.stages]
    imported = [_INTO[name] for name in fused.imports.names]
    present = {"D", "C", "taken", *BUFFERS, *fused.optional, *fused.exports.names, *imported}
    arrays = [f"{name}: {text}" for name, text in LEGEND.items() if name in present]
    text = [
        f"A fused kernel of {len(fused.stages)} stages: {fused.lanes} lanes of {fused.precision}, "
        f"{fused.evaluations} evaluation{'s' if fused.evaluations > 1 else ''} per step; scratch of a slot: "
        f"{numbers} numbers per world, {integers} integers, {reals} reals.",
        "",
        *stages,
        "",
        *arrays,
        *(f"{name}: {text}" for name, text in _SCALARS.items()),
    ]
    return [f"# {line}".rstrip() for line in text]


# ---- the kernel


def _kernel_lines(fused: FusedKernel) -> list[str]:
    """The kernel: each slot takes tile after tile.

    A tile whose lists lack room stores nothing but that number, in its place of `taken`. One whose lists are too long
    to be exported stores nothing at all. Tiles whose place does not hold 0 are passed over.
    """
    rows, exports = fused.rows, fused.exports
    lacking = _integer(fused.lacking)
    skips = bool(lacking) or exports.any
    pad = " " * (20 if skips else 16)
    return [
        "@ti.kernel",
        f"def run({', '.join(_arguments(fused))}):",
        f"    for spread in range(nslot * {SPREAD}):",
        f"        if spread % {SPREAD} == 0:",
        f"            slot = spread // {SPREAD}",
        f"            b = slot * {rows.numbers}",
        f"            c = slot * {rows.integers}",
        f"            r = slot * {rows.reals}",
        "            tile = ti.atomic_add(taken[0], 1)",
        "            while tile < ntile:",
        *([f"{' ' * 16}if taken[1 + tile] == 0:"] if skips else []),
        *([f"{pad}{lacking} = 0"] if lacking else []),
        *_forgotten_lines(fused, pad),
        f"{pad}a = tile * stride",
        *_copies(fused.load, "l", ("S[b + ", "D[a + "), pad),
        *_copies(fused.converted, "c", ("S[b + ", "C[tile * converted + "), pad),
        *_import_lines(fused.imports, pad),
        *_step_lines(fused, lacking, pad),
        *([f"{pad}taken[1 + tile] = {DONE}"] if skips else []),
        *_end_lines(fused, lacking, pad),
        f"{' ' * 16}tile = ti.atomic_add(taken[0], 1)",
    ]


def _forgotten_lines(fused: FusedKernel, pad: str) -> list[str]:
    """Loops that set integers to zero before the first step of a tile."""
    lines = []
    for n, place in enumerate(fused.forgotten):
        lines += [f"{pad}for f{n} in range({place.count}):", f"{pad}    SI[c + {place.offset} + f{n}] = 0"]
    return lines


def _arguments(fused: FusedKernel) -> list[str]:
    """Arguments of the kernel with their types."""
    numbers, whole = "ti.types.ndarray(dtype=VT, ndim=1)", "ti.types.ndarray(dtype=ti.i32, ndim=1)"
    passed = {"E": numbers, "EI": whole, "EL": whole, "room": "ti.i32"}
    return [
        f"D: {numbers}",
        f"C: {numbers}",
        f"S: {numbers}",
        f"SI: {whole}",
        f"TI: {whole}",
        "MR: ti.types.ndarray(dtype=fp, ndim=1)",
        f"MI: {whole}",
        "MB: ti.types.ndarray(dtype=ti.u8, ndim=1)",
        f"taken: {whole}",
        *(f"{n}: ti.types.ndarray(dtype={_OPTIONAL_TYPES[n]}, ndim=1)" for n in fused.optional),
        *(f"{n}: ti.i32" for n in ("stride", "converted", "ntile", "nslot", "nstep", "first")),
        *(f"{n}: {passed[n]}" for n in fused.exports.names),
        *(f"{_INTO[n]}: {passed[n]}" for n in fused.imports.names),
    ]


def _integer(place: int | None) -> str:
    """Source of an integer of the slot; empty if the kernel has no such."""
    return "" if place is None else f"SI[c + {place}]"


def _copies(runs: Iterable[Run], index: str, buffers: tuple[str, str], pad: str) -> list[str]:
    """Loops that copy rows into scratch; `buffers`: how an element of scratch and one of the other buffer begin."""
    scratch, far = buffers
    lines = []
    for n, run in enumerate(runs):
        lines += [
            f"{pad}for {index}{n} in range({run.count}):",
            f"{pad}    {scratch}{run.scratch} + {index}{n}] = {far}{run.far} + {index}{n}]",
        ]
    return lines


def _step_lines(fused: FusedKernel, lacking: str, pad: str) -> list[str]:
    """All steps of a tile, and the looks at the worlds around them."""
    passed = [*STAGE_ARGUMENTS, *BUFFERS, *fused.optional]
    outside = ["first" if a == "e" else a for a in passed]
    number = f"ti.select({lacking} == 0, {fused.evaluations}, 0)" if lacking else str(fused.evaluations)
    return [
        *_look_lines(fused, "begin", outside, pad),
        f"{pad}for step in range(nstep):",
        f"{pad}    for e in range(first, first + {number}):",
        *_evaluation_lines(fused, passed, f"{pad}        "),
        *_look_lines(fused, "end", outside, pad),
    ]


def _evaluation_lines(fused: FusedKernel, arguments: Sequence[str], pad: str) -> list[str]:
    """One forward evaluation, and what integrates it. If the worlds are watched and one of them was bad, the first
    evaluation of a step is repeated before it is integrated."""
    stages, again = fused.with_role("stage"), _integer(fused.again)
    if not again:
        return _call_lines(stages, arguments, pad, fused.repeats)
    forward = [t for t in stages if not t.stage.integrate]
    inner = f"{pad}        "
    return [
        f"{pad}if e == 0:",
        *_look_lines(fused, "before_step", arguments, f"{pad}    "),
        f"{pad}{again} = 0",
        f"{pad}for attempt in range(2):",
        f"{pad}    if (attempt == 0) | ({again} > 0):",
        *_call_lines(forward, arguments, inner, fused.repeats),
        f"{inner}if (e == 0) & (attempt == 0):",
        *_look_lines(fused, "before_integration", arguments, f"{inner}    "),
        *_call_lines([t for t in stages if t.stage.integrate], arguments, pad, fused.repeats),
    ]


def _look_lines(fused: FusedKernel, role: Role, arguments: Sequence[str], pad: str) -> list[str]:
    return [f"{pad}{t.function}({', '.join(arguments)})" for t in fused.with_role(role)]


def _call_lines(
    stages: Sequence[FusedStage], arguments: Sequence[str], pad: str, repeats: Mapping[str, int]
) -> list[str]:
    """The calls of all stages. `repeats` says, for each group of a repeatable program, where in the table of integers
    stands how often it runs."""
    lines = []
    for group, members in groupby(stages, key=lambda t: t.stage.group):
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


# ---- what comes into a tile and leaves it


def _import_lines(imports: Exports, pad: str) -> list[str]:
    """Copy what is imported: what has a fixed size, then as much of the lists as is filled."""
    lines = []
    if imports.count is not None:
        lines += [f"{pad}given = IL[tile]", f"{pad}SI[c + {imports.count}] = given"]
    for buffer, source, scratch in ((imports.numbers, "I", "S[b"), (imports.integers, "II", "SI[c")):
        if not (buffer.fixed or buffer.lists):
            continue
        listed = f"({buffer.fixed_rows} + given_room * {buffer.list_width})"
        lines += [f"{pad}{source}_at = tile * {listed if buffer.lists else buffer.fixed_rows}"]
        for n, part in enumerate(buffer.fixed):
            index = f"{source.lower()}f{n}"
            lines += [
                f"{pad}for {index} in range({part.width}):",
                f"{pad}    {scratch} + {part.source} + {index}] = {source}[{source}_at + {part.before} + {index}]",
            ]
        for n, part in enumerate(buffer.lists):
            index = f"{source.lower()}l{n}"
            place = f"{source}_at + {buffer.fixed_rows} + given_room * {part.before} + {index}"
            lines += [
                f"{pad}for {index} in range(given * {part.width}):",
                f"{pad}    {scratch} + {part.source} + {index}] = {source}[{place}]",
            ]
    return lines


def _end_lines(fused: FusedKernel, lacking: str, pad: str) -> list[str]:
    """Export and store, unless a list was too short for it."""
    lines, exports = [], fused.exports
    if lacking:
        lines += [f"{pad}if {lacking} != 0:", f"{pad}    taken[1 + tile] = {lacking}", f"{pad}else:"]
        pad += "    "
    lines += _export_lines(exports, pad)
    if exports.count is not None:
        lines += [f"{pad}if listed > room:", f"{pad}    taken[1 + tile] = 0", f"{pad}else:"]
        pad += "    "
    for n, run in enumerate(fused.store):
        lines += [
            f"{pad}for o{n} in range({run.count}):",
            f"{pad}    D[a + {run.far} + o{n}] = S[b + {run.scratch} + o{n}]",
        ]
    if (lacking or exports.count is not None) and not fused.store:
        lines += [f"{pad}pass"]
    return lines


def _export_lines(exports: Exports, pad: str) -> list[str]:
    """Copy what is exported of a finished tile."""
    lines = []
    if exports.count is not None:
        lines += [f"{pad}listed = SI[c + {exports.count}]", f"{pad}EL[tile] = listed"]
    for buffer, out, scratch in ((exports.numbers, "E", "S[b"), (exports.integers, "EI", "SI[c")):
        if buffer.fixed or buffer.lists:
            listed = f"({buffer.fixed_rows} + room * {buffer.list_width})"
            rows = listed if buffer.lists else str(buffer.fixed_rows)
            lines += [f"{pad}{out}_at = tile * {rows}", *_buffer_lines(buffer, out, scratch, pad)]
    return lines


def _buffer_lines(buffer: Buffer, out: str, scratch: str, pad: str) -> list[str]:
    """Copy the exports of one buffer: first what has a fixed size, then as much of the lists as is filled."""
    lines = []
    for n, part in enumerate(buffer.fixed):
        index = f"{out.lower()}f{n}"
        lines += [
            f"{pad}for {index} in range({part.width}):",
            f"{pad}    {out}[{out}_at + {part.before} + {index}] = {scratch} + {part.source} + {index}]",
        ]
    if buffer.lists:
        lines.append(f"{pad}if listed <= room:")
    for n, part in enumerate(buffer.lists):
        index = f"{out.lower()}l{n}"
        target = f"{out}[{out}_at + {buffer.fixed_rows} + room * {part.before} + {index}]"
        lines += [
            f"{pad}    for {index} in range(listed * {part.width}):",
            f"{pad}        {target} = {scratch} + {part.source} + {index}]",
        ]
    return lines
