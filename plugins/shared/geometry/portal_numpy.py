"""Depth of two overlapping convex shapes by portal refinement (Minkowski portal refinement, G. Snethen, Game
Programming Gems 7), the method of MuJoCo with the flag nativeccd off.

The shapes overlap if their difference, the points a − b, contains the origin. A portal is a triangle with corners on
the difference through which the ray from an inner point (that of the centres) to the origin passes. It is found,
moved out until the origin is behind it, and then farther out until it lies within the tolerance of the surface; the
depth is then the distance of the origin from it. Compare ccdMPRPenetration of libccd, whose rules for ties are kept:
they decide which of several right answers is given.

World frame. The depth depends on where the centres are, and is not always the least one.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from dovetail.plugins.shared.geometry.support_numpy import ConvexShape
from dovetail.plugins.shared.vectors_numpy import (
    ORIGIN,
    Vector,
    along,
    combine,
    cross,
    divide,
    dot,
    middle,
    norm,
    scale,
    sub,
    triple,
)

EPS = 2.220446049250313e-16
"""Numbers closer than this, relative to their size where that is above 1, are equal (CCD_EPS in double precision)."""

MOST_ROUNDS = 1000
"""Of a search that rounding keeps from ending; ordinary ones take a few dozen at most."""


class Corner(NamedTuple):
    """A point of the difference, and the points of the two shapes it is made of."""

    point: Vector
    first: Vector
    second: Vector


class Overlap(NamedTuple):
    """How deep, which way the second shape has to go, and where."""

    depth: float
    direction: Vector
    place: Vector


Portal = list[Corner]
"""The inner point and the three corners of the triangle, which seen from outside run counter-clockwise."""


def _zero(x: float) -> bool:
    return abs(x) < EPS


def _equal(a: float, b: float) -> bool:
    gap = abs(a - b)
    return gap < EPS or gap < EPS * max(abs(a), abs(b))


def _normalized(v: Vector) -> Vector:
    return scale(v, divide(1.0, norm(v)))


def _corner(first: ConvexShape, second: ConvexShape, direction: Vector) -> Corner:
    """The farthest point of the difference."""
    a = first.farthest(direction)[0]
    b = second.farthest(scale(direction, -1.0))[0]
    return Corner(sub(a, b), a, b)


def _beyond(corner: Corner, direction: Vector) -> bool:
    """Whether a corner lies on the far side of the origin."""
    reach = dot(corner.point, direction)
    return not _zero(reach) and reach > 0.0


# ---- finding a portal -------------------------------------------------------------------------------------


def _inner_point(first: ConvexShape, second: ConvexShape) -> Corner:
    """The difference of the centres, moved a little where that is the origin itself."""
    a, b = first.center, second.center
    point = sub(a, b)
    if all(_zero(x) for x in point):
        point = (point[0] + 10.0 * EPS, point[1], point[2])
    return Corner(point, a, b)


def _sideways(portal: Portal) -> Vector:
    """Across the plane of the inner point and the first two corners."""
    inner, one, two = (corner.point for corner in portal[:3])
    return _normalized(cross(sub(one, inner), sub(two, inner)))


def discover(first: ConvexShape, second: ConvexShape) -> Portal | None:
    """A portal; one corner besides the inner point if the origin lies between these; None if the shapes are apart."""
    inner = _inner_point(first, second)
    direction = _normalized(scale(inner.point, -1.0))
    one = _corner(first, second, direction)
    if not _beyond(one, direction):
        return None
    across = cross(inner.point, one.point)
    if _zero(dot(across, across)):
        return [inner, one]
    direction = _normalized(across)
    two = _corner(first, second, direction)
    if not _beyond(two, direction):
        return None
    portal = [inner, one, two]
    direction = _sideways(portal)
    if dot(direction, inner.point) > 0.0:
        portal = [inner, two, one]
        direction = scale(direction, -1.0)
    return _closed(first, second, portal, direction)


def _closed(first: ConvexShape, second: ConvexShape, portal: Portal, direction: Vector) -> Portal | None:
    """The portal with a third corner, such that the ray to the origin passes between the three."""
    for _ in range(MOST_ROUNDS):
        three = _corner(first, second, direction)
        if not _beyond(three, direction):
            return None
        inner, one, two = portal
        if _outside(inner, one, three):
            portal = [inner, one, three]
        elif _outside(inner, three, two):
            portal = [inner, three, two]
        else:
            return [*portal, three]
        direction = _sideways(portal)
    return None


def _outside(inner: Corner, a: Corner, b: Corner) -> bool:
    """Whether the origin is outside the plane through the inner point and two corners."""
    volume = triple(inner.point, a.point, b.point)
    return volume < 0.0 and not _zero(volume)


# ---- moving it out ----------------------------------------------------------------------------------------


def _outwards(portal: Portal) -> Vector:
    one, two, three = (corner.point for corner in portal[1:])
    return _normalized(cross(sub(two, one), sub(three, one)))


def _settled(portal: Portal, farthest: Corner, direction: Vector, tolerance: float) -> bool:
    """Whether the surface is within the tolerance of the portal's nearest corner."""
    reach = dot(farthest.point, direction)
    gain = min(reach - dot(corner.point, direction) for corner in portal[1:])
    return _equal(gain, tolerance) or gain < tolerance


