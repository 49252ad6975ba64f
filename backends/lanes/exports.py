"""Kernel fields that are wanted outside: copied from every tile after its last step.

What stages of a kernel hand each other is no Data field and lies in scratch memory, which the next tile overwrites.
An export names such a field; the kernel then copies it to a buffer of its own when a tile is done. A field that is a
list has a uniform integer that says how many of its rows are filled: only these are copied. A list has room for so
many rows; if a tile has more, nothing of it is copied, its length tells, and the launch is repeated with more room.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from dovetail.backends.lanes.kernel import INTEGERS, PRIVATE, FieldPlace, LaneError
from dovetail.backends.lanes.memory import KERNEL
from dovetail.contracts.arena import aligned_zeros

FIRST_ROOM = 16
"""Rows of a list that there is room for at first."""


@attrs.frozen
class Export:
    """A kernel field by its declared name, or memory of the program itself."""

    name: str
    integers: bool = False
    """Whether it is uniform integers."""
    count: str = ""
    """The kernel field that says how many rows are filled; empty: it is no list."""
    owner: str = KERNEL
    alarm: int | None = None
    """Of what is no list: its row in which a number other than 0 says that somebody must look at it afterwards."""

    @property
    def memory(self) -> str:
        return memory_name(self.name, self.integers, self.owner)

    @property
    def count_memory(self) -> str:
        return memory_name(self.count, integers=True)


def memory_name(name: str, integers: bool, owner: str = KERNEL) -> str:
    """Where a kernel field lies, or memory of the program."""
    return f"{owner}{PRIVATE}{name}{INTEGERS if integers else ''}"


def wanted_memories(exports: Iterable[Export]) -> list[str]:
    """Memory that must be computed."""
    return [m for e in exports for m in (e.memory, *((e.count_memory,) if e.count else ()))]


@attrs.frozen
class Part:
    """An export with its place: rows before it, of the fixed part or per row of room."""

    export: Export
    source: int
    """First row in scratch."""
    width: int
    """Rows in all, or per row of the list."""
    before: int


@attrs.frozen
class Buffer:
    """The exports of numbers, or of integers: first what has a fixed size, then the lists."""

    fixed: tuple[Part, ...]
    lists: tuple[Part, ...]

    @property
    def fixed_rows(self) -> int:
        return sum(p.width for p in self.fixed)

    @property
    def list_width(self) -> int:
        return sum(p.width for p in self.lists)

    def rows(self, room: int) -> int:
        """Rows per tile."""
        return self.fixed_rows + room * self.list_width


@attrs.frozen
class Exports:
    """What a program exports, and where."""

    numbers: Buffer
    integers: Buffer
    count: int | None
    """Scratch row of the lists' length, None without lists."""

    @property
    def any(self) -> bool:
        return bool(self.numbers.fixed or self.numbers.lists or self.integers.fixed or self.integers.lists)

    @classmethod
    def of(
        cls,
        wanted: Sequence[Export],
        places: Mapping[str, FieldPlace],
    ) -> Exports:
        """Those whose memory the program has; what no stage uses is not there."""
        present = [e for e in wanted if e.memory in places]
        counts = {e.count_memory for e in present if e.count}
        if len(counts) > 1:
            raise LaneError(f"exported lists must have one length, not {len(counts)}")
        numbers = _buffer([e for e in present if not e.integers], places)
        integers = _buffer([e for e in present if e.integers], places)
        return cls(numbers, integers, places[counts.pop()].offset if counts else None)

    @property
    def alarms(self) -> list[int]:
        """Scratch rows in which a number other than 0 says that somebody must look."""
        return [
            part.source + part.export.alarm for part in self.numbers.fixed if part.export.alarm is not None
        ]

    @property
    def names(self) -> list[str]:
        """Arguments of the kernel that are needed: buffers of numbers and of integers, the lists' lengths and the
        room for them."""
        needed = {
            "E": bool(self.numbers.fixed or self.numbers.lists),
            "EI": bool(self.integers.fixed or self.integers.lists),
            "EL": self.count is not None,
            "room": self.count is not None,
        }
        return [name for name, wanted in needed.items() if wanted]


