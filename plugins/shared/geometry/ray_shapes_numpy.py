"""Where rays first meet a plane, sphere, capsule, ellipsoid, cylinder or box.

A ray is point + x·ray with x ≥ 0; x is the distance if the ray has unit length. All functions take many
rays at once and return x for each, infinite where there is no hit. A ray that starts inside a closed shape meets
it from within; a plane is seen from its front only. `point` and `ray` (n, 3) are in the shape's frame.

Roots nearer together than MINVAL (in the discriminant) count as none, so a ray that only grazes a curved surface
misses it. Compare mju_rayGeom.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL

MISS = np.inf


def in_frame(pos: Array, mat: Array, point: Array, ray: Array) -> tuple[Array, Array]:
    """Rays of the world in the frame of a geom (pos, mat)."""
    return _turned(point - pos, mat), _turned(ray, mat)


def _turned(vectors: Array, mat: Array) -> Array:
    """World vectors (…, 3) along the axes of a frame, summed from left to right."""
    axes = np.reshape(mat, (3, 3))
    return vectors[..., 0:1] * axes[0] + vectors[..., 1:2] * axes[1] + vectors[..., 2:3] * axes[2]


def nearest(candidates: Array, valid: Array) -> Array:
    """The least of the candidates (n, k) that are valid and in front."""
    return np.where(valid & (candidates >= 0), candidates, MISS).min(axis=1)


def roots(a: Array, b: Array, c: Array) -> Array:
    """Both solutions (n, 2) of a·x² + 2b·x + c = 0, ascending; −1 where there is none."""
    discriminant = b * b - a * c
    exists = ~(discriminant < MINVAL)
    spread = np.sqrt(np.where(exists, discriminant, 0.0))
    scale = np.where(exists, a, 1.0)
    both = np.stack([(-b - spread) / scale, (-b + spread) / scale], axis=1)
    return np.where(exists[:, None], both, -1.0)


def in_front(solutions: Array) -> Array:
    """The first of two ascending solutions that is not behind, −1 if both are."""
    first, second = solutions.T
    return np.where(first >= 0, first, np.where(second >= 0, second, -1.0))


def dots(a: Array, b: Array) -> Array:
    """Scalar products along the last axis, summed from left to right."""
    products = a * b
    total = products[..., 0]
    for axis in range(1, products.shape[-1]):
        total = total + products[..., axis]
    return total


def ball_roots(point: Array, ray: Array, radius_squared: float) -> Array:
    """Where rays meet a sphere, or in two dimensions a circle, about the origin."""
    return roots(dots(ray, ray), dots(ray, point), dots(point, point) - radius_squared)


def misses_ball(point: Array, ray: Array, radius_squared: float) -> Array:
    """Which rays miss the sphere around a shape."""
    return in_front(ball_roots(point, ray, radius_squared)) < 0


def plane(point: Array, ray: Array, size: Array) -> Array:
    """The front of a rectangle, without limit along an axis whose size is not positive."""
    towards = ~(ray[:, 2] > -MINVAL)
    x = np.where(towards, -point[:, 2] / np.where(towards, ray[:, 2], 1.0), MISS)
    reached = towards & (x >= 0)
    place = np.abs(point[:, :2] + np.where(reached, x, 0.0)[:, None] * ray[:, :2])
    within = (place <= size[:2]) | (size[:2] <= 0)
    return np.where(reached & within.all(axis=1), x, MISS)


def sphere(point: Array, ray: Array, size: Array) -> Array:
    """A sphere."""
    x = in_front(ball_roots(point, ray, size[0] * size[0]))
    return np.where(x >= 0, x, MISS)


def ellipsoid(point: Array, ray: Array, size: Array) -> Array:
    """An ellipsoid: the unit sphere in coordinates divided by the sizes."""
    weight = 1.0 / (size * size)
    a, b = dots(weight * ray, ray), dots(weight * ray, point)
    x = in_front(roots(a, b, dots(weight * point, point) - 1.0))
    return np.where(x >= 0, x, MISS)


def _round_side(point: Array, ray: Array, size: Array) -> Array:
    """The side of a cylinder of radius size[0] and half height size[1]."""
    x = in_front(ball_roots(point[:, :2], ray[:, :2], size[0] * size[0]))
    within = (x >= 0) & (np.abs(point[:, 2] + x * ray[:, 2]) <= size[1])
    return np.where(within, x, MISS)


def capsule(point: Array, ray: Array, size: Array) -> Array:
    """A capsule: the side, and the outer halves of the spheres at both ends."""
    candidates = [_round_side(point, ray, size)[:, None]]
    for end in (1.0, -1.0):
        solutions = ball_roots(point - [0.0, 0.0, end * size[1]], ray, size[0] * size[0])
        height = end * (point[:, 2:] + solutions * ray[:, 2:])
        candidates.append(nearest(solutions, height >= size[1])[:, None])
    x = np.concatenate(candidates, axis=1).min(axis=1)
    reach = size[0] + size[1]
    return np.where(misses_ball(point, ray, reach * reach), MISS, x)


def cylinder(point: Array, ray: Array, size: Array) -> Array:
    """A cylinder: the side and both discs."""
    rises = np.abs(ray[:, 2:]) > MINVAL
    discs = (np.array([-size[1], size[1]]) - point[:, 2:]) / np.where(rises, ray[:, 2:], 1.0)
    place = point[:, None, :2] + discs[:, :, None] * ray[:, None, :2]
    on_disc = place[..., 0] * place[..., 0] + place[..., 1] * place[..., 1] <= size[0] * size[0]
    x = np.minimum(nearest(discs, rises & on_disc), _round_side(point, ray, size))
    return np.where(misses_ball(point, ray, size[0] * size[0] + size[1] * size[1]), MISS, x)


def box(point: Array, ray: Array, size: Array) -> Array:
    """A box, from outside or inside."""
    return box_faces(point, ray, size).min(axis=1)


def box_faces(point: Array, ray: Array, size: Array) -> Array:
    """Where each ray crosses the faces −x +x −y +y −z +z of a box (n, 6)."""
    slope = ray[:, :, None]
    leaves = np.abs(slope) > MINVAL
    x = (size[:, None] * [-1.0, 1.0] - point[:, :, None]) / np.where(leaves, slope, 1.0)
    place = np.abs(point[:, None, None, :] + x[..., None] * ray[:, None, None, :])
    # a point on a face is within it along its normal, whatever rounding says
    within = (place <= size) | np.eye(3, dtype=bool)[:, None, :]
    hit = leaves & (x >= 0) & within.all(axis=3)
    missed = misses_ball(point, ray, size[0] * size[0] + size[1] * size[1] + size[2] * size[2])
    return np.where(hit & ~missed[:, None, None], x, MISS).reshape(-1, 6)


SHAPES: dict[GeomType, Callable[[Array, Array, Array], Array]] = {
    GeomType.PLANE: plane,
    GeomType.SPHERE: sphere,
    GeomType.CAPSULE: capsule,
    GeomType.ELLIPSOID: ellipsoid,
    GeomType.CYLINDER: cylinder,
    GeomType.BOX: box,
}
"""By geom type: (point, ray, geom_size) → x."""