def _expanded(portal: Portal, new: Corner) -> Portal:
    """The one of the three triangles with the new corner through which the ray passes."""
    inner, one, two, three = portal
    side = cross(new.point, inner.point)
    if dot(one.point, side) > 0.0:
        return [inner, new, two, three] if dot(two.point, side) > 0.0 else [inner, one, two, new]
    return [inner, one, new, three] if dot(three.point, side) > 0.0 else [inner, new, two, three]


def refine(first: ConvexShape, second: ConvexShape, portal: Portal, tolerance: float) -> Portal | None:
    """A portal with the origin behind it, or None if there is none."""
    for _ in range(MOST_ROUNDS):
        direction = _outwards(portal)
        ahead = dot(direction, portal[1].point)
        if _zero(ahead) or ahead > 0.0:
            return portal
        new = _corner(first, second, direction)
        reach = dot(new.point, direction)
        if not (_zero(reach) or reach > 0.0) or _settled(portal, new, direction, tolerance):
            return None
        portal = _expanded(portal, new)
    return None


def surface(
    first: ConvexShape, second: ConvexShape, portal: Portal, iterations: int, tolerance: float
) -> Portal:
    """The portal at the surface of the difference."""
    for _ in range(iterations + 1):
        direction = _outwards(portal)
        new = _corner(first, second, direction)
        if _settled(portal, new, direction, tolerance):
            break
        portal = _expanded(portal, new)
    return portal


# ---- what it says -----------------------------------------------------------------------------------------


def _within(x: float) -> bool:
    """Whether a coordinate along an edge is in its range."""
    return (_zero(x) or x > 0.0) and (_equal(x, 1.0) or x < 1.0)


def nearest_on_segment(a: Vector, b: Vector) -> Vector:
    """The point of a segment nearest to the origin."""
    edge = sub(b, a)
    t = divide(-dot(a, edge), dot(edge, edge))
    if t < 0.0 or _zero(t):
        return a
    return b if t > 1.0 or _equal(t, 1.0) else along(a, t, edge)


def nearest_on_triangle(a: Vector, b: Vector, c: Vector) -> Vector:
    """The point of a triangle nearest to the origin."""
    one, two = sub(b, a), sub(c, a)
    length1, length2, mixed = dot(one, one), dot(two, two), dot(one, two)
    p, q = dot(a, one), dot(a, two)
    area = length2 * length1 - mixed * mixed
    s = -1.0 if _zero(area) else (q * mixed - length2 * p) / area
    t = divide(-s * mixed - q, length2)
    if _within(s) and _within(t) and (_equal(s + t, 1.0) or s + t < 1.0):
        return along(along(a, s, one), t, two)
    candidates = [nearest_on_segment(a, b), nearest_on_segment(a, c), nearest_on_segment(b, c)]
    return min(candidates, key=lambda point: dot(point, point))


def place(portal: Portal) -> Vector:
    """Midway between the points of the shapes that the origin stands for, by its weights in the tetrahedron of the
    portal, or in the triangle if that is flat."""
    v0, v1, v2, v3 = (corner.point for corner in portal)
    weights = [triple(v3, v1, v2), triple(v0, v3, v2), triple(v3, v0, v1), triple(v0, v2, v1)]
    total = weights[0] + weights[1] + weights[2] + weights[3]
    if _zero(total) or total < 0.0:
        out = _outwards(portal)
        weights = [0.0, triple(out, v2, v3), triple(out, v3, v1), triple(out, v1, v2)]
        total = weights[1] + weights[2] + weights[3]
    inverse = divide(1.0, total)
    a = scale(combine(weights, [corner.first for corner in portal]), inverse)
    b = scale(combine(weights, [corner.second for corner in portal]), inverse)
    return middle(a, b)


def overlap(first: ConvexShape, second: ConvexShape, iterations: int, tolerance: float) -> Overlap | None:
    """How two shapes overlap; None if they do not, or if they only touch and no direction is given."""
    portal = discover(first, second)
    if portal is None:
        return None
    if len(portal) == 2:
        return _along_the_ray(portal[1])
    portal = refine(first, second, portal, tolerance)
    if portal is None:
        return None
    portal = surface(first, second, portal, iterations, tolerance)
    nearest = nearest_on_triangle(*(corner.point for corner in portal[1:]))
    depth = sqrt(dot(nearest, nearest))
    return None if _zero(depth) else Overlap(depth, _normalized(nearest), place(portal))


def _along_the_ray(corner: Corner) -> Overlap | None:
    """The overlap where the ray through the origin meets the surface just at a corner."""
    if corner.point == ORIGIN or all(_zero(x) for x in corner.point):
        return None
    depth = norm(corner.point)
    return Overlap(depth, _normalized(corner.point), middle(corner.first, corner.second))
