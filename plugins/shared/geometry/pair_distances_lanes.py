"""Smallest signed distance of two objects and the segment between their nearest points, in lanes.

For pairs of geoms with a formula of their own: their contacts within the largest distance of interest, of which the
nearest counts. The rules are those of `distance`; pairs that need an iteration are left to the reference. World
frame. Compare mj_geomDistance.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.geometry.shapes_lanes import CollideGeoms
from dovetail.plugins.shared.reference import builder
from dovetail.plugins.shared.vectors_lanes import Vector, unit, vector

NEVER_MEASURED = ("plane-plane", "plane-hfield")
"""Pairs that do not collide: their distance is the largest one."""


@cache
def contacts_of(pair: str) -> CollideGeoms:
    """The function that finds the contacts of a pair of types."""
    function: CollideGeoms = builder(f"collide_pair:{pair}", "analytic")
    return function


class PairRows(NamedTuple):
    """Pairs of geoms to measure."""

    lower: Array
    """The geom of lower type."""
    higher: Array
    swapped: Array
    """1 if the segment leads from the geom of higher type to the other."""
    kind: Array
    """Index in `keys`."""
    keys: tuple[str, ...]


def pair_rows(model: ModelLike, pairs: list[tuple[int, int]]) -> PairRows:
    """The given pairs of geoms, without those that never collide."""
    rows = []
    for geom1, geom2 in pairs:
        swapped = int(model.geom_type[geom1]) > int(model.geom_type[geom2])
        lower, higher = (geom2, geom1) if swapped else (geom1, geom2)
        key = "-".join(GeomType(int(model.geom_type[g])).name.lower() for g in (lower, higher))
        if key not in NEVER_MEASURED:
            rows.append((lower, higher, int(swapped), key))
    keys = tuple(sorted({row[3] for row in rows}))
    table = np.array([(*row[:3], keys.index(row[3])) for row in rows], int).reshape(-1, 4)
    return PairRows(table[:, 0], table[:, 1], table[:, 2], table[:, 3], keys)


def nearer(k: Kernel, rows: PairRows, name: str, row: Any, best: Any, segment: Any, limit: Any) -> None:
    """Put the distance of one pair into `best`, and the segment, in worlds where it is smaller."""
    tables = {
        column: k.table(f"{name}/{column}", np.append(getattr(rows, column), 0))
        for column in PairRows._fields[:4]
    }
    lower, higher, kind = tables["lower"][row], tables["higher"][row], tables["kind"][row]
    swapped = tables["swapped"][row] > 0
    for index, key in enumerate(rows.keys):
        with k.when(kind == index):
            for contact in contacts_of(key)(k, lower, higher, limit):
                closer = contact.exists & (contact.dist < best.value)
                segment.set(k.select(closer, between(k, contact, swapped), segment.value))
                best.set(k.select(closer, contact.dist, best.value))


def between(k: Kernel, contact: Any, swapped: Any) -> Vector:
    """The segment (6) across a contact, from the first object to the second."""
    half = 0.5 * contact.dist * unit(k, contact.normal)
    ends = contact.pos - half, contact.pos + half
    found: Vector = k.select(swapped, vector(*ends[::-1]), vector(*ends))
    return found
