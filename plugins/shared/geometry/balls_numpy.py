"""Contacts of spheres, and of what acts as one (the nearest part of a capsule), with each other and with boxes.

Each finds the direction to the other's nearest surface and the distance of that surface from the sphere's centre,
negative where the centre is inside; the contact follows from these two. World frame. Compare mjraw_SphereSphere and
mjraw_SphereBox.
"""

from __future__ import annotations

from typing import NamedTuple

from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.shapes_numpy import PairContact, Primitive, clip, z_axis
from dovetail.plugins.shared.vectors_numpy import (
    Vector,
    along,
    cross,
    dot,
    norm,
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


def facing(centre: Vector, radius: float, normal: Vector, dist: float) -> PairContact:
    """Contact of a sphere with a surface at distance `dist` from its own in the direction of `normal`."""
    return PairContact(dist, along(centre, radius + 0.5 * dist, normal), normal)


def ball_ball(first: Ball, second: Ball, margin: float) -> list[PairContact]:
    """The contact of two spheres, if they are near enough. Radii are taken off in MuJoCo's order: of spheres that
    touch exactly, rounding says whether they press."""
    offset = sub(second.centre, first.centre)
    reach = margin + first.radius + second.radius
    if dot(offset, offset) > reach * reach:
        return []
    length = norm(offset)
    normal = unit(offset if length >= MINVAL else cross(first.axis, second.axis))
    return [facing(first.centre, first.radius, normal, length - first.radius - second.radius)]


def ball_box(centre: Vector, radius: float, box: Primitive, margin: float) -> list[PairContact]:
    """The contact of a sphere with a box, if they are near enough."""
    normal, gap = _towards_box(to_frame(box.mat, sub(centre, box.pos)), box.size)
    if gap - radius > margin:
        return []
    return [facing(centre, radius, to_world(box.mat, normal), gap - radius)]


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
