"""Running the collide_flex rows over the candidates with a flex, all pairs of a kind at once.

The kind of a pair is the shapes of its two sides; each row says what it finds by the number of the pair, and what all
rows found is put in the order of the candidates. World frame. Compare mj_collidePlaneFlex, mj_collideGeomElem,
mj_collideElems and mj_collideElemVert.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import NO_FLEX_CONTACTS, FlexContacts, FlexPairs
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import MissingStageError, listing
from dovetail.plugins.shared.flex.shapes import ELEMENTS, VERTEX, shapes_key

FlexRow = Callable[[Any, Any, FlexPairs, Array], FlexContacts]

GEOMS = {kind.value: kind.name.lower() for kind in GeomType}

FLEX_SHAPES = (VERTEX, *ELEMENTS)
"""By dimension."""


def flex_contacts(
    model: ModelLike,
    data: DataLike,
    rows: Mapping[str, FlexRow],
    candidates: FlexPairs,
    flexible: Array,
    margin: Array,
) -> FlexContacts:
    """Contacts of those candidates that have a flex, by candidate."""
    found = []
    for key, which in by_kind(model, candidates, flexible).items():
        row = rows.get(key)
        if row is None:
            raise missing_row(model, key, candidates, int(which[0]), rows)
        pairs = FlexPairs(*(column[which] for column in candidates))
        contacts = row(model, data, pairs, margin[which])
        found.append(contacts._replace(pair=which[np.asarray(contacts.pair, int)]))
    if not found:
        return NO_FLEX_CONTACTS
    both = [np.concatenate(columns) for columns in zip(*found, strict=True)]
    order = np.argsort(both[0], kind="stable")
    return FlexContacts(*(column[order] for column in both))


def by_kind(model: ModelLike, candidates: FlexPairs, which: Array) -> dict[str, Array]:
    """The numbers of some candidates, ascending, by key of their row."""
    if not len(which):
        return {}
    shape = np.stack([shapes(model, candidates, which, side) for side in (0, 1)], axis=1)
    kinds, kind = np.unique(shape, axis=0, return_inverse=True)
    result: dict[str, list[Array]] = {}
    for number, (first, second) in enumerate(kinds.tolist()):
        result.setdefault(key_of(first, second), []).append(which[kind.reshape(-1) == number])
    return {key: np.sort(np.concatenate(parts)) for key, parts in result.items()}


def shapes(model: ModelLike, candidates: FlexPairs, which: Array, side: int) -> Array:
    """What one side of some candidates is: types of geoms, and flex shapes counted back from -1 by dimension."""
    geom, flex = candidates.geom[which, side], candidates.flex[which, side]
    is_flex = geom < 0
    dim = np.where(candidates.elem[which, side] >= 0, model.flex_dim[np.maximum(flex, 0)], 0)
    if not model.ngeom:
        return -1 - dim
    return np.where(is_flex, -1 - dim, model.geom_type[np.where(is_flex, 0, geom)])


def key_of(first: int, second: int) -> str:
    """The key of two shapes, as `shapes` counts them."""
    if first >= 0:
        return f"{GEOMS[first]}-{FLEX_SHAPES[-1 - second]}"
    return shapes_key(FLEX_SHAPES[-1 - first], FLEX_SHAPES[-1 - second])


def missing_row(
    model: Any, key: str, candidates: FlexPairs, candidate: int, rows: Mapping[str, FlexRow]
) -> MissingStageError:
    """The error for a pair of shapes nobody handles."""
    sides = [
        f"geom {geom}" if geom >= 0 else f"flex {flex}"
        for geom, flex in zip(
            candidates.geom[candidate].tolist(), candidates.flex[candidate].tolist(), strict=True
        )
    ]
    return MissingStageError(
        f"{sides[0]} and {sides[1]} may touch, but collide_flex has no row {key!r}; there are: {listing(rows)}. "
        "A plugin can add the row, and contype and conaffinity can keep them from colliding"
    )
