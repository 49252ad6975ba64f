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

from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import DisableBit, EnableBit
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.collide_pair.perturbed_contacts_numpy import DISTINCT, ROUND, distinct, turned
from dovetail.plugins.collide_pair.portal_pairs_numpy import portal_convex
from dovetail.plugins.shared.geometry.convex_numpy import PatchSearch, Query, convex_witness
from dovetail.plugins.shared.geometry.support_numpy import BOX, MESH, ConvexShape, geom_shape
from dovetail.plugins.shared.vectors_numpy import Vector, middle, sub, unit

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model

PATCH_CONTACTS = 4
"""Contacts of two polyhedra at most, if one is a mesh (MuJoCo 3.4)."""


# ---- several contacts by turning ----------------------------------------------------------------------------


def _turned_contacts(
    first: ConvexShape, second: ConvexShape, query: Query, place: Vector, normal: Vector, spacing: float
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
    patch = PatchSearch(model, geom1, geom2, PATCH_CONTACTS) if multiple and flat else None
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
