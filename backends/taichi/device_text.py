"""The Taichi source of a fused kernel for a device: one thread, one world, cut into several kernels.

A device's compiler takes longer than in proportion to a kernel's length, so that the stages of a step are cut into
kernels of some hundred lines. Between them everything stays in the scratch memory of the worlds, which is the same
memory as between stages of one kernel, so no stage knows of it.

A pass is one launch of every kernel (in turn for each evaluation of an integrator that has several). What becomes of
a world in a pass stands in `mode`: it is left alone, takes a step, repeats the forward part of one (after a bad
acceleration, see `lanes.bad_states`), or waits for the next pass to repeat it. So worlds that must repeat something
fall one pass behind, and the others need no launches for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

import attrs

from dovetail.backends.lanes.exports import Buffer, Exports
from dovetail.backends.lanes.fuse import FusedKernel, FusedStage, Role
from dovetail.backends.lanes.program import DONE
from dovetail.backends.taichi.emit import stage_source
from dovetail.backends.taichi.world_text import PRELUDE, SIDE, WORLD_ARGUMENTS, WorldPrinter, world_address

KERNEL_LINES = 300
"""Lines of stages that a kernel is to have at most; a stage that has more is a kernel alone."""

BEHIND = -2
"""Stands in the place of a world that has steps left to take."""

CUT_OFF = -3
"""Stands in the place of a world whose loops the driver has ended."""

IDLE, STEPPING, REPEATING, WAITING, LOST = range(5)
"""What a world does in a pass; LOST: nothing any more, as the driver has ended its loops."""

BUFFERS = ("S", "SI", "TI", "MR", "MI", "MB")
"""What every stage function gets."""

LEGEND = {
    "D": "Data that is loaded or stored",
    "C": "fields that Data does not hold as reals, converted",
    "S": "scratch: numbers",
    "SI": "scratch: integers",
    "R": "scratch: reals of single worlds",
    "TI": "constant integers: the stages' tables",
    "MR": "reals of the Model",
    "MI": "integers of the Model",
    "MB": "bytes of the Model, as integers",
    "MF": "single precision numbers of the Model",
    "taken": f"by world: 0 to be run, {DONE} run, {BEHIND} has steps left, "
    f"{CUT_OFF} loops were ended, else the room that its lists lack",
    "mode": f"what a world does: {IDLE} nothing, {STEPPING} steps, {REPEATING} repeats, {WAITING} will repeat, "
    f"{LOST} nothing any more",
    "done": "steps that a world has taken",
    "E": "exported numbers",
    "EI": "exported integers",
    "EL": "lengths of the exported lists",
    "G": "imported (given) numbers",
    "GI": "imported integers",
    "GL": "lengths of the imported lists",
    "at": "the first world of the launch, of which scratch holds as many as fit",
    "n": "worlds of the launch",
    "e": "which forward evaluation of the step",
    "z": "0, which the driver does not know: loops that end at a number plus it are not unrolled",
    "b, c, r": "where S, SI and R of the world begin",
}
"""What the names of a kernel mean."""

_TYPES = {"S": "fp", "R": "fp", "MR": "fp", "MF": "ti.f32", "D": "fp", "C": "fp", "E": "fp", "G": "fp"}
"""Types of arrays that do not hold integers."""

_PAD = " " * 8

_Place: TypeAlias = tuple[str, str, object]
"""An array, where the rows of a world begin in it, and a row."""


@attrs.frozen
class StepKernel:
    """A kernel of a pass."""

    name: str
    stages: tuple[str, ...]
    groups: tuple[str, ...]
    lines: int
    first_only: bool
    """Whether it has nothing to do but in the first evaluation of a step."""


@attrs.frozen
class DeviceText:
    """The source of all kernels, and which there are."""

    source: str
    steps: tuple[StepKernel, ...]
    """The kernels of a pass, in order."""
    arguments: tuple[str, ...]
    """Arrays that the kernels of a pass get."""
    begin_arguments: tuple[str, ...]
    end_arguments: tuple[str, ...]
    rows: int
    """Rows of a world's Data on the device."""
    load: tuple[Copied, ...]
    store: tuple[Copied, ...]

    @property
    def lines(self) -> int:
        return self.source.count("\n")


@attrs.frozen
class Copied:
    """Neighbouring rows: where they begin in scratch, in Data on the host and in Data on the device."""

    scratch: int
    host: int
    device: int
    count: int


