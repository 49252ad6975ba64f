"""Contacts of a sphere with a sphere, capsule, cylinder or box.

Each finds the direction to the other's nearest surface and the distance of that surface from the sphere's
centre, negative where the centre is inside; the contact follows from these two. World frame. Compare
mjc_SphereSphere, mjc_SphereCapsule, mjc_SphereCylinder and mjc_SphereBox.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from dovetail.contracts.pairs import PairContacts
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.shapes_numpy import (
    PairContact,
    Primitive,
    clip,
    gather,
    of_geoms,
    z_axis,
)
from dovetail.plugins.shared.vectors_numpy import (
    Vector,
    along,
    cross,
    dot,
    norm,
    scale,
    sub,
    to_frame,
    to_world,
    unit,
)


class Ball(NamedTuple):
    """A sphere, or the part of a capsule or cylinder that acts as one."""

    centre: Vector
    radius: float
    axis: Vector
    """The shape's z-axis: if two centres coincide, the normal is perpendicular to both axes."""


def ball_of(shape: Primitive) -> Ball:
    """The sphere a shape is."""
    return Ball(shape.pos, shape.size[0], z_axis(shape))


def facing(centre: Vector, radius: float, normal: Vector, gap: float) -> PairContact:
    """Contact of a sphere with a surface at distance `gap` from its centre in the direction of `normal`."""
    dist = gap - radius
    return PairContact(dist, along(centre, radius + 0.5 * dist, normal), normal)


# ---- sphere against sphere-like -----------------------------------------------------------------------------


def ball_ball(first: Ball, second: Ball, margin: float) -> list[PairContact]:
    """The contact of two spheres, if they are near enough."""
    offset = sub(second.centre, first.centre)
    reach = margin + first.radius + second.radius
    if dot(offset, offset) > reach * reach:
        return []
    length = norm(offset)
    normal = unit(offset if length >= MINVAL else cross(first.axis, second.axis))
    return [facing(first.centre, first.radius, normal, length - second.radius)]


def sphere_sphere_shapes(sphere1: Primitive, sphere2: Primitive, margin: float) -> PairContacts:
    """Two spheres."""
    return gather(ball_ball(ball_of(sphere1), ball_of(sphere2), margin))


def sphere_capsule_shapes(sphere: Primitive, capsule: Primitive, margin: float) -> PairContacts:
    """A sphere and the point of the capsule's axis nearest to it."""
    axis = z_axis(capsule)
    height = clip(dot(axis, sub(sphere.pos, capsule.pos)), capsule.size[1])
    nearest = Ball(along(capsule.pos, height, axis), capsule.size[0], axis)
    return gather(ball_ball(ball_of(sphere), nearest, margin))


# ---- sphere against cylinder --------------------------------------------------------------------------------


def sphere_cylinder_shapes(sphere: Primitive, cylinder: Primitive, margin: float) -> PairContacts:
    """A sphere and the side, a cap or the rim of a cylinder, whichever is nearest to its centre."""
    axis = z_axis(cylinder)
    radius, half = cylinder.size[0], cylinder.size[1]
    offset = sub(sphere.pos, cylinder.pos)
    height = dot(axis, offset)
    outward = sub(offset, scale(axis, height))
    from_axis_squared = dot(outward, outward)
    beside, above = abs(height) < half, from_axis_squared < radius * radius
    if beside and above:
        above = half - abs(height) < radius - sqrt(from_axis_squared)
        beside = not above
    if beside:
        side = Ball(along(cylinder.pos, height, axis), radius, axis)
        return gather(ball_ball(ball_of(sphere), side, margin))
    up = 1.0 if height > 0 else -1.0
    if above:
        return gather(_sphere_cap(sphere, along(cylinder.pos, up * half, axis), scale(axis, up), margin))
    rim = along(along(cylinder.pos, up * half, axis), radius / sqrt(from_axis_squared), outward)
    return gather(ball_ball(ball_of(sphere), Ball(rim, 0.0, axis), margin))


def _sphere_cap(sphere: Primitive, centre: Vector, outward: Vector, margin: float) -> list[PairContact]:
    """Contact with the flat end of a cylinder."""
    gap = dot(sub(sphere.pos, centre), outward)
    radius = sphere.size[0]
    if gap > margin + radius:
        return []
    return [facing(sphere.pos, radius, scale(outward, -1.0), gap)]


# ---- sphere against box -------------------------------------------------------------------------------------


def ball_box(centre: Vector, radius: float, box: Primitive, margin: float) -> list[PairContact]:
    """The contact of a sphere with a box, if they are near enough."""
    normal, gap = _towards_box(to_frame(box.mat, sub(centre, box.pos)), box.size)
    if gap - radius > margin:
        return []
    return [facing(centre, radius, to_world(box.mat, normal), gap)]


def sphere_box_shapes(sphere: Primitive, box: Primitive, margin: float) -> PairContacts:
    """A sphere and the nearest point of a box, or the nearest face if the centre is inside."""
    return gather(ball_box(sphere.pos, sphere.size[0], box, margin))


def _towards_box(point: Vector, size: Vector) -> tuple[Vector, float]:
    """Into the box from `point` the shortest way: direction in the box's frame and distance to the surface."""
    nearest = clip(point[0], size[0]), clip(point[1], size[1]), clip(point[2], size[2])
    towards = sub(nearest, point)
    distance = norm(towards)
    if distance > MINVAL:
        return unit(towards), distance
    depths = [abs(sign * size[axis] - point[axis]) for axis in range(3) for sign in (-1.0, 1.0)]
    face = depths.index(min(depths))
    inward = [0.0, 0.0, 0.0]
    inward[face // 2] = -1.0 if face % 2 else 1.0
    return (inward[0], inward[1], inward[2]), -depths[face]


sphere_sphere = of_geoms(sphere_sphere_shapes)
sphere_capsule = of_geoms(sphere_capsule_shapes)
sphere_cylinder = of_geoms(sphere_cylinder_shapes)
sphere_box = of_geoms(sphere_box_shapes)
