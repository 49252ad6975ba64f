"""Contacts of a sphere with a sphere, capsule, cylinder or box.

Each finds what of the other is nearest; the contact of a sphere with that is in `shared.geometry.balls_numpy`. World
frame. Compare mjc_SphereSphere, mjc_SphereCapsule, mjc_SphereCylinder and mjc_SphereBox.
"""

from __future__ import annotations

from math import sqrt

from dovetail.contracts.pairs import PairContacts
from dovetail.plugins.shared.geometry.balls_numpy import Ball, ball_ball, ball_box, ball_of, facing
from dovetail.plugins.shared.geometry.shapes_numpy import (
    PairContact,
    Primitive,
    clip,
    gather,
    of_geoms,
    z_axis,
)
from dovetail.plugins.shared.vectors_numpy import Vector, add, along, dot, scale, sub

# ---- sphere against sphere-like -----------------------------------------------------------------------------


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
    rim = add(along(scale(axis, up * half), radius / sqrt(from_axis_squared), outward), cylinder.pos)
    return gather(ball_ball(ball_of(sphere), Ball(rim, 0.0, axis), margin))


def _sphere_cap(sphere: Primitive, centre: Vector, outward: Vector, margin: float) -> list[PairContact]:
    """Contact with the flat end of a cylinder."""
    gap = dot(sub(sphere.pos, centre), outward)
    radius = sphere.size[0]
    if gap > margin + radius:
        return []
    return [facing(sphere.pos, radius, scale(outward, -1.0), gap - radius)]


# ---- sphere against box -------------------------------------------------------------------------------------


def sphere_box_shapes(sphere: Primitive, box: Primitive, margin: float) -> PairContacts:
    """A sphere and the nearest point of a box, or the nearest face if the centre is inside."""
    return gather(ball_box(sphere.pos, sphere.size[0], box, margin))


sphere_sphere = of_geoms(sphere_sphere_shapes)
sphere_capsule = of_geoms(sphere_capsule_shapes)
sphere_cylinder = of_geoms(sphere_cylinder_shapes)
sphere_box = of_geoms(sphere_box_shapes)
