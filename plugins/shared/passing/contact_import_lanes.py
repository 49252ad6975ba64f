"""Contacts that another backend found, sorted into the lists of a lane kernel's tiles.

Each world has its contacts in Data; a kernel wants one list per tile, in which a contact stands if any world has it.
Contacts of the same pair of sides are put together, the first of a pair with the first, in the order of the kernel's
table of pairs. Where a world has them in another order, which a solver that sweeps would notice, the tile's contacts
stand one by one, so that every world's own order remains.

What a stage of one's own finds need not be what dovetail's would: pairs that are no pairs of the table, more contacts
per pair than it has room for, other dimensions. Such rows are added to the table, and the kernel is built again with
it. Compare `contact_delivery_lanes`, the way back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import PlanError
from dovetail.plugins.shared.contacts.contacts_lanes import (
    ABSENT,
    NONE,
    PairIds,
    Pairs,
    pair_order,
    pair_table,
    pairs_of,
)
from dovetail.plugins.shared.contacts.exclusion import INCLUDED

if TYPE_CHECKING:
    from dovetail.backends.lanes.imports import TileLists

GROUP = "contact_list"
DIM = f"{GROUP}.dim"

LISTED = ("dist", "pos", "frame", "friction", "solref", "solreffriction", "solimp", "includemargin")
"""Numbers per contact; the Data field has the same name."""

ODD = -2
"""Instead of a vertex, for sides that no row of the table can be."""

ROOM = 8
"""Contacts per pair that there is room for at first."""


def fetch(model: ModelLike, wanted: Collection[str]) -> ContactLists:
    """What brings some fields of `contact_list` into a kernel."""
    return ContactLists(model, frozenset(wanted))


class PairRow(NamedTuple):
    """A row of the table of pairs: geoms, explicit pair or -1, flex, element and vertex of the second side or -1,
    dimension (0 if a lane stage works it out)."""

    geom1: int
    geom2: int
    pair: int
    flex: int
    elem: int
    vert: int
    dim: int


DIM_COLUMN = PairRow._fields.index("dim")


def ids_of(rows: Array) -> PairIds:
    """The sides of rows (n, 7)."""
    return PairIds(rows[:, :2], *rows[:, 2:DIM_COLUMN].T)


@attrs.define(eq=False, slots=False)
class ContactLists:
    """The lists of all tiles, made of Data; it learns which pairs there are."""

    model: Any
    wanted: frozenset[str]
    _room: dict[PairRow, int] = attrs.field(init=False)
    """Contacts that each row has room for in a tile."""

    def __attrs_post_init__(self) -> None:
        pairs = pairs_of(self.model)
        dim = pairs.dim if self._has_dims else np.zeros_like(pairs.dim)
        columns = (pairs.geom1, pairs.geom2, pairs.pair, pairs.flex, pairs.elem, pairs.vert, dim)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        self._room = {
            PairRow(*row): max(ROOM, int(n)) for row, n in zip(rows, pairs.most_contacts, strict=True)
        }
        self._settle()

    @property
    def _has_dims(self) -> bool:
        """Whether the dimensions come with the contacts."""
        return DIM in self.wanted

    def _settle(self) -> None:
        """Put the rows into the order of the table."""
        rows = np.array(list(self._room), int).reshape(-1, len(PairRow._fields))
        order = pair_order(self.model, ids_of(rows)) if len(rows) else np.zeros(0, int)
        self._rows = rows[order]
        self._room_of_rows = np.array(list(self._room.values()), int)[order]
        self._number = {PairRow(*row): n for n, row in enumerate(self._rows.tolist())}

    @property
    def memo(self) -> Mapping[str, Any]:
        """What the kernel must be built with: the table of pairs."""
        dim = self._rows[:, DIM_COLUMN] if self._has_dims else None
        pairs: Pairs = pair_table(self.model, ids_of(self._rows), most_contacts=self._room_of_rows, dim=dim)
        return {"contacts/pairs": pairs}

    @property
    def tables(self) -> Mapping[str, Array]:
        """Kernel fields of constants."""
        return {DIM: self._rows[:, DIM_COLUMN]} if self._has_dims else {}

    def read(self, data: DataLike) -> TileLists:
        """The lists as Data has them now; `learnt` of the answer says whether the kernel must be built anew."""
        from dovetail.backends.lanes.imports import TileLists

        found = _Found(data)
        rows, learnt = self._rows_of(found)
        places = _Places.of(found, rows)
        learnt |= self._make_room(found, rows, places)
        if learnt:
            self._settle()
            rows, _ = self._rows_of(found)
            places = _Places.of(found, rows)
        return TileLists(
            lengths=places.lengths,
            integers=self._integers(found, rows, places),
            numbers=self._numbers(found, places),
            fixed={f"{GROUP}.ncon": found.ncon} if f"{GROUP}.ncon" in self.wanted else {},
            count=f"{GROUP}.count",
            learnt=learnt,
        )

    def _rows_of(self, found: _Found) -> tuple[Array, bool]:
        """The row of each contact, and whether there were new ones."""
        dim = found.column("contact.dim")[:, 0] if self._has_dims else np.zeros(len(found.tile), int)
        keys = np.stack([*found.geoms.T, found.explicit, *found.flexes.T, dim], axis=1).astype(int)
        unique, inverse = np.unique(keys, axis=0, return_inverse=True)
        new = [PairRow(*key) for key in unique.tolist() if PairRow(*key) not in self._room]
        for row in new:
            self._check(row)
            self._room[row] = ROOM
        if new:
            self._settle()
        numbers = np.array([self._number[PairRow(*key)] for key in unique.tolist()], int)
        return numbers[inverse.reshape(-1)], bool(new)

    def _check(self, row: PairRow) -> None:
        """A row that a kernel can work with."""
        ngeom, nflex = int(self.model.ngeom), int(self.model.nflex)
        of_geoms = 0 <= row.geom2 < ngeom and row.flex < 0
        of_flex = row.geom2 < 0 and 0 <= row.flex < nflex
        if not (0 <= row.geom1 < ngeom and (of_geoms or (of_flex and self._is_inside(row)))):
            flexes = (
                "" if row.flex == NONE else f", flex {row.flex}, element {row.elem} and vertex {row.vert}"
            )
            raise PlanError(
                f"a contact names geoms {row.geom1} and {row.geom2}{flexes}, but the model has {ngeom} geoms and "
                f"{nflex} flexes; lane kernels know contacts of two geoms, and of a geom with a vertex or an element "
                'of a flex that sits on bodies; run others on NumPy: stages={"constraint_rows": "@numpy"}'
            )
        if self._has_dims and row.dim not in (1, 3, 4, 6):
            raise PlanError(
                f"a contact of geoms {row.geom1} and {row.geom2} has dimension {row.dim}, not 1, 3, 4 or 6"
            )

    def _is_inside(self, row: PairRow) -> bool:
        """Whether the flex of a row has its vertex or element, and its vertices sit on bodies."""
        model = self.model
        vertex = row.elem == NONE and 0 <= row.vert < int(model.flex_vertnum[row.flex])
        element = row.vert == NONE and 0 <= row.elem < int(model.flex_elemnum[row.flex])
        return (vertex or element) and not int(model.flex_interp[row.flex])

    def _make_room(self, found: _Found, rows: Array, places: _Places) -> bool:
        """Make room for as many contacts of a row as a tile has; whether that is more than before."""
        if not len(rows):
            return False
        entries = np.unique(np.stack([found.tile, places.place, rows], axis=1), axis=0)
        _, number, count = np.unique(entries[:, [0, 2]], axis=0, return_inverse=True, return_counts=True)
        most = np.zeros(len(self._rows), int)
        np.maximum.at(most, entries[:, 2], count[number.reshape(-1)])
        lacking = np.flatnonzero(most > self._room_of_rows)
        for row in lacking:
            self._room[PairRow(*self._rows[row].tolist())] = 2 * int(most[row])
        return bool(len(lacking))

    def _integers(self, found: _Found, rows: Array, places: _Places) -> dict[str, Array]:
        """Row and number within the row of every entry, (ntile, room)."""
        pair = np.zeros(places.shape, np.int32)
        index = np.zeros(places.shape, np.int32)
        pair[found.tile, places.place] = rows
        index[found.tile, places.place] = places.index
        both = {f"{GROUP}.pair": pair, f"{GROUP}.index_in_pair": index}
        return {name: values for name, values in both.items() if name in self.wanted}

    def _numbers(self, found: _Found, places: _Places) -> dict[str, Array]:
        """Every wanted column, (ntile, room, width, W). In worlds without a contact it is at no distance, and has the
        parameters of a world that has it."""
        columns = {}
        for name in LISTED:
            if f"{GROUP}.{name}" in self.wanted:
                values = found.column(f"contact.{name}")
                if name == "includemargin":
                    values = self._margins(found, values)
                columns[f"{GROUP}.{name}"] = self._spread(found, places, name, values)
        return columns

    def _spread(self, found: _Found, places: _Places, name: str, values: Array) -> Array:
        lists = np.zeros((*places.shape, values.shape[1], found.lanes), values.dtype)
        if name == "dist":
            lists[...] = ABSENT
        elif name == "frame":
            lists[...] = np.eye(3).reshape(1, 1, 9, 1)
        elif name != "pos":
            lists[found.tile, places.place] = values[:, :, None]
        lists[found.tile, places.place, :, found.lane] = values
        return lists

    def _margins(self, found: _Found, margin: Array) -> Array:
        """Include margins; of contacts that a stage of one's own excludes, one below any distance."""
        exclude = found.column("contact.exclude")[:, 0]
        far = found.column("contact.dist")[:, 0] >= margin[:, 0]
        if ((exclude == INCLUDED) & far).any():
            raise PlanError(
                "contact_params includes a contact that is not nearer than its includemargin, which constraint rows "
                'in lanes cannot express; run them on NumPy: stages={"constraint_rows": "@numpy"}'
            )
        own = (exclude != INCLUDED) & ~far & self._moves(found)
        return np.where(own[:, None], -ABSENT, margin)

    def _moves(self, found: _Found) -> Array:
        """Whether a side of each contact can move."""
        rows, _ = self._rows_of(found)
        pairs: Pairs = self.memo["contacts/pairs"]
        return pairs.moves[rows] != 0


