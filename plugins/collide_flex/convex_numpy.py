"""Contacts of elements of flexes with geoms, or with each other, where no formula exists: as convex shapes.

Pair by pair, by the distance iteration and the expanding polytope, or with the flag nativeccd off by portal
refinement. One contact a pair, whatever the flag multiccd says, and normals are those of the method. Geoms of type
sdf are the hulls of their meshes. World frame. Compare mjc_ConvexElem in MuJoCo 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from dovetail.contracts.enums import DisableBit, GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexContacts, FlexPairs
from dovetail.contracts.types import Data, Model
from dovetail.plugins.collide_flex.contact_rows_numpy import listed
from dovetail.plugins.collide_flex.element_shapes_numpy import element_shapes
from dovetail.plugins.collide_flex.separation_numpy import plainly_apart
from dovetail.plugins.shared.flex.element_boxes_numpy import corner_places
from dovetail.plugins.shared.geometry.convex_numpy import Query, convex_witness
from dovetail.plugins.shared.geometry.portal_numpy import overlap
from dovetail.plugins.shared.geometry.portal_shapes_numpy import portal_shape
from dovetail.plugins.shared.geometry.support_numpy import ConvexShape, geom_shape
from dovetail.plugins.shared.vectors_numpy import Vector, middle, sub, unit

SEARCHED = (int(GeomType.MESH), int(GeomType.SDF))
"""Types whose shapes remember where they were last asked, so that each pair needs a fresh one."""

Meeting = Callable[[ConvexShape, ConvexShape], tuple[float, Vector, Vector] | None]
"""From two shapes to depth (negative), place and normal, or None if they are apart."""


def convex(model: Model, data: Data, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """A geom with an element."""
    return contacts_of(model, data, pairs, margin)


def distance_field(model: Model, data: Data, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """A geom of type sdf, as the hull of its mesh, with an element."""
    return contacts_of(model, data, pairs, margin)


def two_elements(model: Model, data: Data, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """An element with another."""
    return contacts_of(model, data, pairs, margin)


def contacts_of(model: Model, data: Data, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The contacts that convex shapes have."""
    meet = meeting(model)
    pair: list[int] = []
    dist: list[float] = []
    pos: list[Vector] = []
    normal: list[Vector] = []
    asked = worth_asking(model, data, pairs, margin)
    pairs, margin = FlexPairs(*(column[asked] for column in pairs)), margin[asked]
    second = element_shapes(model, data, pairs.flex[:, 1], pairs.elem[:, 1], margin)
    sides = zip(first_shapes(model, data, pairs, margin), second, margin.tolist(), strict=True)
    for row, (one, other, reach) in zip(asked.tolist(), sides, strict=True):
        found = meet(one, other)
        if found is not None:
            pair.append(row)
            dist.append(reach + found[0])
            pos.append(found[1])
            normal.append(found[2])
    return listed(pair, dist, pos, normal)


def worth_asking(model: Model, data: Data, pairs: FlexPairs, margin: Array) -> Array:
    """Pairs that the iteration must decide: all of geoms, those of elements that are not plainly apart."""
    every = np.arange(len(margin))
    if not len(every) or pairs.geom[0, 0] >= 0:
        return every
    one, other = (corner_places(model, data, pairs.flex[:, side], pairs.elem[:, side]) for side in (0, 1))
    reach = model.flex_radius[pairs.flex].sum(axis=1) + margin + 10.0 * float(model.opt.ccd_tolerance)
    return every[~plainly_apart(one, other, reach)]


def first_shapes(model: Model, data: Data, pairs: FlexPairs, margin: Array) -> Iterable[ConvexShape]:
    """The first sides: geoms, or elements."""
    if len(pairs.geom) and pairs.geom[0, 0] < 0:
        return element_shapes(model, data, pairs.flex[:, 0], pairs.elem[:, 0], margin)
    return geom_shapes(model, data, pairs.geom[:, 0], margin)


def geom_shapes(model: Model, data: Data, geoms: Array, margin: Array) -> Iterable[ConvexShape]:
    """Geoms as the chosen method sees them, made once where they have no memory."""
    make = portal_shape if by_portals(model) else geom_shape
    known: dict[tuple[int, float], ConvexShape] = {}
    for geom, reach in zip(geoms.tolist(), margin.tolist(), strict=True):
        if (geom, reach) not in known or int(model.geom_type[geom]) in SEARCHED:
            known[geom, reach] = make(model, data, geom, reach)
        yield known[geom, reach]


def by_portals(model: Model) -> bool:
    """Whether portal refinement is asked for."""
    return bool(int(model.opt.disableflags) & int(DisableBit.NATIVECCD))


def meeting(model: Model) -> Meeting:
    """How two shapes are collided, by the method that the flag nativeccd says."""
    query = Query.of(model)

    def by_polytope(one: ConvexShape, other: ConvexShape) -> tuple[float, Vector, Vector] | None:
        witness = convex_witness(one, other, query)
        if not witness.distance < 0.0 or not witness.points:
            return None
        a, b = witness.points[0]
        return witness.distance, middle(a, b), unit(sub(a, b))

    def by_portal(one: ConvexShape, other: ConvexShape) -> tuple[float, Vector, Vector] | None:
        found = overlap(one, other, query.iterations, query.tolerance)
        return None if found is None else (-found.depth, found.place, found.direction)

    return by_portal if by_portals(model) else by_polytope