def device_text(fused: FusedKernel, runtime: str) -> DeviceText:
    """The module's text."""
    load, store, rows = _rows_on_device(fused)
    bodies = {t.function: _stage(fused, t) for t in fused.stages}
    lines = {name: len(body) - 2 for name, body in bodies.items() if body[2:] != ["    pass"]}
    passed = (*BUFFERS, *fused.optional)
    arrays = (*passed, "taken", "mode", "done")
    kernels = _cut(fused, lines)
    begin = ("D", "C", *arrays, *_boxes(fused.imports, "G"))
    end = ("D", *arrays, *_boxes(fused.exports, "E"))
    text = [
        *_header(fused, kernels),
        f"import {runtime} as ti",
        *PRELUDE.strip().splitlines(),
    ]
    for name in lines:
        text += bodies[name]
    text += _begin_lines(fused, lines, load, begin, rows)
    for number, kernel in enumerate(kernels):
        first, last = number == 0, number == len(kernels) - 1
        text += _step_kernel_lines(fused, kernel, lines, arrays, first=first, last=last)
    text += _end_lines(fused, lines, store, end, rows)
    text += _first_lines(fused)
    return DeviceText(
        source=_literal(text, fused.precision, runtime),
        steps=tuple(k.kernel for k in kernels),
        arguments=arrays,
        begin_arguments=begin,
        end_arguments=end,
        rows=rows,
        load=load,
        store=store,
    )


def _literal(text: Sequence[str], precision: str, runtime: str) -> str:
    """The text with the name of its type of reals. Kernels that use no names of their module can be found by their
    text in a later process: Quadrants then need not read them again, which takes longer than all else."""
    named = re.sub(r"\b(fp|VT)\b", f"ti.{precision}", "\n".join(text) + "\n")
    return named.replace("@ti.kernel\n", "@ti.kernel(fastcache=True)\n") if runtime == "quadrants" else named


def _stage(fused: FusedKernel, t: FusedStage) -> list[str]:
    buffers = (*BUFFERS, *fused.optional)
    return stage_source(
        t.function, t.trace, fused.live, world_address(fused), buffers, WorldPrinter, WORLD_ARGUMENTS
    )


def _rows_on_device(fused: FusedKernel) -> tuple[tuple[Copied, ...], tuple[Copied, ...], int]:
    """Rows to load and to store, and how many there are on the device, where they lie one behind the other."""
    wanted = sorted({run.far + i for run in (*fused.load, *fused.store) for i in range(run.count)})
    place = {far: row for row, far in enumerate(wanted)}
    copies = [
        tuple(Copied(run.scratch, run.far, place[run.far], run.count) for run in runs)
        for runs in (fused.load, fused.store)
    ]
    return copies[0], copies[1], len(wanted)


# ---- cutting


@attrs.frozen
class _Cut:
    """A kernel of a pass and what it calls."""

    kernel: StepKernel
    members: tuple[FusedStage, ...]
    look: bool
    """Whether it looks at accelerations after its stages."""


def _cut(fused: FusedKernel, lines: dict[str, int]) -> list[_Cut]:
    """The stages in kernels of at most KERNEL_LINES, each group of a repeatable program in one of its own. What
    integrates begins a kernel, since worlds may wait before it."""
    stages = [t for t in fused.with_role("stage") if t.function in lines]
    watched = fused.again is not None
    cuts: list[list[FusedStage]] = []
    total = 0
    for before, t in zip([None, *stages[:-1]], stages, strict=True):
        apart = before is not None and (
            (watched and t.stage.integrate and not before.stage.integrate)
            or (bool(fused.repeats) and before.stage.group != t.stage.group)
        )
        if not cuts or apart or total + lines[t.function] > KERNEL_LINES:
            cuts.append([])
            total = 0
        cuts[-1].append(t)
        total += lines[t.function]
    cuts = cuts or [[]]
    forward = [number for number, cut in enumerate(cuts) if cut and not cut[0].stage.integrate]
    last_forward = max(forward, default=-1)
    return [
        _Cut(_step_kernel(number, cut, lines), tuple(cut), watched and number == last_forward)
        for number, cut in enumerate(cuts)
    ]


