"""Contacts and numbers of rows from a lane kernel into Data, world by world in MuJoCo's order.

The kernel's list holds a contact if any world of the tile has it; each world's own contacts, in the order of the
list, are its `data.contact`. What the list does not hold follows from it: geoms and dimension from the pair,
`exclude` from distance and margin, `mu` and `efc_address` from the contacts that have rows. Compare mj_collision,
mj_setContact and mj_instantiateContact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.enums import Cone
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.errors import PlanError
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.contacts.contacts_lanes import ABSENT, Pairs, pairs_of
from dovetail.plugins.shared.contacts.exclusion import IN_GAP, INCLUDED, NO_DOFS
from dovetail.plugins.shared.rows.counts_lanes import ALL, EQUALITIES, FRICTION, LIMITS
from dovetail.plugins.shared.rows.counts_lanes import NAME as ROW_COUNTS

if TYPE_CHECKING:
    from dovetail.backends.lanes.exports import Export, Outbox

LISTED = {
    f"contact.{name}": f"contact_list.{name}"
    for name in (
        *("dist", "pos", "frame", "friction", "solref", "solreffriction", "solimp", "includemargin"),
    )
}
"""Fields that the list holds, and the kernel fields that they are made of."""

OF_PAIR = ("contact.geom", "contact.geom1", "contact.geom2", "contact.dim")
OF_ROWS = ("contact.exclude", "contact.mu", "contact.efc_address")
NO_FLEX = ("contact.flex", "contact.elem", "contact.vert")
"""Sides of flexes: lane kernels know geoms only."""

COUNTS = {"ne": EQUALITIES, "nf": FRICTION, "nl": LIMITS, "nefc": ALL}
"""Numbers of rows, and their places among the kernel's counts."""

OF_CANDIDATES = ("candidate_geom", "candidate_pair", "contact_candidate")
"""Of the pairs that were near, only those that touch leave a kernel, one for each contact."""

FIELDS = ("ncon", "ncandidate", *COUNTS, *LISTED, *OF_PAIR, *OF_ROWS, *NO_FLEX, *OF_CANDIDATES)
"""Everything that can be had."""


def delivery(model: ModelLike, wanted: Collection[str]) -> ContactDelivery:
    """What brings some of `FIELDS` into Data."""
    return ContactDelivery(model, frozenset(wanted).intersection(FIELDS))


@attrs.define(eq=False, slots=False)
class ContactDelivery:
    """Which kernel fields are needed for the wanted fields, and how they are made of them."""

    model: Any
    wanted: frozenset[str]
    memo: Mapping[str, Any] = attrs.field(factory=dict)
    """What the kernel was built with, if its contacts come from elsewhere."""

    @property
    def pairs(self) -> Pairs:
        """The table that the kernel's list of contacts refers to."""
        if "contacts/pairs" in self.memo:
            given: Pairs = self.memo["contacts/pairs"]
            return given
        return self._own_pairs

    @cached_property
    def _own_pairs(self) -> Pairs:
        return pairs_of(self.model)

    @property
    def exports(self) -> tuple[Export, ...]:
        from dovetail.backends.lanes.exports import Export

        found = [Export("contact_list.ncon")]
        if self.wanted.intersection((*COUNTS, "contact.efc_address")):
            found.append(Export(ROW_COUNTS))
        if self.of_contacts:
            lists = {"contact_list.dist", *(LISTED[name] for name in self.of_contacts if name in LISTED)}
            if self.wanted.intersection(OF_ROWS):
                lists |= {"contact_list.includemargin", "contact_list.friction"}
            found += [Export(name, count="contact_list.count") for name in sorted(lists)]
            found.append(Export("contact_list.pair", integers=True, count="contact_list.count"))
        return tuple(found)

    @property
    def of_contacts(self) -> tuple[str, ...]:
        """Those that have a row per contact."""
        return tuple(n for n in self.wanted if n.startswith("contact.") or n in OF_CANDIDATES)

    def write(self, data: Any, outbox: Outbox) -> None:
        """Fill the wanted fields of all worlds."""
        shape = (outbox.ntile, 1, outbox.lanes)
        ncon = outbox["contact_list.ncon"] if "contact_list.ncon" in outbox else np.zeros(shape)
        rows = outbox[ROW_COUNTS] if ROW_COUNTS in outbox else np.zeros((shape[0], 4, shape[2]))
        counts = {"ncon": ncon, "ncandidate": ncon} | {
            name: rows[:, at : at + 1] for name, at in COUNTS.items()
        }
        for name, numbers in counts.items():
            if name in self.wanted:
                data.arena.block(data.arena.layout.places[name])[...] = numbers
        if self.of_contacts and ncon.any() and "contact_list.dist" not in outbox:
            raise PlanError(
                f"a kernel has contacts and does not hand them out, for {', '.join(self.of_contacts)}"
            )
        if self.of_contacts and "contact_list.dist" in outbox:
            data.reserve(ncon_max=int(ncon.max()), ncandidate_max=int(ncon.max()))
            _Contacts(self.model, self.pairs, outbox, rows).write(data, self.of_contacts)


