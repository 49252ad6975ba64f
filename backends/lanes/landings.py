"""Data fields that are made of kernel memory when a kernel ends, and that are no fields of the kernel itself.

Some are counts: a number per world, or as many in every world. The others are lists, which a kernel keeps for the
tile as a whole: an entry is in it if any world of the tile has it. In Data every world has its own entries, one
behind the other. So landing a list is sorting it out: of each world the entries that it has, in the list's order. A
runtime that can does it in the kernel, to the places of Data themselves; for others the lists are exported and sorted
out here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.backends.lanes.exports import Export, Outbox
from dovetail.backends.lanes.memory import FieldPlace
from dovetail.contracts.fields import Array

if TYPE_CHECKING:
    from dovetail.contracts.types import Data


@attrs.frozen
class Landing:
    """A Data field and the kernel memory that it is made of."""

    field: str
    memory: Export
    """With a `count`: a list whose entries are sorted out by world."""
    row: int = 0
    """Of what is no list: the first number to take."""
    width: int = 1
    """Of what is no list: how many numbers."""


@attrs.frozen
class Landings:
    """All that lands of a kernel: counts, and lists of one length."""

    counts: tuple[Landing, ...] = ()
    lists: tuple[Landing, ...] = ()
    present: Export | None = None
    """The list that says, by 1 and 0, which worlds have an entry."""
    capacities: tuple[str, ...] = ()
    """Sizes of Data that lists need room by."""

    def reserve(self, data: Data, most: int) -> None:
        """Have room in Data for lists of so many entries."""
        data.reserve(**dict.fromkeys(self.capacities, most))

    @property
    def exports(self) -> list[Export]:
        """The memory that it needs."""
        of_lists = [self.present] if self.present is not None else []
        return list(dict.fromkeys([*(each.memory for each in (*self.counts, *self.lists)), *of_lists]))

    def write(self, data: Data, outbox: Outbox) -> None:
        """Fill the fields of all worlds with what was exported."""
        for each in self.counts:
            block = data.arena.block(data.arena.layout.places[each.field])
            name = each.memory.name
            taken = slice(each.row, each.row + each.width)
            block[...] = outbox[name][:, taken] if name in outbox else 0
        if self.lists and self.present is not None and self.present.name in outbox:
            self._write_lists(data, outbox, self.present)

    def _write_lists(self, data: Data, outbox: Outbox, present: Export) -> None:
        has = outbox[present.name][:, :, 0] > 0.5  # (ntile, entries, W)
        has &= (np.arange(has.shape[1]) < outbox.lengths[: len(has), None])[:, :, None]
        self.reserve(data, int(has.sum(axis=1).max(initial=0)))
        tile, entry, lane = np.nonzero(has)
        number: Array = (np.cumsum(has, axis=1) - has)[tile, entry, lane]
        for each in self.lists:
            if (
                each.memory.name not in outbox
            ):  # no stage of the kernel writes it, so that there are no entries
                continue
            place = data.arena.layout.places[each.field]
            block = data.arena.block(place)
            width = math.prod(place.shape[1:])
            rows = block.reshape(block.shape[0], place.shape[0], width, block.shape[2])
            values: Array = outbox[each.memory.name][tile, entry, :, lane]
            rows[tile, number, :, lane] = values

    def clear_counts(self, data: Data, placed: PlacedLandings) -> None:
        """Zero the counts of what a kernel that lands the others does not have."""
        landed = {each.field for each in placed.counts}
        for each in self.counts:
            if each.field not in landed:
                data.arena.block(data.arena.layout.places[each.field])[...] = 0


@attrs.frozen
class PlacedLanding:
    """A landing with the row of scratch memory at which its numbers begin, and how many there are, of a list by
    entry."""

    field: str
    source: int
    width: int


@attrs.frozen
class PlacedLandings:
    """What a kernel lands itself, for its printer."""

    counts: tuple[PlacedLanding, ...]
    lists: tuple[PlacedLanding, ...]
    present: int
    """Row of scratch at which the list of who has an entry begins."""
    count: int | None
    """The integer that holds the length of the lists; None without lists."""

    @classmethod
    def of(cls, landings: Landings, places: Mapping[str, FieldPlace]) -> PlacedLandings:
        """Those whose memory the kernel has."""

        def placed(each: Landing) -> PlacedLanding:
            place = places[each.memory.memory]
            width = place.count // place.shape[0] if each.memory.count else each.width
            return PlacedLanding(each.field, place.offset + each.row, width)

        counts = [placed(each) for each in landings.counts if each.memory.memory in places]
        present = landings.present
        if present is None or present.memory not in places:
            return cls(tuple(counts), (), 0, None)
        lists = [placed(each) for each in landings.lists if each.memory.memory in places]
        count = places[present.count_memory].offset
        return cls(tuple(counts), tuple(lists), places[present.memory].offset, count)

    def __bool__(self) -> bool:
        return bool(self.counts or self.lists)


def joined(landings: Iterable[Landings]) -> Landings:
    """All of them as one; only one may have lists."""
    every = list(landings)
    listed = [each for each in every if each.lists]
    if len(listed) > 1:
        raise AssertionError("lists of more than one kind land")
    counts: list[Any] = [count for each in every for count in each.counts]
    return attrs.evolve(listed[0] if listed else Landings(), counts=tuple(counts))
