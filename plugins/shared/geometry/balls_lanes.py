"""Contacts of a sphere with a sphere, capsule, cylinder or box, in lanes.

Each finds the direction to the other's nearest surface and the distance of that surface from the sphere's
centre, negative where the centre is inside; the contact follows from these two. World frame. Compare
mjc_SphereSphere, mjc_SphereCapsule, mjc_SphereCylinder and mjc_SphereBox.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.contacts.contacts_lanes import LaneContact
from dovetail.plugins.shared.geometry.shapes_lanes import Primitive, clip, sign
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm, to_frame, to_world, unit, vector


class Ball(NamedTuple):
    """A sphere, or the part of a capsule or cylinder that acts as one."""

    centre: Vector
    radius: Any
    axis: Vector
    """The shape's z-axis: if two centres coincide, the normal is perpendicular to both axes."""


def ball_of(shape: Primitive) -> Ball:
    """The sphere a shape is."""
    return Ball(shape.pos, shape.size[0], shape.axis)


def facing(exists: Any, centre: Vector, radius: Any, normal: Vector, dist: Any) -> LaneContact:
    """Contact of a sphere with a surface at distance `dist` from its own in the direction of `normal`."""
    return LaneContact(exists, dist, centre + normal * (radius + 0.5 * dist), normal)


# ---- sphere against sphere-like -----------------------------------------------------------------------------


def balls_near(first: Ball, second: Ball, margin: Any) -> Any:
    """Whether two spheres are within the margin of each other."""
    offset = second.centre - first.centre
    reach = margin + first.radius + second.radius
    return ~(dot(offset, offset) > reach * reach)


def ball_ball(k: Kernel, first: Ball, second: Ball, margin: Any) -> LaneContact:
    """The contact of two spheres. Radii are taken off in MuJoCo's order: of spheres that touch exactly, rounding says
    whether they press."""
    exists = balls_near(first, second, margin)
    offset = second.centre - first.centre
    length = norm(k, offset)
    coincide = length < MINVAL
    normal = k.local(offset * (1.0 / k.max(MINVAL, length)))
    with k.when(k.any(exists & coincide)):
        normal.set(k.select(coincide, unit(k, cross(first.axis, second.axis)), normal.value))
    return facing(exists, first.centre, first.radius, normal.value, length - first.radius - second.radius)


def sphere_sphere_shapes(k: Kernel, sphere1: Primitive, sphere2: Primitive, margin: Any) -> list[LaneContact]:
    """Two spheres."""
    return [ball_ball(k, ball_of(sphere1), ball_of(sphere2), margin)]


def sphere_capsule_shapes(k: Kernel, sphere: Primitive, capsule: Primitive, margin: Any) -> list[LaneContact]:
    """A sphere and the point of the capsule's axis nearest to it."""
    height = clip(k, dot(capsule.axis, sphere.pos - capsule.pos), capsule.size[1])
    nearest = Ball(capsule.pos + capsule.axis * height, capsule.size[0], capsule.axis)
    return [ball_ball(k, ball_of(sphere), nearest, margin)]


# ---- sphere against cylinder --------------------------------------------------------------------------------


def sphere_cylinder_shapes(
    k: Kernel, sphere: Primitive, cylinder: Primitive, margin: Any
) -> list[LaneContact]:
    """A sphere and the side, a cap or the rim of a cylinder, whichever is nearest to its centre.

    The side acts as a sphere on the axis, the rim as a point; a cap as a plane.
    """
    axis, (radius, half) = cylinder.axis, cylinder.size[:2]
    offset = sphere.pos - cylinder.pos
    height = dot(axis, offset)
    outward = offset - axis * height
    from_axis = norm(k, outward)
    beside, above = k.abs(height) < half, dot(outward, outward) < radius * radius
    nearer_cap = half - k.abs(height) < radius - from_axis
    side = beside & ~(above & nearer_cap)
    cap = above & ~side
    up = sign(k, height)
    top = cylinder.pos + axis * (up * half)
    rim = axis * (up * half) + outward * (radius / k.max(MINVAL, from_axis)) + cylinder.pos
    ball = Ball(k.select(side, cylinder.pos + axis * height, rim), k.select(side, radius, 0.0), axis)
    round_contact = ball_ball(k, ball_of(sphere), ball, margin)
    flat_contact = _sphere_cap(sphere, top, axis * up, margin)
    return [_either(k, cap, flat_contact, round_contact)]


def _sphere_cap(sphere: Primitive, centre: Vector, outward: Vector, margin: Any) -> LaneContact:
    """Contact with the flat end of a cylinder."""
    gap = dot(sphere.pos - centre, outward)
    radius = sphere.size[0]
    return facing(~(gap > margin + radius), sphere.pos, radius, -outward, gap - radius)


def _either(k: Kernel, first: Any, a: LaneContact, b: LaneContact) -> LaneContact:
    """One of two contacts in each world."""
    return LaneContact(
        exists=(first & a.exists) | (~first & b.exists),
        dist=k.select(first, a.dist, b.dist),
        pos=k.select(first, a.pos, b.pos),
        normal=k.select(first, a.normal, b.normal),
    )


# ---- sphere against box -------------------------------------------------------------------------------------


def ball_box(k: Kernel, centre: Vector, radius: Any, box: Primitive, margin: Any) -> LaneContact:
    """The contact of a sphere with a box."""
    normal, gap = _towards_box(k, to_frame(box.mat, centre - box.pos), box.size)
    return facing(~(gap - radius > margin), centre, radius, to_world(box.mat, normal), gap - radius)


def sphere_box_shapes(k: Kernel, sphere: Primitive, box: Primitive, margin: Any) -> list[LaneContact]:
    """A sphere and the nearest point of a box, or the nearest face if the centre is inside."""
    return [ball_box(k, sphere.pos, sphere.size[0], box, margin)]


def _towards_box(k: Kernel, point: Vector, size: Vector) -> tuple[Vector, Any]:
    """Into the box from `point` the shortest way: direction in the box's frame and distance to the surface."""
    nearest = vector(*(clip(k, x, half) for x, half in zip(point, size, strict=True)))
    towards = nearest - point
    distance = norm(k, towards)
    outside = distance > MINVAL
    way = k.local(vector(towards * (1.0 / k.max(MINVAL, distance)), distance))
    with k.when(k.any(~outside)):
        way.set(k.select(outside, way.value, _towards_face(k, point, size)))
    return way.value[:3], way.value[3]


def _towards_face(k: Kernel, point: Vector, size: Vector) -> Vector:
    """Inward normal of the face nearest to a point inside the box, and how far behind that face the point is."""
    best = vector(0.0, 0.0, 0.0, -FAR_INSIDE)
    for axis in range(3):
        for side in (-1.0, 1.0):
            depth = k.abs(side * size[axis] - point[axis])
            inward = vector(*(-side if a == axis else 0.0 for a in range(3)), -depth)
            best = k.select(depth < -best[3], inward, best)
    return best


FAR_INSIDE = 1e30
"""Deeper than any point of a box, in either precision."""
