"""Contacts of spheres, capsules and boxes with segments of flexes, which are capsules, in lanes.

A capsule goes from the element's second corner to its first. World frame. Compare mj_makeCapsule,
mjraw_SphereCapsule, mjraw_CapsuleCapsule and mjraw_CapsuleBox. MuJoCo takes the capsule's axis from a rotation of the
z-axis; here it is the segment's direction itself, the same but for rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.contacts.contacts_lanes import LaneContact, LaneFlexPair
from dovetail.plugins.shared.geometry.balls_lanes import sphere_capsule_shapes
from dovetail.plugins.shared.geometry.capsules_lanes import capsule_box_shapes, capsule_capsule_shapes
from dovetail.plugins.shared.geometry.shapes_lanes import Primitive, primitive_of
from dovetail.plugins.shared.vectors_lanes import norm, unit, vector


def segment_of(k: Kernel, pair: LaneFlexPair) -> Primitive:
    """The element as a capsule, of whose frame the formulas ask for the z-axis alone."""
    first, second = (k.data.flexvert_xpos[vertex] for vertex in pair.vertices)
    frame = np.full((3, 3), 0.0, object)
    frame[:, 2] = unit(k, first - second)
    size = vector(k.model.flex_radius[pair.flex], 0.5 * norm(k, first - second), 0.0)
    return Primitive((first + second) * 0.5, frame, size)


def sphere_segment(k: Kernel, pair: LaneFlexPair, margin: Any) -> list[LaneContact]:
    """The point of the axis nearest to the sphere."""
    return sphere_capsule_shapes(k, primitive_of(k, pair.geom), segment_of(k, pair), margin)


def capsule_segment(k: Kernel, pair: LaneFlexPair, margin: Any) -> list[LaneContact]:
    """The nearest points of the axes, up to two if these are parallel."""
    return capsule_capsule_shapes(k, primitive_of(k, pair.geom), segment_of(k, pair), margin)


def box_segment(k: Kernel, pair: LaneFlexPair, margin: Any) -> list[LaneContact]:
    """The formula has the capsule first, so normals are turned round."""
    found = capsule_box_shapes(k, segment_of(k, pair), primitive_of(k, pair.geom), margin)
    return [contact._replace(normal=-contact.normal) for contact in found]
