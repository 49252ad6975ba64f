"""Whether two sides are near enough to touch, in lanes: bounding spheres, a plane and a bounding sphere, a plane and
a vertex of a flex with its radius, or a bounding sphere and the box of an element."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.contacts.contacts_lanes import Contacts
from dovetail.plugins.shared.vectors_lanes import dot

FAR = 1e30
"""Beyond any distance, in either precision."""

SLACK = 1e-6
"""By how much of their size boxes of elements are widened, against rounding."""


def in_reach(contacts: Contacts, p: Any, margin: Any) -> Any:
    """Mask of the worlds in which the bounds of pair p are no farther apart than `margin`."""
    pairs, k = contacts.pairs, contacts.k
    tests = {
        "geom2": (pairs.flex < 0, geoms_in_reach),
        "vert": (pairs.vert >= 0, vertex_in_reach),
        "elem": (pairs.elem >= 0, element_in_reach),
    }
    occurring = {column: test for column, (rows, test) in tests.items() if rows.any()}
    if len(occurring) <= 1:
        (test,) = occurring.values() or [geoms_in_reach]
        return test(contacts, p, margin)
    near = k.local(0.0)
    for column, test in occurring.items():
        with k.when(contacts.of_pair(column, p) >= 0):
            near.set(k.select(test(contacts, p, margin), 1.0, 0.0))
    return near.value > 0.5


def geoms_in_reach(contacts: Contacts, p: Any, margin: Any) -> Any:
    """Two geoms: one without a bounding radius is always near, so is one whose bound is no number; one that is at no
    finite place never. A plane that was given a bounding radius is as other geoms."""
    k = contacts.k
    m, d = k.model, k.data
    geom1, geom2 = contacts.of_pair("geom1", p), contacts.of_pair("geom2", p)
    radius1, radius2 = m.geom_rbound[geom1], m.geom_rbound[geom2]
    offset = d.geom_xpos[geom2] - d.geom_xpos[geom1]
    bound = radius1 + radius2 + margin
    spheres = k.min(k.select(k.min(radius1, radius2) <= 0.0, FAR, bound * bound), FAR)
    height = k.min(k.select(radius2 <= 0.0, FAR, bound), FAR)
    of_geoms = contacts.pairs.flex < 0
    first, frozen = contacts.pairs.geom1, k.frozen_model
    planes = (frozen.geom_type[first] == int(GeomType.PLANE)) & (frozen.geom_rbound[first] <= 0.0)
    if not planes[of_geoms].any():
        return dot(offset, offset) <= spheres
    normal = d.geom_xmat[geom1][2::3]
    if planes[of_geoms].all():
        return dot(offset, normal) <= height
    plane = k.table("contacts/plane", np.append(planes, 0))[p] != 0
    return dot(offset, k.select(plane, normal, offset)) <= k.select(plane, height, spheres)


def vertex_in_reach(contacts: Contacts, p: Any, margin: Any) -> Any:
    """A plane and a vertex of a flex."""
    d, geom1 = contacts.k.data, contacts.of_pair("geom1", p)
    offset = d.flexvert_xpos[contacts.corner(p, 0)] - d.geom_xpos[geom1]
    reach = contacts.k.model.flex_radius[contacts.of_pair("flex", p)] + margin
    return dot(offset, d.geom_xmat[geom1][2::3]) <= reach


def element_in_reach(contacts: Contacts, p: Any, margin: Any) -> Any:
    """A bounding sphere and the box of an element, a little wider than it must be."""
    k, m, d = contacts.k, contacts.k.model, contacts.k.data
    geom1 = contacts.of_pair("geom1", p)
    box, radius = d.flexelem_aabb[contacts.of_pair("element", p)], m.geom_rbound[geom1]
    square: Any = 0.0
    for n, x in enumerate(d.geom_xpos[geom1]):
        beyond = k.max(k.abs(x - box[n]) - box[3 + n] * (1.0 + SLACK), 0.0)
        square = square + beyond * beyond
    bound = (radius + k.max(margin, 0.0)) * (1.0 + SLACK)
    return square <= k.select(radius <= 0.0, FAR, bound * bound)
