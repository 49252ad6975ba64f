"""Contacts of convex geoms by portal refinement: what MuJoCo does with the flag nativeccd off.

One contact a pair, more with the flag multiccd by turning the shapes; normals come from curved surfaces where there
are any.

World frame. See mjc_Convex and mjccd_support in MuJoCo 3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail.contracts.enums import EnableBit
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.collide_pair.curved_normal_numpy import curved_normal
from dovetail.plugins.collide_pair.perturbed_contacts_numpy import DISTINCT, ROUND, distinct, turned
from dovetail.plugins.shared.geometry.portal_numpy import overlap
from dovetail.plugins.shared.geometry.portal_shapes_numpy import portal_shape
from dovetail.plugins.shared.geometry.support_numpy import ConvexShape
from dovetail.plugins.shared.vectors_numpy import Vector

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model


class Touch(NamedTuple):
    """One contact: distance without margin, place and normal."""

    distance: float
    place: Vector
    normal: Vector


# ---- pairs ------------------------------------------------------------------------------------------------


def portal_touch(
    model: Model, shapes: tuple[ConvexShape, ConvexShape], geoms: tuple[int, int]
) -> Touch | None:
    """The contact of two shapes that stand for two geoms, or None."""
    found = overlap(*shapes, int(model.opt.ccd_iterations), float(model.opt.ccd_tolerance))
    if found is None:
        return None
    sizes = [tuple(model.geom_size[geom].tolist()) for geom in geoms]
    normal = curved_normal(shapes, (sizes[0], sizes[1]), found.place, found.direction)
    return Touch(-found.depth, found.place, normal)


def portal_convex(model: Model, data: Data, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Contacts of two convex geoms."""
    geoms = geom1, geom2
    shapes = portal_shape(model, data, geom1, margin), portal_shape(model, data, geom2, margin)
    touch = portal_touch(model, shapes, geoms)
    if touch is None:
        return NO_CONTACTS
    touches = [touch]
    multiple = bool(int(model.opt.enableflags) & int(EnableBit.MULTICCD))
    if multiple and shapes[0].kind not in ROUND and shapes[1].kind not in ROUND:
        spacing = DISTINCT * float(model.geom_rbound[list(geoms)].min())
        for pose in turned(*shapes, touch.place, touch.normal):
            more = portal_touch(model, pose, geoms)
            if more is not None and distinct(more.place, [other.place for other in touches], spacing):
                touches.append(more)
    return PairContacts.of(
        [margin + touch.distance] * len(touches),
        np.array([touch.place for touch in touches]),
        np.array([touch.normal for touch in touches]),
    )
