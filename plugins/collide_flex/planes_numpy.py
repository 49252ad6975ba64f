"""Contacts of planes with vertices of flexes: balls of the flex's radius, by their height over the plane.

All pairs at once. World frame. Compare mj_collidePlaneFlex.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import FlexContacts, FlexPairs
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.collide_flex.contact_rows_numpy import contacts, dots


def plane_vertex(model: ModelLike, data: DataLike, pairs: FlexPairs, margin: Array) -> FlexContacts:
    """The first side is the plane."""
    plane, flex = pairs.geom[:, 0], pairs.flex[:, 1]
    place = data.flexvert_xpos[model.flex_vertadr[flex] + pairs.vert[:, 1]]
    normal = data.geom_xmat[plane].reshape(-1, 9)[:, 2::3]
    radius = model.flex_radius[flex]
    height = dots(place - data.geom_xpos[plane], normal)
    near = np.flatnonzero(height <= margin + radius)
    dist, normal, place = (height - radius)[near], normal[near], place[near]
    pos = place + normal * (-0.5 * dist - radius[near])[:, None]
    return contacts(near, dist, pos, normal)
