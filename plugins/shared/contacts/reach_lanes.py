"""Whether two sides are near enough to touch, in lanes: bounding spheres, a plane and a bounding sphere, or a plane
and a vertex of a flex with its radius."""

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
    geom1 = contacts.of_pair("geom1", p)
    offset = contacts.second_place(p) - d.geom_xpos[geom1]
    if contacts.only_flexes:
        reach = m.flex_radius[contacts.of_pair("flex", p)] + margin
        return dot(offset, d.geom_xmat[geom1][2::3]) <= reach
    radius1, radius2 = m.geom_rbound[geom1], m.geom_rbound[k.max(contacts.of_pair("geom2", p), 0)]
    bound = radius1 + radius2 + margin
    spheres = k.select(k.min(radius1, radius2) <= 0.0, FAR, bound * bound)
    height = k.select(radius2 <= 0.0, FAR, bound)
    if contacts.has_flexes:
        flex = contacts.of_pair("flex", p)
        height = k.select(flex >= 0, m.flex_radius[k.max(flex, 0)] + margin, height)
    planes = k.frozen_model.geom_type[contacts.pairs.geom1] == int(GeomType.PLANE)
    if not planes.any():
        return dot(offset, offset) <= spheres
    normal = d.geom_xmat[geom1][2::3]
    if planes.all():
        return dot(offset, normal) <= height
    plane = k.table("contacts/plane", np.append(planes, 0))[p] != 0
    return dot(offset, k.select(plane, normal, offset)) <= k.select(plane, height, spheres)
