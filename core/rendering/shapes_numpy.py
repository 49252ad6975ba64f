"""Where rays enter and leave shapes, and which way the surface faces there.

Rays are origins and directions (n, 3) in the frame of the shape, in single precision; a direction need not be a unit
vector. `spans` says at which multiples of the direction a ray is inside: from `enter` to `leave`, with `enter` larger
where it never is. All shapes are convex. Roots are taken from the point of the ray that is nearest to the shape's
centre, so that a small shape far from the camera loses no digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.rendering.drawing import Kind
from dovetail.rendering.prepare import FAR

Span = tuple[Array, Array]

TINY = np.float32(1e-30)


def _dot(a: Array, b: Array) -> Array:
    total: Array = a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2]
    return total


def _around(middle: Array, square: Array) -> Span:
    """A span by its middle and the square of its half length."""
    half = np.sqrt(np.maximum(square, np.float32(0)))
    hit = square > 0
    return np.where(hit, middle - half, FAR), np.where(hit, middle + half, -FAR)


def ball(origin: Array, direction: Array, radius: float) -> Span:
    length = _dot(direction, direction)
    middle = -_dot(origin, direction) / length
    closest = origin + middle[:, None] * direction
    return _around(middle, (np.float32(radius * radius) - _dot(closest, closest)) / length)


def ellipsoid(origin: Array, direction: Array, size: Array) -> Span:
    return ball(origin / size, direction / size, 1.0)


def tube(origin: Array, direction: Array, radius: float) -> Span:
    """An endless cylinder along z."""
    across = direction[:, 0] * direction[:, 0] + direction[:, 1] * direction[:, 1]
    across = np.maximum(across, TINY)
    middle = -(origin[:, 0] * direction[:, 0] + origin[:, 1] * direction[:, 1]) / across
    x = origin[:, 0] + middle * direction[:, 0]
    y = origin[:, 1] + middle * direction[:, 1]
    return _around(middle, (np.float32(radius * radius) - (x * x + y * y)) / across)


def slab(origin: Array, direction: Array, half: float) -> Span:
    """The space between two planes across one axis; origin and direction along that axis (n)."""
    steep = np.where(np.abs(direction) < TINY, TINY, direction)
    one, other = (-half - origin) / steep, (half - origin) / steep
    return np.minimum(one, other), np.maximum(one, other)


def _common(first: Span, second: Span) -> Span:
    return np.maximum(first[0], second[0]), np.minimum(first[1], second[1])


def _either(first: Span, second: Span) -> Span:
    """Two spans that overlap where both are there."""
    one, two = first[0] <= first[1], second[0] <= second[1]
    enter = np.minimum(np.where(one, first[0], FAR), np.where(two, second[0], FAR))
    leave = np.maximum(np.where(one, first[1], -FAR), np.where(two, second[1], -FAR))
    return enter, leave


def cylinder(origin: Array, direction: Array, size: Array) -> Span:
    return _common(tube(origin, direction, size[0]), slab(origin[:, 2], direction[:, 2], size[2]))


def capsule(origin: Array, direction: Array, size: Array) -> Span:
    shift = np.array([0, 0, size[2]], np.float32)
    low, high = ball(origin + shift, direction, size[0]), ball(origin - shift, direction, size[0])
    return _either(cylinder(origin, direction, size), _either(low, high))


def box(origin: Array, direction: Array, size: Array) -> Span:
    spans = [slab(origin[:, i], direction[:, i], size[i]) for i in range(3)]
    return _common(_common(spans[0], spans[1]), spans[2])


def plane(origin: Array, direction: Array, size: Array) -> Span:
    """The rectangle at z = 0, with all that is below it; sides of no length are endless."""
    falling = np.abs(direction[:, 2]) > TINY
    distance = np.where(falling, -origin[:, 2] / np.where(falling, direction[:, 2], TINY), -FAR)
    x = np.abs(origin[:, 0] + distance * direction[:, 0])
    y = np.abs(origin[:, 1] + distance * direction[:, 1])
    inside = falling & ((size[0] <= 0) | (x <= size[0])) & ((size[1] <= 0) | (y <= size[1]))
    above = origin[:, 2] > 0
    enter = np.where(inside, np.where(above, distance, -FAR), FAR)
    return enter, np.where(inside, np.where(above, FAR, distance), -FAR)


SPANS: dict[int, Callable[[Array, Array, Array], Span]] = {
    Kind.PLANE: plane,
    Kind.SPHERE: lambda origin, direction, size: ball(origin, direction, size[0]),
    Kind.CAPSULE: capsule,
    Kind.ELLIPSOID: ellipsoid,
    Kind.CYLINDER: cylinder,
    Kind.BOX: box,
}


# ---- normals: points (n, 3) of the surface, outward, of any length ------------------------------------------


def _plane_normal(point: Array, size: Array) -> Array:
    return np.broadcast_to(np.array([0, 0, 1], np.float32), point.shape)


def _capsule_normal(point: Array, size: Array) -> Array:
    out = point.copy()
    out[:, 2] -= np.clip(point[:, 2], -size[2], size[2])
    return out


def _cylinder_normal(point: Array, size: Array) -> Array:
    across = np.sqrt(point[:, 0] * point[:, 0] + point[:, 1] * point[:, 1])
    cap = np.abs(point[:, 2]) - size[2] > across - size[0]
    out = point.copy()
    out[:, 2] = np.where(cap, np.where(point[:, 2] > 0, 1, -1), 0)
    out[cap, :2] = 0
    return out


def _box_normal(point: Array, size: Array) -> Array:
    outside = np.abs(point) - size
    x = (outside[:, 0] >= outside[:, 1]) & (outside[:, 0] >= outside[:, 2])
    y = ~x & (outside[:, 1] >= outside[:, 2])
    sign = np.where(point > 0, np.float32(1), np.float32(-1))
    out: Array = sign * np.stack([x, y, ~x & ~y], axis=1)
    return out


NORMALS: dict[int, Callable[[Array, Array], Array]] = {
    Kind.PLANE: _plane_normal,
    Kind.SPHERE: lambda point, size: point,
    Kind.CAPSULE: _capsule_normal,
    Kind.ELLIPSOID: lambda point, size: point / (size * size),
    Kind.CYLINDER: _cylinder_normal,
    Kind.BOX: _box_normal,
}
