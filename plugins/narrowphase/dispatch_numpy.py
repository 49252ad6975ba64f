"""Running the collide_pair rows over the candidates and storing what they find, with what flexes find in between.

A row returns distances, points and normals (from the first geom to the second); here the normals become frames
and the contacts are appended in the order of the candidates. Rows of geoms take one pair at a time, those of flexes
(`flex_dispatch_numpy`) all of a kind. World frame. Compare mj_collideGeoms, mj_setContact and mju_makeFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import NO_FLEX_CONTACTS, FlexContacts, FlexPairs, PairContacts
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import MissingStageError, listing
from dovetail.plugins.narrowphase.flex_dispatch_numpy import flex_contacts
from dovetail.plugins.shared.contacts.candidates_numpy import close_enough, geom_margins, in_reach
from dovetail.plugins.shared.contacts.exclusion import NEVER_TOUCH
from dovetail.plugins.shared.contacts.margins_numpy import contact_gap, contact_margin
from dovetail.plugins.shared.sums_numpy import dots
from dovetail.plugins.shared.vectors_numpy import cross_rows, unit_rows

Row = Callable[[Any, Any, int, int, float], PairContacts]


BLOCK = 4096
"""Candidates whose contacts are gathered before they are stored, so that memory is asked for as it is needed."""


def collide_candidates(
    model: ModelLike, data: DataLike, parts: Mapping[str, Any], rows: Mapping[str, Row]
) -> None:
    """Write ncon, contact.dist, pos, frame, geom, flex and so on, and contact_candidate."""
    data.ncon = 0
    n = data.ncandidate
    candidates = FlexPairs(*(getattr(data, f"candidate_{name}")[:n].copy() for name in FlexPairs._fields))
    margin = candidate_margins(model, parts, candidates, data.candidate_pair[:n])
    flexible = np.any(candidates.geom < 0, axis=1)
    near = ~flexible
    near[near] = still_near(model, data, candidates.geom[near], data.candidate_pair[:n][near], margin[near])
    soft = flex_contacts(
        model, data, parts.get("collide_flex", {}), candidates, np.flatnonzero(flexible), margin
    )
    for start in range(0, n, BLOCK):
        block = start + np.flatnonzero(near[start : start + BLOCK])
        hard = gathered(contacts_of(model, data, rows, block, candidates.geom[block], margin[block]))
        append(data, candidates, merged(hard, between(soft, start, start + BLOCK)))


def still_near(model: ModelLike, data: DataLike, geoms: Array, pair: Array, margin: Array) -> Array:
    """Which candidates are in reach also with the margin that the rule gives, which is no wider than that of their
    search."""
    first, second = geoms.T
    near = in_reach(model, data, first, second, margin)
    reach = geom_margins(model)
    found = np.flatnonzero(near & (pair < 0) & (margin < reach[first] + reach[second]))
    near[found] = close_enough(model, data, first[found], second[found], margin[found])
    return near


def candidate_margins(
    model: ModelLike, parts: Mapping[str, Any], candidates: FlexPairs, pair: Array
) -> Array:
    """Distance (n) at which contacts of each candidate begin; a flex has neither margin nor gap against itself."""
    combine = parts["combine_margin"]
    margin = contact_margin(model, combine, *both_sides(model, "margin", candidates), pair)
    gap = contact_gap(model, combine, *both_sides(model, "gap", candidates), pair)
    if model.nflex:
        itself = (candidates.flex[:, 0] >= 0) & (candidates.flex[:, 0] == candidates.flex[:, 1])
        margin[itself] = gap[itself] = 0.0
    found: Array = parts["contact_range"](margin, gap)[0]
    return found


def both_sides(model: ModelLike, name: str, candidates: FlexPairs) -> tuple[Array, Array]:
    """`geom_<name>` or `flex_<name>` of the first and the second sides (n each)."""
    of_geom, of_flex = getattr(model, f"geom_{name}"), getattr(model, f"flex_{name}")
    if not model.nflex:
        own = of_geom[candidates.geom]
        return own[:, 0], own[:, 1]
    own = np.zeros(candidates.geom.shape)
    is_geom, is_flex = candidates.geom >= 0, candidates.flex >= 0
    own[is_geom] = of_geom[candidates.geom[is_geom]]
    own[is_flex] = of_flex[candidates.flex[is_flex]]
    return own[:, 0], own[:, 1]


def contacts_of(
    model: ModelLike, data: DataLike, rows: Mapping[str, Row], candidates: Array, geoms: Array, margins: Array
) -> Iterator[tuple[int, PairContacts]]:
    """Each candidate that has contacts, with them."""
    types = model.geom_type[geoms].tolist()
    triples = zip(candidates.tolist(), geoms.tolist(), types, margins.tolist(), strict=True)
    names = {kind.value: kind.name.lower() for kind in GeomType}
    for candidate, (geom1, geom2), (type1, type2), margin in triples:
        key = f"{names[type1]}-{names[type2]}"
        if key in NEVER_TOUCH:
            continue
        row = rows.get(key)
        if row is None:
            raise missing_row(model, key, geom1, geom2, rows)
        contacts = row(model, data, geom1, geom2, margin)
        if len(contacts.dist):
            yield candidate, contacts


def missing_row(
    model: ModelLike, key: str, geom1: int, geom2: int, rows: Mapping[str, Row]
) -> MissingStageError:
    """The error for a pair of types nobody handles."""
    return MissingStageError(
        f"geoms {geom_label(model, geom1)} and {geom_label(model, geom2)} may touch, but collide_pair has no row "
        f"{key!r}; there are: {listing(rows)}. A plugin can add the row, and contype and conaffinity can keep such "
        "geoms from colliding"
    )


def geom_label(model: Any, geom: int) -> str:
    """A geom's name and id, for messages."""
    name = model.geom(geom).name
    return f'"{name}" (geom {geom})' if name else str(geom)