def _step_kernel(number: int, cut: Sequence[FusedStage], lines: dict[str, int]) -> StepKernel:
    return StepKernel(
        name=f"k{number:02d}",
        stages=tuple(t.title for t in cut),
        groups=tuple(dict.fromkeys(t.stage.group for t in cut)),
        lines=sum(lines[t.function] for t in cut),
        first_only=all(t.stage.first_only for t in cut),
    )


# ---- header


def _header(fused: FusedKernel, kernels: Sequence[_Cut]) -> list[str]:
    """The plan, and what the names mean."""
    numbers, integers, reals = fused.rows
    text = [
        f"Kernels of {len(fused.stages)} stages for a device: one thread has one world of {fused.precision}, "
        f"{fused.evaluations} evaluation{'s' if fused.evaluations > 1 else ''} per step; scratch of a world: "
        f"{numbers} numbers, {integers} integers, {reals} reals. Row i of world w of an array with so many rows of "
        f"each world stands at (w // {SIDE} * rows + i) * {SIDE} + w % {SIDE}.",
        "",
        *(f"{k.kernel.name}: {'; '.join(k.kernel.stages)}" for k in kernels),
        "",
        *(f"{name}: {text}" for name, text in LEGEND.items()),
    ]
    return [f"# {line}".rstrip() for line in text]


# ---- kernels


def _array(name: str) -> str:
    return f"{name}: ti.types.ndarray(dtype={_TYPES.get(name, 'ti.i32')}, ndim=1)"


def _numbers(*names: str) -> list[str]:
    return [f"{name}: ti.i32" for name in names]


def _definition(name: str, arrays: Sequence[str], numbers: Sequence[str], fused: FusedKernel) -> list[str]:
    """The head of a kernel, and where the memory of its thread's world begins."""
    rows = fused.rows
    return [
        "@ti.kernel",
        f"def {name}({', '.join([*map(_array, arrays), *_numbers(*numbers)])}):",
        "    for i in mode:  # a thread for each of its entries; for range(n) it would be 65,536",
        f"{_PAD}w = at + i",
        f"{_PAD}b = i // {SIDE} * {rows.numbers * SIDE} + i % {SIDE}",
        f"{_PAD}c = i // {SIDE} * {rows.integers * SIDE} + i % {SIDE}",
        *([f"{_PAD}r = i // {SIDE} * {rows.reals * SIDE} + i % {SIDE}"] if rows.reals else [f"{_PAD}r = 0"]),
    ]


def _calls(fused: FusedKernel, stages: Sequence[FusedStage], lines: dict[str, int], pad: str) -> list[str]:
    arguments = ", ".join((*WORLD_ARGUMENTS, *BUFFERS, *fused.optional))
    text = []
    for t in stages:
        if t.function in lines:
            if t.stage.first_only:
                text += [f"{pad}if e == 0:", f"{pad}    {t.function}({arguments})"]
            else:
                text.append(f"{pad}{t.function}({arguments})")
    return text


def _looks(fused: FusedKernel, role: Role, lines: dict[str, int], pad: str) -> list[str]:
    return _calls(fused, fused.with_role(role), lines, pad) or [f"{pad}pass"]


def _integer(place: int | None) -> str:
    """An integer of the world; empty if the kernel has no such."""
    return "" if place is None else f"SI[c + {place * SIDE}]"


def _begin_lines(
    fused: FusedKernel, lines: dict[str, int], load: Sequence[Copied], arrays: Sequence[str], rows: int
) -> list[str]:
    """The kernel before the first pass: worlds that are to be run get what they load."""
    pad, lacking = _PAD + "    ", _integer(fused.lacking)
    text = [
        *_definition("begin", arrays, ("at", "n", "e", "z", "given_room"), fused),
        f"{_PAD}mode[i] = {IDLE}",
        f"{_PAD}run = 0",
        f"{_PAD}if i < n:",
        f"{pad}if taken[w] == 0:",
        f"{pad}    run = 1",
        f"{_PAD}if run == 1:",
        f"{pad}done[i] = 0",
        f"{pad}a = w // {SIDE} * {rows * SIDE} + w % {SIDE}",
        *([f"{pad}{lacking} = 0"] if lacking else []),
    ]
    for n, place in enumerate(fused.forgotten):
        text += [
            f"{pad}for f{n} in range({place.count} + z):",
            f"{pad}    SI[c + ({place.offset} + f{n}) * {SIDE}] = 0",
        ]
    for n, run in enumerate(load):
        text += _copy(f"l{n}", run.count, ("S", "b", run.scratch), ("D", "a", run.device), pad)
    for n, converted in enumerate(fused.converted):
        base = f"w // {SIDE} * {fused.converted_rows * SIDE} + w % {SIDE}"
        text += _copy(
            f"c{n}", converted.count, ("S", "b", converted.scratch), ("C", base, converted.far), pad
        )
    text += _import_lines(fused.imports, pad)
    return [*text, *_looks(fused, "begin", lines, pad)]


