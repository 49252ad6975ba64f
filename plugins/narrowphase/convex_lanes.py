"""Contacts of the near pairs in lanes, each by the collide_pair or collide_flex row of its two types.

One loop over the near pairs with one branch per lane function that occurs, so each is in the kernel once. A
contact enters the list if any world of the tile has it; last, the normals are completed to frames. World frame.
Compare mj_collision, mj_collideGeoms and mju_makeFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail.backends.lanes.kernel import Kernel, LaneError, Variable
from dovetail.plugins.shared.contacts.contacts_lanes import (
    ABSENT,
    Candidates,
    Contacts,
    LaneContact,
    LaneFlexPair,
    StoredContacts,
)
from dovetail.plugins.shared.contacts.oriented_boxes_lanes import boxes_meet
from dovetail.plugins.shared.contacts.pair_margins_lanes import contact_range
from dovetail.plugins.shared.contacts.reach_lanes import in_reach
from dovetail.plugins.shared.contacts.swept_bodies_lanes import found_by_sweep
from dovetail.plugins.shared.flex.shapes import ELEMENTS, VERTEX
from dovetail.plugins.shared.vectors_lanes import cross, dot, unit, vector

Found = Sequence[LaneContact] | StoredContacts
"""What a row returns."""


def narrowphase(k: Kernel, parts: Mapping[str, Any]) -> None:
    """Fill the list of contacts: pair, index in it, distance, point and frame."""
    contacts = Contacts(k)
    candidates = Candidates(k)
    count = k.local(0)
    with k.loop(0, candidates.count) as n:
        collide(contacts, candidates.pair[n], count, parts)
    contacts.close(count.value)
    if contacts.pairs.keys:
        complete_frames(contacts)
        count_by_world(contacts)
    else:  # nobody has written to the list, so that it must not be read
        contacts.ncon[0] = 0.0


def collide(contacts: Contacts, p: Any, count: Variable, parts: Mapping[str, Any]) -> None:
    """Append the contacts of one pair."""
    k, pairs = contacts.k, contacts.pairs
    margin, _ = contact_range(contacts, p, parts)
    near = found_by_sweep(contacts, p, in_reach(contacts, p, margin))
    near = boxes_meet(contacts, p, near, margin)
    kind = contacts.of_pair("kind", p)
    for (row, shape), kinds in rows_of(k, pairs.keys, parts).items():
        with k.when(one_of(kind, kinds)):
            room = min(int(pairs.most_contacts[pairs.kind == index][0]) for index in kinds)
            geom1, geom2 = contacts.of_pair("geom1", p), contacts.of_pair("geom2", p)
            sides = [flex_side(contacts, p, shape)] if shape else [geom1, geom2]
            append(contacts, p, near, count, row(k, *sides, margin), room=room, key=pairs.keys[kinds[0]])


def flex_side(contacts: Contacts, p: Any, shape: str) -> LaneFlexPair:
    """A geom with a vertex or an element, whose corners are those of its shape."""
    number = 1 if shape == VERTEX else 2 + ELEMENTS.index(shape)
    vertices = tuple(contacts.corner(p, n) for n in range(number))
    return LaneFlexPair(
        contacts.of_pair("geom1", p), contacts.of_pair("flex", p), vertices, contacts.of_pair("element", p)
    )


def rows_of(
    k: Kernel, keys: Sequence[str], parts: Mapping[str, Any]
) -> dict[tuple[Callable[..., Found], str], list[int]]:
    """Every lane function that is needed, with the shape of a flex's side or an empty string, and the kinds of pairs
    it serves: its code is in the kernel once for each shape."""
    found: dict[tuple[Callable[..., Found], str], list[int]] = {}
    for index, key in enumerate(keys):
        last = key.rpartition("-")[2]
        shape = last if last in (VERTEX, *ELEMENTS) else ""
        table = "collide_flex" if shape else "collide_pair"
        found.setdefault((row_of(k, key, table, parts[table]), shape), []).append(index)
    return found


def one_of(kind: Any, kinds: Sequence[int]) -> Any:
    """Whether an Int is one of the given."""
    condition = kind == kinds[0]
    for other in kinds[1:]:
        condition = condition | (kind == other)
    return condition


def row_of(k: Kernel, key: str, table: str, rows: Mapping[str, Any]) -> Callable[..., Found]:
    """The lane function of a pair of types."""
    if key not in rows:
        raise LaneError(f"{k.stage}: no {table} row {key!r} in lanes; there are: {', '.join(rows)}")
    row: Callable[..., Found] = rows[key]
    return row


def append(
    contacts: Contacts, p: Any, near: Any, count: Variable, found: Found, *, room: int, key: str
) -> None:
    """Store those contacts that exist in any world."""
    if isinstance(found, StoredContacts):
        with contacts.k.loop(0, found.count) as index:
            append_one(contacts, p, near, count, index, found.contact(index))
        return
    if len(found) > room:
        raise LaneError(f"the row {key} returns {len(found)} contacts, but there is room for {room}")
    for number, contact in enumerate(found):
        append_one(contacts, p, near, count, number, contact)


def append_one(
    contacts: Contacts, p: Any, near: Any, count: Variable, index: Any, contact: LaneContact
) -> None:
    """Store a contact if any world has it; in worlds without it, harmless numbers."""
    k = contacts.k
    exists = near & contact.exists
    with k.when(k.any(exists)):
        c = contacts.place(count.value)
        contacts.pair[c] = p
        contacts.index_in_pair[c] = index
        contacts.dist[c] = k.select(exists, contact.dist, ABSENT)
        contacts.pos[c] = k.select(exists, contact.pos, 0.0)
        preferred = vector(0.0, 0.0, 0.0) if contact.tangent is None else contact.tangent
        contacts.frame[c, 0:3] = k.select(exists, contact.normal, vector(1.0, 0.0, 0.0))
        contacts.frame[c, 3:6] = k.select(exists, preferred, 0.0)
        count += 1


def complete_frames(contacts: Contacts) -> None:
    """Right-handed frames: normal, the preferred tangent made orthogonal to it, the other tangent.

    Where no tangent is preferred it is the y-axis, or the z-axis if the normal leans towards y.
    """
    k = contacts.k
    with k.loop(0, contacts.count) as c:
        normal, preferred = unit(k, contacts.frame[c, 0:3]), contacts.frame[c, 3:6]
        leans = k.abs(normal[1]) >= 0.5
        usual = vector(0.0, k.select(leans, 0.0, 1.0), k.select(leans, 1.0, 0.0))
        tangent = k.select(dot(preferred, preferred) < 0.25, usual, preferred)
        tangent = unit(k, tangent - dot(normal, tangent) * normal)
        contacts.frame[c] = vector(normal, tangent, cross(normal, tangent))


def count_by_world(contacts: Contacts) -> None:
    """How many contacts each world has."""
    k = contacts.k
    total = k.local(0.0)
    with k.loop(0, contacts.count) as c:
        total += k.select(contacts.exists(c), 1.0, 0.0)
    contacts.ncon[0] = total.value