def _buffer(exports: Iterable[Export], places: Mapping[str, FieldPlace]) -> Buffer:
    parts: dict[bool, list[Part]] = {False: [], True: []}
    for export in exports:
        place, known = places[export.memory], parts[bool(export.count)]
        width = place.count // place.shape[0] if export.count else place.count
        known.append(Part(export, place.offset, width, sum(p.width for p in known)))
    return Buffer(tuple(parts[False]), tuple(parts[True]))


@attrs.define(eq=False)
class Outbox:
    """The buffers that a program's exports are copied to."""

    exports: Exports
    lanes: int
    dtype: np.dtype[Any]
    tables: Mapping[str, NDArray[Any]] = attrs.field(factory=dict)
    """Kernel fields that are tables, by name."""
    room: int = FIRST_ROOM
    ntile: int = 0
    numbers: NDArray[Any] = attrs.field(init=False)
    integers: NDArray[Any] = attrs.field(init=False)
    lengths: NDArray[Any] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._allocate(0, self.room)

    def _allocate(self, ntile: int, room: int) -> None:
        self.ntile, self.room = ntile, room
        rows = self.exports.numbers.rows(room)
        self.numbers = aligned_zeros((max(1, ntile * rows), self.lanes), self.dtype)
        self.integers = np.zeros(max(1, ntile * self.exports.integers.rows(room)), np.int32)
        self.lengths = np.zeros(max(1, ntile), np.int32)

    def make_room(self, ntile: int, room: int) -> None:
        """Have buffers for so many tiles, with lists at least so long."""
        if ntile != self.ntile or room > self.room:
            self._allocate(ntile, max(room * 3 // 2, self.room))

    def prepare(self, ntile: int) -> None:
        """Have buffers for so many tiles."""
        if ntile != self.ntile:
            self._allocate(ntile, self.room)

    @property
    def too_small(self) -> bool:
        """Whether the last launch found a list longer than there is room for."""
        return self.exports.count is not None and int(self.lengths.max()) > self.room

    @property
    def alarmed(self) -> bool:
        """Whether the last launch left something to look at."""
        parts = [part.export for part in self.exports.numbers.fixed if part.export.alarm is not None]
        return any(self[export.name][:, export.alarm].any() for export in parts)

    def enlarge(self) -> None:
        """Make room for the longest list that was found, and half as much again; what is there stays."""
        names = [part.export.name for _, part in self._parts()]
        before, lengths = {name: self[name] for name in names}, self.lengths
        self._allocate(self.ntile, int(lengths.max()) * 3 // 2 + 1)
        self.lengths[:] = lengths
        for name, old in before.items():
            self[name][:, : old.shape[1]] = old

    def __contains__(self, name: str) -> bool:
        return any(p.export.name == name for _, p in self._parts())

    def _parts(self) -> Iterable[tuple[Buffer, Part]]:
        for buffer in (self.exports.numbers, self.exports.integers):
            for part in (*buffer.fixed, *buffer.lists):
                yield buffer, part

    def __getitem__(self, name: str) -> NDArray[Any]:
        """What was exported under a name: numbers (ntile, rows, width, W) of a list, (ntile, width, W) of others;
        integers without the last axis. Rows of lists beyond their length hold anything."""
        buffer, part = next((b, p) for b, p in self._parts() if p.export.name == name)
        flat = self.integers if part.export.integers else self.numbers
        tail = () if part.export.integers else (self.lanes,)
        tiles = flat[: self.ntile * buffer.rows(self.room)].reshape(self.ntile, -1, *tail)
        if not part.export.count:
            return tiles[:, part.before : part.before + part.width]
        start = buffer.fixed_rows + self.room * part.before
        rows = tiles[:, start : start + self.room * part.width]
        return rows.reshape(self.ntile, self.room, part.width, *tail)