@attrs.define(eq=False, slots=False)
class _Contacts:
    """The contacts of all worlds, one row each: sorted by tile, then by place in the tile's list, then by lane."""

    model: Any
    pairs: Pairs
    outbox: Outbox
    row_counts: Array

    @cached_property
    def where(self) -> tuple[Array, Array, Array]:
        """Tile, place in the tile's list, and lane of each contact."""
        dist = self.outbox["contact_list.dist"][:, :, 0]
        listed = np.arange(dist.shape[1]) < self.outbox.lengths[: len(dist), None]
        tile, place, lane = np.nonzero((dist < 0.5 * ABSENT) & listed[:, :, None])
        return tile, place, lane

    @cached_property
    def number(self) -> Array:
        """Which of its world's contacts each one is."""
        return self._sum_before(np.ones(len(self.where[0]), int))

    def _sum_before(self, values: Array) -> Array:
        """Sum of the values of the contacts that stand before each one in its world."""
        (tile, place, lane), dist = self.where, self.outbox["contact_list.dist"]
        table = np.zeros((dist.shape[0], dist.shape[1], dist.shape[3]), int)
        table[tile, place, lane] = values
        return (np.cumsum(table, axis=1) - table)[tile, place, lane]

    @cached_property
    def pair(self) -> Array:
        tile, place, _ = self.where
        return self.outbox["contact_list.pair"][tile, place, 0]

    def listed(self, name: str) -> Array:
        """A column of the list, (n, width)."""
        tile, place, lane = self.where
        return self.outbox[name][tile, place, :, lane]

    def write(self, data: Any, wanted: Collection[str]) -> None:
        """Write fields to where each world keeps them."""
        tile, _, lane = self.where
        for name in wanted:
            place = data.arena.layout.places[name]
            block = data.arena.block(place)
            width = int(np.prod(place.shape[1:], dtype=int))
            rows = block.reshape(block.shape[0], place.shape[0], width, block.shape[2])
            rows[tile, self.number, :, lane] = self.field(name)

    def field(self, name: str) -> Array:
        """A field of all contacts, (n, width)."""
        if name in LISTED:
            return self.listed(LISTED[name])
        makers: dict[str, Callable[[], Array]] = {
            "contact.geom": lambda: self.geoms,
            "contact.geom1": lambda: self.geoms[:, :1],
            "contact.geom2": lambda: self.geoms[:, 1:],
            "contact.dim": lambda: self.dim[:, None],
            "contact.exclude": lambda: self.exclude[:, None],
            "contact.mu": lambda: self.mu[:, None],
            "contact.efc_address": lambda: self.efc_address[:, None],
            "candidate_geom": lambda: self.geoms,
            "candidate_pair": lambda: self.pairs.pair[self.pair][:, None],
            "contact_candidate": lambda: self.number[:, None],
        }
        return makers[name]() if name in makers else np.full((len(self.pair), 2), -1)

    @property
    def geoms(self) -> Array:
        return np.stack([self.pairs.geom1, self.pairs.geom2], axis=1)[self.pair]

    @cached_property
    def dim(self) -> Array:
        """By the rule of priorities that the kernel was built with."""
        return self.outbox.tables["contact_list.dim"][self.pair]

    @cached_property
    def exclude(self) -> Array:
        in_gap = self.listed("contact_list.dist")[:, 0] >= self.listed("contact_list.includemargin")[:, 0]
        moves = self.pairs.moves[self.pair] > 0
        return np.where(in_gap, IN_GAP, np.where(moves, INCLUDED, NO_DOFS))

    @property
    def mu(self) -> Array:
        """Friction of the regularised cone; 0 without friction or rows."""
        slide = self.listed("contact_list.friction")[:, 0]
        has_friction = (self.dim > 1) & (self.exclude == INCLUDED)
        return np.where(has_friction, slide / np.sqrt(max(float(self.model.opt.impratio), MINVAL)), 0.0)

    @property
    def efc_address(self) -> Array:
        elliptic = int(self.model.opt.cone) == Cone.ELLIPTIC
        count = np.where(self.dim == 1, 1, self.dim if elliptic else 2 * (self.dim - 1))
        count = np.where(self.exclude == INCLUDED, count, 0)
        tile, _, lane = self.where
        first = self.row_counts[tile, :, lane][:, :ALL].sum(axis=1).astype(int)
        return np.where(count > 0, first + self._sum_before(count), -1)
