"""Where rays first meet a plane, sphere, capsule, ellipsoid, cylinder or box, in lanes.

A ray is point + x·vector with x ≥ 0, in the shape's frame; what is returned is x, or MISS in worlds where there is
no hit. A ray that starts inside a closed shape meets it from within; a plane is seen from its front only. The rules
are those of `ray_shapes`. Compare mju_rayGeom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_lanes import Vector, dot

MISS = 1e30
"""Instead of infinity, which the runtimes' source cannot spell."""


def roots(k: Kernel, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Both solutions of a·x² + 2b·x + c = 0, ascending; −1 where there is none."""
    discriminant = b * b - a * c
    exists = discriminant >= MINVAL
    spread = k.sqrt(k.select(exists, discriminant, 0.0))
    scale = k.select(exists, a, 1.0)
    return k.select(exists, (-b - spread) / scale, -1.0), k.select(exists, (spread - b) / scale, -1.0)


def in_front(k: Kernel, first: Any, second: Any) -> Any:
    """The first of two ascending solutions that is not behind, −1 if both are."""
    return k.select(first >= 0.0, first, k.select(second >= 0.0, second, -1.0))


def ball_roots(k: Kernel, point: Vector, ray: Vector, radius_squared: Any) -> tuple[Any, Any]:
    """Where a ray meets a sphere, or in two dimensions a circle, about the origin."""
    return roots(k, dot(ray, ray), dot(ray, point), dot(point, point) - radius_squared)


def if_met(k: Kernel, point: Vector, ray: Vector, radius_squared: Any, hit: Callable[[], Any]) -> Any:
    """Where rays meet a shape, worked out if any ray of the tile meets the sphere around it."""
    meets = ~misses_ball(k, point, ray, radius_squared)
    x = k.local(MISS)
    with k.when(k.any(meets)):
        x.set(k.select(meets, hit(), MISS))
    return x.value


def misses_ball(k: Kernel, point: Vector, ray: Vector, radius_squared: Any) -> Any:
    """Whether a ray misses the sphere around a shape."""
    return in_front(k, *ball_roots(k, point, ray, radius_squared)) < 0.0


def hit_or_miss(k: Kernel, x: Any) -> Any:
    return k.select(x >= 0.0, x, MISS)


def plane(k: Kernel, point: Vector, ray: Vector, size: Vector) -> Any:
    """The front of a rectangle, without limit along an axis whose size is not positive."""
    towards = ray[2] <= -MINVAL
    x = k.select(towards, -point[2] / k.select(towards, ray[2], 1.0), -1.0)
    hit = hit_or_miss(k, x)
    for axis in range(2):
        outside = k.abs(point[axis] + x * ray[axis]) > size[axis]
        hit = k.select(size[axis] > 0.0, k.select(outside, MISS, hit), hit)
    return hit


def sphere(k: Kernel, point: Vector, ray: Vector, size: Vector) -> Any:
    """A sphere."""
    return hit_or_miss(k, in_front(k, *ball_roots(k, point, ray, size[0] * size[0])))


def ellipsoid(k: Kernel, point: Vector, ray: Vector, size: Vector) -> Any:
    """An ellipsoid: the unit sphere in coordinates divided by the sizes."""
    weight = 1.0 / (size * size)
    a, b = dot(weight * ray, ray), dot(weight * ray, point)
    return hit_or_miss(k, in_front(k, *roots(k, a, b, dot(weight * point, point) - 1.0)))


def round_side(k: Kernel, point: Vector, ray: Vector, size: Vector) -> Any:
    """The side of a cylinder of radius size[0] and half height size[1]."""
    x = in_front(k, *ball_roots(k, point[:2], ray[:2], size[0] * size[0]))
    within = (x >= 0.0) & (k.abs(point[2] + x * ray[2]) <= size[1])
    return k.select(within, x, MISS)


def capsule(k: Kernel, point: Vector, ray: Vector, size: Vector) -> Any:
    """A capsule."""
    reach = size[0] + size[1]
    return if_met(k, point, ray, reach * reach, lambda: capsule_parts(k, point, ray, size))


def capsule_parts(k: Kernel, point: Vector, ray: Vector, size: Vector) -> Any:
    """The side of a capsule, and the outer halves of the spheres at both ends."""
    nearest = round_side(k, point, ray, size)
    for end in (1.0, -1.0):
        centred = point - np.array([0.0, 0.0, end * size[1]], dtype=object)
        for x in ball_roots(k, centred, ray, size[0] * size[0]):
            outer = (x >= 0.0) & (end * (point[2] + x * ray[2]) >= size[1])
            nearest = k.min(nearest, k.select(outer, x, MISS))
    return nearest


def cylinder(k: Kernel, point: Vector, ray: Vector, size: Vector) -> Any:
    """A cylinder."""
    reach_squared = size[0] * size[0] + size[1] * size[1]
    return if_met(k, point, ray, reach_squared, lambda: cylinder_parts(k, point, ray, size))


def cylinder_parts(k: Kernel, point: Vector, ray: Vector, size: Vector) -> Any:
    """The side of a cylinder and both discs."""
    nearest = round_side(k, point, ray, size)
    rises = k.abs(ray[2]) > MINVAL
    slope = k.select(rises, ray[2], 1.0)
    for end in (-1.0, 1.0):
        x = (end * size[1] - point[2]) / slope
        place = point[:2] + x * ray[:2]
        on_disc = rises & (x >= 0.0) & (dot(place, place) <= size[0] * size[0])
        nearest = k.min(nearest, k.select(on_disc, x, MISS))
    return nearest


def box(k: Kernel, point: Vector, ray: Vector, size: Vector) -> Any:
    """A box, from outside or inside."""
    return if_met(k, point, ray, dot(size, size), lambda: reduce(k.min, crossings(k, point, ray, size)))


def box_faces(k: Kernel, point: Vector, ray: Vector, size: Vector) -> list[Any]:
    """Where rays cross the faces −x +x −y +y −z +z of a box; none, if they miss the sphere around it."""
    missed = misses_ball(k, point, ray, dot(size, size))
    return [k.select(missed, MISS, x) for x in crossings(k, point, ray, size)]


def crossings(k: Kernel, point: Vector, ray: Vector, size: Vector) -> list[Any]:
    """Where rays cross the faces of a box, whether or not they miss the sphere around it."""
    faces = []
    for axis in range(3):
        others = [other for other in range(3) if other != axis]
        leaves = k.abs(ray[axis]) > MINVAL
        slope = k.select(leaves, ray[axis], 1.0)
        for way in (-1.0, 1.0):
            x = (way * size[axis] - point[axis]) / slope
            within = [k.abs(point[n] + x * ray[n]) <= size[n] for n in others]
            hit = reduce(lambda a, b: a & b, [leaves, x >= 0.0, *within])
            faces.append(k.select(hit, x, MISS))
    return faces


SHAPES: Mapping[GeomType, Callable[[Kernel, Vector, Vector, Vector], Any]] = {
    GeomType.PLANE: plane,
    GeomType.SPHERE: sphere,
    GeomType.CAPSULE: capsule,
    GeomType.ELLIPSOID: ellipsoid,
    GeomType.CYLINDER: cylinder,
    GeomType.BOX: box,
}
"""By geom type: (kernel, point, ray, geom_size) → x."""
