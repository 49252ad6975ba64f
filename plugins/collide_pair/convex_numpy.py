"""Contacts of two convex geoms: spheres, capsules, ellipsoids, cylinders, boxes and mesh hulls.

A margin is half added to each shape, so that shapes closer than the margin overlap and the depth, less the margin,
is the distance. Spheres and capsules first shrink to a point or segment: as long as these cores do not touch, the
distance iteration alone gives the contact, to rounding; only deeper does the expanding polytope take over. The
contact lies midway between the witness points, its normal along them.

With the flag multiccd, boxes and meshes without margin get the corners of the patch where they lie on each other
(up to four); other pairs, except with spheres and ellipsoids, are turned a little four ways about the contact and
each new contact place found is added, with the first one's distance.

World frame. See mjc_Convex, mjc_ccd in MuJoCo 3.4. With the flag nativeccd off portal refinement takes the place of
all this, see `portal_pairs_numpy`.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail.contracts.enums import DisableBit, EnableBit
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.collide_pair.multicontact_numpy import contact_patch, polyhedron
from dovetail.plugins.collide_pair.portal_pairs_numpy import portal_convex
from dovetail.plugins.collide_pair.turning_numpy import DISTINCT, ROUND, distinct, turned
from dovetail.plugins.shared.geometry.epa_numpy import Penetration, around, penetration
from dovetail.plugins.shared.geometry.gjk_numpy import closest_points
from dovetail.plugins.shared.geometry.support_numpy import BOX, MESH, Shape, geom_shape
from dovetail.plugins.shared.vectors_numpy import Vector, along, middle, sub, unit

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model

PATCH_CONTACTS = 4
"""Contacts of two polyhedra at most, if one is a mesh (MuJoCo 3.4)."""


class Witness(NamedTuple):
    """Signed distance of two shapes, and the points on each that realise it."""

    distance: float
    points: list[tuple[Vector, Vector]]


class Query(NamedTuple):
    """How to look for contacts."""

    iterations: int
    tolerance: float
    cutoff: float = 0.0
    """Distances of shapes apart are computed up to this; 0: only overlap counts."""

    @classmethod
    def of(cls, model: Model, cutoff: float = 0.0) -> Query:
        """As the model's options say."""
        return cls(int(model.opt.ccd_iterations), float(model.opt.ccd_tolerance), cutoff)


class Patch(NamedTuple):
    """Where to find the faces of two polyhedra, and how many contacts are wanted."""

    model: Model
    geom1: int
    geom2: int
    wanted: int

    def points(self, deep: Penetration, first: Shape, second: Shape) -> list[tuple[Vector, Vector]]:
        """Points on the first and second along the overlap of the touching faces."""
        faces1 = polyhedron(self.model, self.geom1, first)
        faces2 = polyhedron(self.model, self.geom2, second)
        return contact_patch(deep, faces1, faces2, self.wanted)


def _core_witness(first: Shape, second: Shape, query: Query) -> Witness | None:
    """The witness of shapes of which one is round, unless their cores touch."""
    skin1, skin2 = first.skin, second.skin
    found = closest_points(
        first.shrunk(), second.shrunk(), query.iterations, query.tolerance, query.cutoff + (skin1 + skin2)
    )
    if not found.distance > query.tolerance:
        return None
    distance = found.distance - (skin1 + skin2)
    if found.points is None:
        return Witness(inf, [])
    a, b = found.points
    normal = unit(sub(b, a))
    points = [(along(a, skin1, normal), along(b, -skin2, normal))]
    return Witness(inf if distance > query.cutoff else distance, points)


def convex_witness(first: Shape, second: Shape, query: Query, patch: Patch | None = None) -> Witness:
    """How two shapes lie to each other; with `patch`, overlapping polyhedra get several pairs of points."""
    if first.core is not None or second.core is not None:
        witness = _core_witness(first, second, query)
        if witness is not None:
            return witness
    found = closest_points(first, second, query.iterations, query.tolerance, query.cutoff)
    apart = [] if found.points is None else [found.points]
    if not found.distance <= query.tolerance or len(found.simplex) < 2:
        return Witness(found.distance, apart)
    polytope = around(found.simplex, first, second)
    if polytope is None:
        return Witness(0.0, apart)
    deep = penetration(polytope, query.iterations, query.tolerance)
    if deep is None:
        return Witness(0.0, [])
    points = [(deep.first, deep.second)] if patch is None else patch.points(deep, first, second)
    return Witness(-deep.depth, points)


# ---- several contacts by turning ----------------------------------------------------------------------------


def _turned_contacts(
    first: Shape, second: Shape, query: Query, place: Vector, normal: Vector, spacing: float
) -> list[tuple[Vector, Vector]]:
    """Witness points of contacts that appear when the shapes turn against each other about the contact."""
    places, found = [place], []
    for one, two in turned(first, second, place, normal):
        witness = convex_witness(one, two, query)
        if not witness.distance < 0.0 or not witness.points:
            continue
        candidate = middle(*witness.points[0])
        if distinct(candidate, places, spacing):
            places.append(candidate)
            found += witness.points
    return found


# ---- the pair ---------------------------------------------------------------------------------------------


def convex(model: Model, data: Data, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Contacts of two convex geoms."""
    if int(model.opt.disableflags) & int(DisableBit.NATIVECCD):
        return portal_convex(model, data, geom1, geom2, margin)
    first, second = geom_shape(model, data, geom1, margin), geom_shape(model, data, geom2, margin)
    query = Query.of(model)
    multiple = bool(int(model.opt.enableflags) & int(EnableBit.MULTICCD))
    flat = margin <= 0.0 and first.kind in (BOX, MESH) and second.kind in (BOX, MESH)
    patch = Patch(model, geom1, geom2, PATCH_CONTACTS) if multiple and flat else None
    witness = convex_witness(first, second, query, patch)
    if not witness.distance < 0.0 or not witness.points:
        return NO_CONTACTS
    points = witness.points
    if multiple and not flat and first.kind not in ROUND and second.kind not in ROUND:
        spacing = DISTINCT * min(float(model.geom_rbound[geom1]), float(model.geom_rbound[geom2]))
        normal = unit(sub(*points[0]))
        points = points + _turned_contacts(first, second, query, middle(*points[0]), normal, spacing)
    return PairContacts.of(
        [margin + witness.distance] * len(points),
        np.array([middle(a, b) for a, b in points]),
        np.array([unit(sub(a, b)) for a, b in points]),
    )
