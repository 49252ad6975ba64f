"""Contacts between a signed distance field and another geom, by descent from points spread over both boxes.

From each of opt.sdf_initpoints points of a Halton sequence, in the box where the two bounding boxes overlap, a point
descends in opt.sdf_iterations steps along A + B + |max(A, B)|, where A and B are the distances to the two geoms: its
lowest values are where both are deepest. One more step descends along max(A, B), the distance to their
intersection, and where that is not positive there is a contact. The normal is the gradient of A − B: the contact is
on the surface midway between the two. All points descend at once, as rows; coordinates are those of the second
geom. The margin plays no part. Compare mjc_SDF.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dovetail.contracts.engine_plugins import plugin_config, plugin_name
from dovetail.contracts.enums import GeomType
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.distance_fields import FAR, FIELDS, norm, unit
from dovetail.plugins.octree import CORNER, octree_distance, octree_gradient
from dovetail.plugins.spatial import MINVAL, Array

Points = Callable[[Array], Array]

BASES = (2, 3, 5)
"""Of the Halton sequences along x, y and z."""
SUFFICIENT = 0.1
"""Share of the decrease a slope promises that a step must bring (the first Wolfe condition)."""
SHORTEST = 1e-4
"""Factor of the gradient below which the search along it ends."""
MOST_CONTACTS = 50
"""mjMAXCONPAIR."""


class Field(NamedTuple):
    """Something with a distance (n,) and a gradient (n, 3) at points (n, 3)."""

    distance: Points
    gradient: Points


def sdf(model: Any, data: Any, geom1: int, geom2: int, margin: float, parts: Mapping[str, Any]) -> PairContacts:
    """Contacts of any geom with one of type sdf."""
    box = common_box(model, data, geom1, geom2)
    if box is None:
        return NO_CONTACTS
    first = moved(field_of(model, data, geom1, parts), *relative(data, geom1, geom2))
    pair = second, first = field_of(model, data, geom2, parts), first
    x = starting_points(data, geom1, geom2, box, int(model.opt.sdf_initpoints))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        x, _ = descended(shared_depth(*pair), x, int(model.opt.sdf_iterations))
        x, dist = descended(intersection(*pair), x, 1)
        return contacts(data, geom2, pair, *distinct(x, dist))