def gathered(found: Iterable[tuple[int, PairContacts]]) -> FlexContacts:
    """Contacts of candidates one after another."""
    listed = list(found)
    if not listed:
        return NO_FLEX_CONTACTS
    candidate = np.repeat([which for which, _ in listed], [len(contacts.dist) for _, contacts in listed])
    return FlexContacts(
        candidate, *(np.concatenate(column) for column in zip(*(c for _, c in listed), strict=True))
    )


def between(contacts: FlexContacts, start: int, stop: int) -> FlexContacts:
    """Those of candidates from `start` up to `stop`; `pair` is the candidate, ascending."""
    first, last = np.searchsorted(contacts.pair, [start, stop])
    return FlexContacts(*(column[first:last] for column in contacts))


def merged(one: FlexContacts, other: FlexContacts) -> FlexContacts:
    """Contacts of different candidates in the order of these."""
    if not len(one.pair) or not len(other.pair):
        return one if len(one.pair) else other
    both = [np.concatenate(columns) for columns in zip(one, other, strict=True)]
    order = np.argsort(both[0], kind="stable")
    return FlexContacts(*(column[order] for column in both))


def append(data: DataLike, candidates: FlexPairs, found: FlexContacts) -> None:
    """Store contacts after those already there."""
    if not len(found.pair):
        return
    start, stop = data.ncon, data.ncon + len(found.pair)
    data.reserve(ncon_max=stop)
    contact = data.contact
    contact.dist[start:stop] = found.dist
    contact.pos[start:stop] = found.pos
    contact.frame[start:stop] = frames(found.normal, found.tangent).reshape(-1, 9)
    contact.geom[start:stop] = candidates.geom[found.pair]
    contact.geom1[start:stop], contact.geom2[start:stop] = candidates.geom[found.pair].T
    contact.flex[start:stop] = candidates.flex[found.pair]
    contact.elem[start:stop] = candidates.elem[found.pair]
    contact.vert[start:stop] = candidates.vert[found.pair]
    data.contact_candidate[start:stop] = found.pair
    data.ncon = stop


def frames(normal: Array, tangent: Array) -> Array:
    """Right-handed frames (n, 3, 3) by row: normal, the preferred tangent made orthogonal to it, the other tangent.

    Where no tangent is preferred it is the y-axis, or the z-axis if the normal leans towards y. A slope of 30 degrees
    leans as much as decides that, so the normal is rounded as in mju_makeFrame.
    """
    normal = unit_rows(normal)
    free = dots(tangent, tangent) < 0.25
    leans = np.abs(normal[:, 1]) >= 0.5
    default = np.stack([np.zeros(len(leans)), ~leans, leans], axis=1)
    tangent = np.where(free[:, None], default, tangent)
    tangent = unit_rows(tangent - dots(normal, tangent)[:, None] * normal)
    return np.stack([normal, tangent, cross_rows(normal, tangent)], axis=1)
