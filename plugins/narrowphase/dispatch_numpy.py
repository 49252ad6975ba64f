"""Running the collide_pair rows over the candidates and storing what they find.

A row returns distances, points and normals (from the first geom to the second); here the normals become frames
and the contacts are appended in the order of the candidates. World frame. Compare mj_collideGeoms, mj_setContact
and mju_makeFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import PairContacts
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import MissingStageError, listing
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.contacts.candidates_numpy import in_reach
from dovetail.plugins.shared.contacts.exclusion import NEVER_TOUCH
from dovetail.plugins.shared.contacts.margins_numpy import contact_margin
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows

Row = Callable[[Any, Any, int, int, float], PairContacts]


BLOCK = 4096
"""Candidates whose contacts are gathered before they are stored, so that memory is asked for as it is needed."""


def collide_candidates(
    model: ModelLike, data: DataLike, combine_margin: Callable[[Array, Array], Array], rows: Mapping[str, Row]
) -> None:
    """Write ncon, contact.dist, pos, frame, geom, flex and so on, and contact_candidate."""
    data.ncon = 0
    n = data.ncandidate
    geoms, pair = data.candidate_geom[:n].copy(), data.candidate_pair[:n].copy()
    own = model.geom_margin[geoms]
    margin = contact_margin(model, combine_margin, own[:, 0], own[:, 1], pair)
    near = np.flatnonzero(in_reach(model, data, geoms[:, 0], geoms[:, 1], margin))
    for start in range(0, len(near), BLOCK):
        block = near[start : start + BLOCK]
        found = list(contacts_of(model, data, rows, block, geoms[block], margin[block]))
        if found:
            append(data, geoms, found)


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


def append(data: DataLike, geoms: Array, found: list[tuple[int, PairContacts]]) -> None:
    """Store contacts after those already there."""
    count = [len(contacts.dist) for _, contacts in found]
    candidate = np.repeat([which for which, _ in found], count)
    dist, pos, normal, tangent = (
        np.concatenate(column) for column in zip(*(c for _, c in found), strict=True)
    )
    start, stop = data.ncon, data.ncon + len(dist)
    data.reserve(ncon_max=stop)
    contact = data.contact
    contact.dist[start:stop] = dist
    contact.pos[start:stop] = pos
    contact.frame[start:stop] = frames(normal, tangent).reshape(-1, 9)
    contact.geom[start:stop] = geoms[candidate]
    contact.geom1[start:stop], contact.geom2[start:stop] = geoms[candidate].T
    contact.flex[start:stop] = contact.elem[start:stop] = contact.vert[start:stop] = -1
    data.contact_candidate[start:stop] = candidate
    data.ncon = stop


def frames(normal: Array, tangent: Array) -> Array:
    """Right-handed frames (n, 3, 3) by row: normal, the preferred tangent made orthogonal to it, the other tangent.

    Where no tangent is preferred it is the y-axis, or the z-axis if the normal leans towards y.
    """
    normal = unit(normal)
    free = dot_rows(tangent, tangent) < 0.25
    leans = np.abs(normal[:, 1]) >= 0.5
    default = np.stack([np.zeros(len(leans)), ~leans, leans], axis=1)
    tangent = np.where(free[:, None], default, tangent)
    tangent = unit(tangent - dot_rows(normal, tangent)[:, None] * normal)
    return np.stack([normal, tangent, cross_rows(normal, tangent)], axis=1)


def unit(rows: Array) -> Array:
    """Rows scaled to length one; the x-axis for rows without a direction (mju_normalize3)."""
    length = np.sqrt(dot_rows(rows, rows))[:, None]
    return np.where(length < MINVAL, [1.0, 0.0, 0.0], rows / np.maximum(length, MINVAL))
