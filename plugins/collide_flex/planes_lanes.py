"""Contacts of planes with vertices of flexes, in lanes.

A vertex is a ball of the flex's radius; the plane is infinite and its normal is its z-axis. World frame. Compare
mjc_PlaneSphere and mj_collidePlaneFlex.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.contacts.contacts_lanes import LaneContact, LaneFlexPair
from dovetail.plugins.shared.vectors_lanes import dot


def plane_vertex(k: Kernel, pair: LaneFlexPair, margin: Any) -> list[LaneContact]:
    """A plane and a vertex."""
    d, (vertex,) = k.data, pair.vertices
    normal, point, radius = (
        d.geom_xmat[pair.geom][2::3],
        d.flexvert_xpos[vertex],
        k.model.flex_radius[pair.flex],
    )
    height = dot(point - d.geom_xpos[pair.geom], normal)
    dist = height - radius
    return [LaneContact(height <= margin + radius, dist, point - normal * (0.5 * dist + radius), normal)]
