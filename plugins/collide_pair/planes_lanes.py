"""Contacts of a plane with spheres, capsules, ellipsoids, cylinders and boxes, in lanes; meshes are imported.

A plane is infinite here whatever its size; its normal is its z-axis. Each contact is a point of the other shape
at some height above the plane, reported halfway down. World frame. Compare mjc_PlaneSphere, mjc_PlaneCapsule,
mjc_PlaneCylinder, mjc_PlaneBox and, for ellipsoids, mjc_PlaneConvex.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.collide_pair.meshes_lanes import plane_mesh
from dovetail.plugins.collide_pair.planes_numpy import MAX_BOX_CONTACTS
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.contacts.contacts_lanes import ABSENT, LaneContact
from dovetail.plugins.shared.geometry.shapes_lanes import Primitive, of_geoms
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, to_frame, to_world, unit, vector

__all__ = ["plane_box", "plane_capsule", "plane_cylinder", "plane_ellipsoid", "plane_mesh", "plane_sphere"]


def touching(plane: Primitive, point: Vector, height: Any, exists: Any) -> LaneContact:
    """Contact of a point at a height above the plane."""
    return LaneContact(exists, height, point - plane.axis * (0.5 * height), plane.axis)


def height_over(plane: Primitive, point: Vector) -> Any:
    """Height of a point above the plane."""
    return dot(point - plane.pos, plane.axis)


# ---- round shapes -------------------------------------------------------------------------------------------


def _plane_ball(plane: Primitive, centre: Vector, radius: Any, margin: Any) -> LaneContact:
    """A plane and a sphere."""
    height = height_over(plane, centre)
    return touching(plane, centre - plane.axis * radius, height - radius, ~(height > margin + radius))


def plane_sphere_shapes(k: Kernel, plane: Primitive, sphere: Primitive, margin: Any) -> list[LaneContact]:
    """A plane and a sphere."""
    return [_plane_ball(plane, sphere.pos, sphere.size[0], margin)]


def plane_capsule_shapes(k: Kernel, plane: Primitive, capsule: Primitive, margin: Any) -> list[LaneContact]:
    """A plane and both ends of a capsule; the first tangent runs along the capsule."""
    half = capsule.axis * capsule.size[1]
    ends = (capsule.pos + half, capsule.pos - half)
    contacts = [_plane_ball(plane, end, capsule.size[0], margin) for end in ends]
    return [contact._replace(tangent=capsule.axis) for contact in contacts]


def plane_ellipsoid_shapes(
    k: Kernel, plane: Primitive, ellipsoid: Primitive, margin: Any
) -> list[LaneContact]:
    """A plane and the lowest point of an ellipsoid."""
    down = to_frame(ellipsoid.mat, -plane.axis)
    on_unit_sphere = unit(k, down * ellipsoid.size)
    point = to_world(ellipsoid.mat, on_unit_sphere * ellipsoid.size) + ellipsoid.pos
    height = height_over(plane, point)
    return [touching(plane, point, height, ~(height > margin))]


# ---- cylinder -----------------------------------------------------------------------------------------------


def plane_cylinder_shapes(k: Kernel, plane: Primitive, cylinder: Primitive, margin: Any) -> list[LaneContact]:
    """A plane and up to four points of a cylinder.

    The lowest point of the lower rim comes first, then the point of the upper rim over it, then the two that
    make an equilateral triangle of the lower rim.
    """
    radius, half = cylinder.size[:2]
    rising = dot(plane.axis, cylinder.axis)
    up = rising > 0.0
    axis, slope = k.select(up, -cylinder.axis, cylinder.axis), k.select(up, -rising, rising)
    outward = _down_slope(k, cylinder, plane.axis, axis, slope)
    centre, end, drop = height_over(plane, cylinder.pos), slope * half, dot(outward, plane.axis)
    sideways = unit(k, cross(outward, axis * half)) * (radius * (sqrt(3.0) / 2))
    lower, upper = cylinder.pos + axis * half, cylinder.pos - axis * half
    opposite = lower - 0.5 * outward
    lowest = centre + end + drop
    others = [
        (upper + outward, centre - end + drop),
        (opposite + sideways, centre + end - 0.5 * drop),
        (opposite - sideways, centre + end - 0.5 * drop),
    ]
    near = ~(lowest > margin)
    first = touching(plane, lower + outward, lowest, near)
    return [
        first,
        *(touching(plane, point, height, near & (height <= margin)) for point, height in others),
    ]


def _down_slope(k: Kernel, cylinder: Primitive, normal: Vector, axis: Vector, slope: Any) -> Vector:
    """From the middle of a disc to the lowest point of its rim; along the cylinder's x-axis if it is level."""
    downward = axis * slope - normal
    length = k.sqrt(dot(downward, downward))
    level = length < MINVAL
    radius = cylinder.size[0]
    return k.select(level, cylinder.mat[:, 0] * radius, downward * (radius / k.max(MINVAL, length)))


# ---- box ----------------------------------------------------------------------------------------------------


def plane_box_shapes(k: Kernel, plane: Primitive, box: Primitive, margin: Any) -> list[LaneContact]:
    """A plane and the corners of a box that are below its centre, the first four of them."""
    centre = height_over(plane, box.pos)
    found = k.local(0.0)
    kept = [k.local(vector(ABSENT, 0.0, 0.0, 0.0)) for _ in range(MAX_BOX_CONTACTS)]
    with k.loop(0, 8) as corner:
        signs = [2 * ((corner >> bit) & 1) - 1 for bit in range(3)]
        offset = to_world(box.mat, vector(*(s * half for s, half in zip(signs, box.size, strict=True))))
        drop = dot(plane.axis, offset)
        low = ~((drop > 0.0) | (centre + drop > margin))
        for place, kept_corner in enumerate(kept):
            here = low & (found.value == float(place))
            kept_corner.set(k.select(here, vector(centre + drop, offset + box.pos), kept_corner.value))
        found += k.select(low, 1.0, 0.0)
    return [
        touching(plane, kept_corner.value[1:], kept_corner.value[0], found.value > float(place))
        for place, kept_corner in enumerate(kept)
    ]


plane_sphere = of_geoms(plane_sphere_shapes)
plane_capsule = of_geoms(plane_capsule_shapes)
plane_ellipsoid = of_geoms(plane_ellipsoid_shapes)
plane_cylinder = of_geoms(plane_cylinder_shapes)
plane_box = of_geoms(plane_box_shapes)
