"""The normal of a contact taken from the curved surface it lies on.

Portal refinement gives normals of triangles; on spheres, capsules, ellipsoids and the round of cylinders the surface
itself knows better. Each geom of these types proposes the normal of its surface nearest to the contact's place, and
the contact gets the mean of both, or the one there is. Compare mjc_fixNormal, which MuJoCo 3.4 uses with the flag
nativeccd off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import hypot, sqrt

from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.support_numpy import CAPSULE, CYLINDER, ELLIPSOID, SPHERE, ConvexShape
from dovetail.plugins.shared.vectors_numpy import Vector, along, norm, scale, sub, to_frame, to_world, unit

ITERATIONS = 30
TOLERANCE = 1e-6
"""Of the iterations for ellipsoids (MuJoCo 3.4)."""

FLAT_END = 0.95
"""Beyond this part of a cylinder's half length the contact may be on the flat end (MuJoCo 3.4)."""

Proposal = Callable[[Vector, Vector, Vector], Vector | None]
"""From a place, a first normal and the geom's size, all in its frame, to a vector along the surface's normal."""


def on_sphere(place: Vector, normal: Vector, size: Vector) -> Vector:
    return place


def on_capsule(place: Vector, normal: Vector, size: Vector) -> Vector:
    x, y, z = place
    half = size[1]
    return x, y, z + half if z < -half else z - half if z > half else 0.0


def on_cylinder(place: Vector, normal: Vector, size: Vector) -> Vector | None:
    """Only where the round is clearly meant."""
    radius, half = size[:2]
    x, y, z = place
    if abs(z) > FLAT_END * half or abs(half - abs(z)) < 0.25 * abs(radius - hypot(x, y)):
        return None
    return x, y, 0.0


def on_ellipsoid(place: Vector, normal: Vector, size: Vector) -> Vector | None:
    if min(size) < MINVAL:
        return None
    reach = sum(p * p / (s * s) for p, s in zip(place, size, strict=True))
    return _from_inside(place, normal, size) if reach <= 1.0 else _from_outside(place, size)


def _from_inside(place: Vector, normal: Vector, size: Vector) -> Vector | None:
    """Follow the normal to the surface and take the normal there, until it stays the same."""
    weight = tuple(1.0 / (s * s) for s in size)
    inside = sum(w * p * p for w, p in zip(weight, place, strict=True)) - 1.0
    if inside > 0.0:
        return None
    normal, found = unit(normal), False
    for _ in range(ITERATIONS):
        a = sum(w * n * n for w, n in zip(weight, normal, strict=True))
        b = sum(w * p * n for w, p, n in zip(weight, place, normal, strict=True))
        root = b * b - a * inside
        if root < MINVAL or a < MINVAL or sqrt(root) < b:
            break
        x, y, z = along(place, (sqrt(root) - b) / a, normal)
        new = unit((x * weight[0], y * weight[1], z * weight[2]))
        change, normal, found = norm(sub(new, normal)), new, True
        if change < TOLERANCE:
            break
    return normal if found else None


def _from_outside(place: Vector, size: Vector) -> Vector:
    """The normal at the nearest point of the surface: Newton's method on the multiplier of that problem."""
    squares = [s * s for s in size]
    multiplier = 0.0
    for _ in range(ITERATIONS):
        terms = [p * p * s / (s + multiplier) ** 2 for p, s in zip(place, squares, strict=True)]
        value = sum(terms) - 1.0
        slope = -2.0 * sum(term / (s + multiplier) for term, s in zip(terms, squares, strict=True))
        if value < TOLERANCE or slope > -MINVAL or -value / slope < TOLERANCE:
            break
        multiplier -= value / slope
    x, y, z = (p / (s + multiplier) for p, s in zip(place, squares, strict=True))
    return x, y, z


PROPOSALS: Mapping[int, Proposal] = {
    SPHERE: on_sphere,
    CAPSULE: on_capsule,
    CYLINDER: on_cylinder,
    ELLIPSOID: on_ellipsoid,
}


def _proposed(shape: ConvexShape, size: Vector, place: Vector, outwards: Vector) -> Vector | None:
    """The outward normal that a shape proposes, in the world."""
    rule = PROPOSALS.get(shape.kind)
    if rule is None:
        return None
    local = to_frame(shape.matrix, sub(place, shape.position))
    normal = rule(local, to_frame(shape.matrix, outwards), size)
    return None if normal is None else to_world(shape.matrix, unit(normal))


def curved_normal(
    shapes: tuple[ConvexShape, ConvexShape], sizes: tuple[Vector, Vector], place: Vector, normal: Vector
) -> Vector:
    """A contact's normal, from the first shape to the second, corrected."""
    one = _proposed(shapes[0], sizes[0], place, normal)
    two = _proposed(shapes[1], sizes[1], place, scale(normal, -1.0))
    if one is not None and two is not None:
        return unit(sub(one, two))
    if one is not None:
        return one
    return normal if two is None else scale(two, -1.0)
