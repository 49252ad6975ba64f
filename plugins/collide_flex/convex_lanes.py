"""Contacts of geoms with elements of flexes where no formula exists, in lane kernels: one world after the other.

The element is the hull of its corners, swollen by the flex's radius and half the margin; the search starts from the
middle of its box. Only worlds in which the box of the geom, in its own frame, and that of the element meet take part.
One contact a pair. World frame. The algorithm is that of `convex_numpy`; see mjc_ConvexElem in MuJoCo 3.4. The flag
nativeccd off is the reference's matter.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from dovetail.backends.lanes.kernel import Kernel, SplitField
from dovetail.contracts.enums import GeomType
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.contacts.contacts_lanes import (
    LaneContact,
    LaneFlexPair,
    StoredContacts,
    pairs_of,
)
from dovetail.plugins.shared.flex.in_lanes import CONVEX
from dovetail.plugins.shared.geometry.support_one_world_lanes import ELEMENT, MOST_CORNERS, Shapes
from dovetail.plugins.shared.geometry.witness_one_world_lanes import margin_by_world, witness
from dovetail.plugins.shared.vectors_lanes import to_frame, vector

SLACK = 1e-6
"""By how much of their size boxes are widened, against rounding."""


def kinds_of(model: ModelLike) -> list[int]:
    """Types of the geoms that may touch elements in the pairs of this file, and the kind of elements."""
    keys = [key for key in pairs_of(model).keys if key in CONVEX]
    return sorted({int(GeomType[key.partition("-")[0].upper()]) for key in keys} | {ELEMENT})


def convex(k: Kernel, pair: LaneFlexPair, margin: Any) -> StoredContacts:
    """One contact at most."""
    d, number = k.data, len(pair.vertices)
    pose, corners = k.split("element/pose", 12), k.split("element/corners", MOST_CORNERS, 3)
    middle, found, there = (
        k.split("element/middle", 3),
        k.split("element/found", 7),
        k.split("element/there", 1),
    )
    with k.loop(0, 3) as n:
        pose[n] = d.geom_xpos[pair.geom, n]
        middle[n] = d.flexelem_aabb[pair.element, n]
    with k.loop(0, 9) as n:
        pose[3 + n] = d.geom_xmat[pair.geom, n]
    for corner, vertex in enumerate(pair.vertices):
        corners[corner] = d.flexvert_xpos[vertex]
    there[0] = 0.0
    own_margin, most = margin_by_world(k, "element/margin", margin), k.local(0)
    with k.worlds(boxes_meet(k, pair, margin)) as world:
        reach = own_margin(world)
        shapes = Shapes(k, kinds_of(k.frozen_model))
        shapes.take_geom(0, pair.geom, pose.of(world)[0:12], reach)
        swelling = k.model.flex_radius[pair.flex] + 0.5 * reach
        own = corners.of(world)
        shapes.take_element([own[n] for n in range(number)], number, middle.of(world)[0:3], swelling)
        search = witness(k, shapes, reach)
        with k.when(search.touches.value == 1):
            found.of(world)[0:7] = vector(reach + search.distance.value, search.place, search.normal)
            there.of(world)[0] = 1.0
            most.set(1)
    return StoredContacts(most.value, partial(contact, found, there))


def contact(found: SplitField, there: SplitField, index: Any) -> LaneContact:
    """The contact as lanes."""
    numbers = found[0:7]
    return LaneContact(there[0] > 0.5, numbers[0], numbers[1:4], numbers[4:7])


def boxes_meet(k: Kernel, pair: LaneFlexPair, margin: Any) -> Any:
    """Mask of the worlds in which no face of the geom's box separates it from the element's box."""
    m, d = k.model, k.data
    box, own = d.flexelem_aabb[pair.element], m.geom_aabb[pair.geom]
    frame = d.geom_xmat[pair.geom].reshape(3, 3)
    away = to_frame(frame, box[:3] - d.geom_xpos[pair.geom]) - own[:3]
    meet: Any = None
    for axis in range(3):
        reach = own[3 + axis] + k.max(margin, 0.0)
        for n in range(3):
            reach = reach + k.abs(frame[n, axis]) * box[3 + n]
        near = k.abs(away[axis]) <= reach * (1.0 + SLACK)
        meet = near if meet is None else meet & near
    return meet