def _copy(index: str, count: object, to: _Place, source: _Place, pad: str) -> list[str]:
    """A loop that copies rows."""
    return [
        f"{pad}for {index} in range({count} + z):",
        f"{pad}    {to[0]}[{to[1]} + ({to[2]} + {index}) * {SIDE}] = "
        f"{source[0]}[{source[1]} + ({source[2]} + {index}) * {SIDE}]",
    ]


def _step_kernel_lines(
    fused: FusedKernel, cut: _Cut, lines: dict[str, int], arrays: Sequence[str], *, first: bool, last: bool
) -> list[str]:
    """A kernel of a pass. The first decides what each world does in the pass, the last counts the step."""
    lacking, again = _integer(fused.lacking), _integer(fused.again)
    pad = _PAD + "    "
    text = _definition(cut.kernel.name, arrays, ("at", "n", "e", "z", "first", "last", "nstep"), fused)
    if first:
        text += [
            f"{_PAD}if e == first:",
            f"{pad}if mode[i] == {WAITING}:",
            f"{pad}    mode[i] = {REPEATING}",
            f"{pad}elif mode[i] != {LOST}:",
            f"{pad}    mode[i] = {IDLE}",
            f"{pad}    if i < n:",
            f"{pad}        if ((taken[w] == 0) | (taken[w] == {BEHIND})) & (done[i] < nstep):",
            *([f"{pad}            if {lacking} == 0:"] if lacking else []),
            f"{pad}            {'    ' if lacking else ''}mode[i] = {STEPPING}",
        ]
    text += [f"{_PAD}if (mode[i] == {STEPPING}) | (mode[i] == {REPEATING}):"]
    if first and again:
        text += [
            f"{pad}if (e == 0) & (mode[i] == {STEPPING}):",
            *_looks(fused, "before_step", lines, pad + "    "),
            f"{pad}{again} = 0",
        ]
    text += _calls(fused, cut.members, lines, pad)
    if cut.look:
        text += [
            f"{pad}if (e == 0) & (mode[i] == {STEPPING}):",
            *_looks(fused, "before_integration", lines, pad + "    "),
            f"{pad}    if {again} > 0:",
            f"{pad}        mode[i] = {WAITING}",
        ]
    text += [
        f"{pad}turns = 0",
        f"{pad}for turn in range(2 + z):  # a driver that has had enough of loops does not run it twice",
        f"{pad}    turns = turns + 1",
        f"{pad}if turns < 2:",
        f"{pad}    mode[i] = {LOST}",
    ]
    if last:
        text += [
            f"{pad}if (e == last) & (mode[i] != {WAITING}) & (mode[i] != {LOST}):",
            f"{pad}    done[i] = done[i] + 1",
        ]
    return text


def _import_lines(imports: Exports, pad: str) -> list[str]:
    """Copy what is imported: what has a fixed size, then as much of the lists as is filled."""
    text = []
    if imports.count is not None:
        text += [f"{pad}given = GL[w]", f"{pad}SI[c + {imports.count * SIDE}] = given"]
    for buffer, source, scratch, base in (
        (imports.numbers, "G", "S", "b"),
        (imports.integers, "GI", "SI", "c"),
    ):
        if not (buffer.fixed or buffer.lists):
            continue
        text += [f"{pad}{source}_at = {_box_base(buffer, 'given_room')}"]
        for n, part in enumerate(buffer.fixed):
            place: _Place = (source, f"{source}_at", part.before)
            text += _copy(f"{source.lower()}f{n}", part.width, (scratch, base, part.source), place, pad)
        for n, part in enumerate(buffer.lists):
            row = f"{buffer.fixed_rows} + given_room * {part.before}"
            place = (source, f"{source}_at", row)
            count = f"given * {part.width}"
            text += _copy(f"{source.lower()}l{n}", count, (scratch, base, part.source), place, pad)
    return text