class _Found:
    """The contacts of all worlds, one row each: by tile, then by number in the world, then by lane."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self.lanes = int(data.arena.lanes)
        self.ncon = self._block("ncon").astype(data.arena.buffers["real"].dtype)
        room = self._block("contact.dist").shape[1]
        there = np.arange(room)[None, :, None] < self.ncon
        there &= np.arange(there.shape[0] * self.lanes).reshape(-1, 1, self.lanes) < _worlds(data)
        self.tile, self.number, self.lane = np.nonzero(there)

    def _block(self, name: str) -> Array:
        """A field as (ntile, rows · width, W)."""
        block: Array = self._data.arena.block(self._data.arena.layout.places[name])
        return block

    def _rows(self, name: str) -> Array:
        place = self._data.arena.layout.places[name]
        block = self._block(name)
        width = int(np.prod(place.shape[1:], dtype=int))
        return block.reshape(block.shape[0], place.shape[0], width, block.shape[2])

    def column(self, name: str) -> Array:
        """A field of all contacts, (n, width)."""
        return self._rows(name)[self.tile, self.number, :, self.lane]

    @cached_property
    def geoms(self) -> Array:
        return self.column("contact.geom")

    @cached_property
    def flexes(self) -> Array:
        """(n, 3) flex, element and vertex of the second side, -1 for a geom. Where the first side is a flex the
        vertex is a number that no row of the table allows."""
        flex, elem, vert = (self.column(f"contact.{name}") for name in ("flex", "elem", "vert"))
        odd = (flex[:, 0] >= 0) | (elem[:, 0] >= 0) | (vert[:, 0] >= 0)
        return np.stack([flex[:, 1], elem[:, 1], np.where(odd, ODD, vert[:, 1])], axis=1)

    @cached_property
    def explicit(self) -> Array:
        """The explicit pair each contact comes from, -1 for none."""
        candidate = self.column("contact_candidate")[:, 0]
        known = self._rows("candidate_pair")
        inside = (candidate >= 0) & (candidate < known.shape[1])
        at = np.where(inside, candidate, 0)
        geoms = self._rows("candidate_geom")[self.tile, at, :, self.lane]
        same = (np.sort(geoms, axis=1) == np.sort(self.geoms, axis=1)).all(axis=1)
        return np.where(inside & same, known[self.tile, at, 0, self.lane], -1)


def _worlds(data: Any) -> int:
    return 1 if data.nworld is None else int(data.nworld)


@attrs.frozen(eq=False)
class _Places:
    """Where each contact stands in the list of its tile."""

    place: Array
    index: Array
    """Which of its world's contacts of the same row it is."""
    lengths: Array
    """By tile."""

    @property
    def shape(self) -> tuple[int, int]:
        """Tiles, and the length of the longest list."""
        return len(self.lengths), max(1, int(self.lengths.max(initial=0)))

    @classmethod
    def of(cls, found: _Found, rows: Array) -> _Places:
        world = found.tile * found.lanes + found.lane
        order = np.lexsort((found.number, world))
        index = np.zeros(len(rows), int)
        index[order] = _repetitions(world[order], rows[order])
        turned = np.zeros(found.ncon.shape[0], bool)
        falls = (np.diff(world[order]) == 0) & (np.diff(rows[order]) < 0)
        turned[found.tile[order][1:][falls]] = True
        alone = turned[found.tile]
        width = int(index.max(initial=0)) + 1
        key = np.where(alone, found.number * found.lanes + found.lane, rows * width + index)
        entries, inverse = np.unique(np.stack([found.tile, key], axis=1), axis=0, return_inverse=True)
        lengths = np.bincount(entries[:, 0], minlength=found.ncon.shape[0])
        first = np.cumsum(lengths) - lengths
        place = inverse.reshape(-1) - first[found.tile]
        return cls(place, index, lengths)


def _repetitions(world: Array, rows: Array) -> Array:
    """How often the same world had the same row before, for contacts sorted by world."""
    order = np.lexsort((np.arange(len(rows)), rows, world))
    starts = np.append(True, (np.diff(world[order]) != 0) | (np.diff(rows[order]) != 0))[: len(rows)]
    first = (
        np.maximum.accumulate(np.where(starts, np.arange(len(rows)), 0)) if len(rows) else np.zeros(0, int)
    )
    counts = np.zeros(len(rows), int)
    counts[order] = np.arange(len(rows)) - first
    return counts
