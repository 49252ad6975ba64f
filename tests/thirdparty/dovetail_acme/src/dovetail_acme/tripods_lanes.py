"""A sphere on a plane stands on three feet, in lanes."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.contacts.contacts_lanes import LaneContact
from dovetail.plugins.shared.vectors_lanes import dot, vector
from dovetail_acme.tripods_numpy import FEET, SPREAD


def tripod(k: Kernel, geom1: Any, geom2: Any, margin: Any) -> list[LaneContact]:
    """Contacts of a plane and a sphere."""
    m, d = k.model, k.data
    matrix = d.geom_xmat[geom1]
    along, across, normal = (vector(matrix[n], matrix[3 + n], matrix[6 + n]) for n in range(3))
    radius = m.geom_size[geom2, 0]
    height = dot(normal, d.geom_xpos[geom2] - d.geom_xpos[geom1]) - radius
    lowest = d.geom_xpos[geom2] - normal * (radius + 0.5 * height)
    return [
        LaneContact(height <= margin, height, lowest + (along * x + across * y) * (SPREAD * radius), normal)
        for x, y in FEET
    ]
