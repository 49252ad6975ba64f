"""Whether two geoms are near enough to touch, in lanes: bounding spheres, or a plane and a bounding sphere."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts
from dovetail.plugins.shared.vectors_lanes import dot

FAR = 1e30
"""Beyond any distance, in either precision."""


def in_reach(contacts: Contacts, p: Any, margin: Any) -> Any:
    """Mask of the worlds in which the bounds of pair p are no farther apart than `margin`.

    A geom without a bounding radius is always near; a geom that is at no finite place never.
    """
    k = contacts.k
    m, d = k.model, k.data
    geom1, geom2 = contacts.of_pair("geom1", p), contacts.of_pair("geom2", p)
    radius1, radius2 = m.geom_rbound[geom1], m.geom_rbound[geom2]
    offset = d.geom_xpos[geom2] - d.geom_xpos[geom1]
    bound = radius1 + radius2 + margin
    spheres = k.select(k.min(radius1, radius2) <= 0.0, FAR, bound * bound)
    height = k.select(radius2 <= 0.0, FAR, bound)
    planes = k.frozen_model.geom_type[contacts.pairs.geom1] == int(GeomType.PLANE)
    if not planes.any():
        return dot(offset, offset) <= spheres
    normal = d.geom_xmat[geom1][2::3]
    if planes.all():
        return dot(offset, normal) <= height
    plane = k.table("contacts/plane", np.append(planes, 0))[p] != 0
    return dot(offset, k.select(plane, normal, offset)) <= k.select(plane, height, spheres)