def _box_base(buffer: Buffer, room: str) -> str:
    """Where the rows of a world begin in a buffer of exports or imports."""
    rows = f"({buffer.fixed_rows} + {room} * {buffer.list_width})" if buffer.lists else str(buffer.fixed_rows)
    return f"w // {SIDE} * {rows} * {SIDE} + w % {SIDE}"


def _boxes(exports: Exports, letter: str) -> list[str]:
    """Arrays for what is exported, or imported."""
    return [name.replace("E", letter, 1) for name in exports.names if name != "room"]


def _end_lines(
    fused: FusedKernel, lines: dict[str, int], store: Sequence[Copied], arrays: Sequence[str], rows: int
) -> list[str]:
    """The kernel after the last pass: a world whose lists lack room stores nothing but that number, one whose lists
    are too long to be exported nothing at all, and one that has steps left says so."""
    lacking, exports = _integer(fused.lacking), fused.exports
    pad = _PAD + "        "
    text = [
        *_definition("end", arrays, ("at", "n", "e", "z", "nstep", "room"), fused),
        f"{_PAD}run = 0",
        f"{_PAD}if i < n:",
        f"{_PAD}    if (taken[w] == 0) | (taken[w] == {BEHIND}):",
        f"{_PAD}        run = 1",
        f"{_PAD}if run == 1:",
        f"{_PAD}    if mode[i] == {LOST}:",
        f"{_PAD}        taken[w] = {CUT_OFF}",
        *([f"{_PAD}    elif {lacking} != 0:", f"{_PAD}        taken[w] = {lacking}"] if lacking else []),
        f"{_PAD}    elif done[i] < nstep:",
        f"{_PAD}        taken[w] = {BEHIND}",
        f"{_PAD}    else:",
        *_looks(fused, "end", lines, pad),
        f"{pad}a = w // {SIDE} * {rows * SIDE} + w % {SIDE}",
    ]
    if exports.count is not None:
        text += [
            f"{pad}listed = SI[c + {exports.count * SIDE}]",
            f"{pad}EL[w] = listed",
            f"{pad}if listed > room:",
            f"{pad}    taken[w] = 0",
            f"{pad}else:",
        ]
        pad += "    "
    text += [f"{pad}taken[w] = {DONE}"]
    for buffer, out, scratch, base in (
        (exports.numbers, "E", "S", "b"),
        (exports.integers, "EI", "SI", "c"),
    ):
        if not (buffer.fixed or buffer.lists):
            continue
        text += [f"{pad}{out}_at = {_box_base(buffer, 'room')}"]
        for n, part in enumerate(buffer.fixed):
            place: _Place = (out, f"{out}_at", part.before)
            text += _copy(f"{out.lower()}f{n}", part.width, place, (scratch, base, part.source), pad)
        for n, part in enumerate(buffer.lists):
            place = (out, f"{out}_at", f"{buffer.fixed_rows} + room * {part.before}")
            text += _copy(
                f"{out.lower()}l{n}", f"listed * {part.width}", place, (scratch, base, part.source), pad
            )
    for n, run in enumerate(store):
        text += _copy(f"o{n}", run.count, ("D", "a", run.device), ("S", "b", run.scratch), pad)
    return text


def _first_lines(fused: FusedKernel) -> list[str]:
    """Kernels that fill scratch memory with what it holds at first, and that bring rows to worlds and back."""
    text = [
        "@ti.kernel",
        f"def start(S: {_kind('fp')}, first: {_kind('fp')}, rows: ti.i32):",
        "    for i in S:",
        f"        S[i] = first[i // {SIDE} % rows]",
    ]
    for name, kind in (("numbers", "fp"), ("integers", "ti.i32")):
        arguments = f"X: {_kind(kind)}, H: {_kind(kind)}, rows: ti.i32, row: ti.i32, count: ti.i32"
        place = f"X[(w // {SIDE} * rows + row + i % count) * {SIDE} + w % {SIDE}]"
        loop = ["    for i in H:", "        w = i // count"]
        text += ["@ti.kernel", f"def put_{name}({arguments}):", *loop, f"        {place} = H[i]"]
        text += ["@ti.kernel", f"def get_{name}({arguments}):", *loop, f"        H[i] = {place}"]
    return text


def _kind(kind: str) -> str:
    return f"ti.types.ndarray(dtype={kind}, ndim=1)"
