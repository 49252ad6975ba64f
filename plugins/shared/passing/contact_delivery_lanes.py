"""Contacts and numbers of rows from a lane kernel into Data, world by world in MuJoCo's order.

The kernel's list holds a contact if any world of the tile has it; each world's own contacts, in the order of the
list, are its `data.contact`. What the list does not hold follows from it, and is worked out when the kernel ends:
geoms and dimension from the pair, `exclude` from distance and margin, `mu` and `efc_address` from the contacts that
have rows. Compare mj_collision, mj_setContact and mj_instantiateContact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.enums import Cone
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts
from dovetail.plugins.shared.contacts.exclusion import IN_GAP, INCLUDED, NO_DOFS
from dovetail.plugins.shared.rows.counts_lanes import ALL, EQUALITIES, FRICTION, LIMITS
from dovetail.plugins.shared.rows.counts_lanes import NAME as ROW_COUNTS

if TYPE_CHECKING:
    from dovetail.backends.lanes.fuse import LaneStage
    from dovetail.backends.lanes.kernel import Kernel
    from dovetail.backends.lanes.landings import Landings

LISTED = {
    f"contact.{name}": f"contact_list.{name}"
    for name in (
        *("dist", "pos", "frame", "friction", "solref", "solreffriction", "solimp", "includemargin"),
    )
}
"""Fields that the list holds, and the kernel fields that they are made of."""

WORKED_OUT = {
    "contact.geom": 2,
    "contact.geom1": 1,
    "contact.geom2": 1,
    "contact.dim": 1,
    "contact.exclude": 1,
    "contact.mu": 1,
    "contact.efc_address": 1,
    "contact.flex": 2,
    "contact.elem": 2,
    "contact.vert": 2,
    "candidate_geom": 2,
    "candidate_flex": 2,
    "candidate_elem": 2,
    "candidate_vert": 2,
    "candidate_pair": 1,
    "contact_candidate": 1,
}
"""Fields that follow from the list, and how many numbers of each a contact has. Of the pairs that were near
(candidates), only those that touch leave a kernel, one for each contact. Lane kernels know flexes as second sides
only, whose first is a geom."""

COUNTS = {"ne": EQUALITIES, "nf": FRICTION, "nl": LIMITS, "nefc": ALL}
"""Numbers of rows, and their places among the kernel's counts."""

NCON = ("ncon", "ncandidate")

FIELDS = (*NCON, *COUNTS, *LISTED, *WORKED_OUT)
"""Everything that can be had."""

PRESENT = "landing/present"

NONE = -1
"""The id of what is not there."""


def delivery(model: ModelLike, wanted: Collection[str]) -> ContactDelivery:
    """What brings some of `FIELDS` into Data."""
    return ContactDelivery(tuple(name for name in FIELDS if name in wanted))


@attrs.frozen
class ContactDelivery:
    """Which kernel fields are needed for the wanted fields, and how they are made of them."""

    wanted: tuple[str, ...]

    def landings(self, there: Collection[str]) -> Landings:
        """What lands, of kernel fields that are there."""
        from dovetail.backends.lanes.exports import Export
        from dovetail.backends.lanes.kernel import PROGRAM
        from dovetail.backends.lanes.landings import Landing, Landings

        def listed(name: str, owner: str = "kernel") -> Export:
            return Export(name, count="contact_list.count", owner=owner)

        counts = [Landing(name, Export("contact_list.ncon")) for name in NCON if name in self.wanted]
        counts += [
            Landing(name, Export(ROW_COUNTS), row) for name, row in COUNTS.items() if name in self.wanted
        ]
        if "contact_list.dist" not in there:
            return Landings(tuple(counts))
        lists = [Landing(name, listed(LISTED[name])) for name in self.wanted if name in LISTED]
        lists += [
            Landing(name, listed(memory_of(name), PROGRAM)) for name in self.wanted if name in WORKED_OUT
        ]
        capacities = ("ncon_max", "ncandidate_max")
        return Landings(tuple(counts), tuple(lists), listed(PRESENT, PROGRAM), capacities)

    def stage(self, there: Collection[str]) -> LaneStage | None:
        """What works out at the end of a kernel what its list of contacts does not hold."""
        from dovetail.backends.lanes.fuse import LaneStage

        if "contact_list.dist" not in there or not self._of_contacts:
            return None
        return LaneStage(
            stage="landing",
            name="contacts",
            builder=lambda k: write_columns(k, self._of_contacts),
            reads=frozenset({*(name for name in there if name.startswith("contact_list.")), ROW_COUNTS}),
            writes=frozenset(),
            role="end",
        )

    @property
    def _of_contacts(self) -> tuple[str, ...]:
        return tuple(name for name in self.wanted if name in LISTED or name in WORKED_OUT)


def memory_of(field: str) -> str:
    """Where the numbers of a field that is worked out stand."""
    return f"landing/{field}"


def write_columns(k: Kernel, wanted: Collection[str]) -> None:
    """Write which worlds have each contact of the list, and the wanted fields that the list does not hold."""
    contacts = Contacts(k)
    columns = {
        name: k.program_memory(memory_of(name), contacts.room, WORKED_OUT[name])
        for name in wanted
        if name in WORKED_OUT
    }
    present = k.program_memory(PRESENT, contacts.room, 1)
    makers = _Makers(k, contacts, counts_rows="contact.efc_address" in columns)
    with k.loop(0, contacts.count) as n:
        present[n, 0] = k.select(contacts.exists(n), 1.0, 0.0)
        for name, column in columns.items():
            for place, number in enumerate(makers.numbers(name, n)):
                column[n, place] = number
        makers.go_on(n)


class _Makers:
    """The numbers of one contact after the other; what depends on those before it is summed up here."""

    def __init__(self, k: Kernel, contacts: Contacts, *, counts_rows: bool) -> None:
        self.k, self.contacts, self.counts_rows = k, contacts, counts_rows
        self.number = k.local(0.0)
        """Contacts before this one, by world."""
        self.address = k.local(0.0)
        """Rows before those of this one, by world."""
        if counts_rows:
            counts = k.group("row_counts").by_kind
            self.address.set(counts[EQUALITIES] + counts[FRICTION] + counts[LIMITS])

    def numbers(self, field: str, n: Any) -> list[Any]:
        """What a field of contact n holds."""
        contacts, pair = self.contacts, self.contacts.pair[n]
        if field in ("contact.geom", "candidate_geom"):
            return [contacts.of_pair("geom1", pair), contacts.of_pair("geom2", pair)]
        name = field.partition(".")[2] or field.partition("_")[2]
        if name in ("flex", "elem", "vert") and contacts.has_flexes:
            return [NONE, contacts.of_pair(name, pair)]
        makers: dict[str, Callable[[], Any]] = {
            "contact.geom1": lambda: contacts.of_pair("geom1", pair),
            "contact.geom2": lambda: contacts.of_pair("geom2", pair),
            "contact.dim": lambda: contacts.of_pair("dim", pair),
            "contact.exclude": lambda: self._exclude(n, pair),
            "contact.mu": lambda: self._mu(n, pair),
            "contact.efc_address": lambda: self._efc_address(n, pair),
            "candidate_pair": lambda: contacts.of_pair("pair", pair),
            "contact_candidate": lambda: self.number.value,
        }
        return [makers[field]()] if field in makers else [NONE] * WORKED_OUT[field]

    def go_on(self, n: Any) -> None:
        """To the next contact."""
        self.number += self.k.select(self.contacts.exists(n), 1.0, 0.0)
        if self.counts_rows:
            self.address += self._rows(n, self.contacts.pair[n])

    def _moves(self, pair: Any) -> Any:
        return self.contacts.of_pair("moves", pair) > 0

    def _exclude(self, n: Any, pair: Any) -> Any:
        k = self.k
        near = k.select(self._moves(pair), float(INCLUDED), float(NO_DOFS))
        return k.select(self.contacts.acts(n), near, float(IN_GAP))

    def _mu(self, n: Any, pair: Any) -> Any:
        """Friction of the regularised cone; 0 without friction or rows."""
        k, contacts = self.k, self.contacts
        slide = contacts.friction[n, 0] / k.sqrt(k.max(MINVAL, k.model.opt.impratio))
        has_friction = self._moves(pair) & (contacts.of_pair("dim", pair) > 1)
        return k.select(contacts.acts(n), k.select(has_friction, slide, 0.0), 0.0)

    def _rows(self, n: Any, pair: Any) -> Any:
        """How many rows a contact has, by world."""
        k, contacts = self.k, self.contacts
        dim = np.append(contacts.dims, 1)
        elliptic = int(k.frozen_model.opt.cone) == Cone.ELLIPTIC
        rows = np.where(dim == 1, 1, dim if elliptic else 2 * (dim - 1))
        number = k.select(self._moves(pair), k.table("landing/rows", rows)[pair], 0)
        return k.select(contacts.exists(n) & contacts.acts(n), number, 0.0)

    def _efc_address(self, n: Any, pair: Any) -> Any:
        """The first of a contact's rows, -1 if it has none."""
        return self.k.select(self._rows(n, pair) > 0.5, self.address.value, -1.0)
