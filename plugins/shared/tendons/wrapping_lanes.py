"""The shortest way around a sphere or an infinite cylinder, past a side point or inside the surface, in lanes.

A sphere is wrapped in the plane through its centre and both ends, a cylinder in its cross-section, where the path
also climbs along the axis in proportion to its length. In that plane points have two coordinates and the centre is
zero. Whether the path needs a detour at all differs between worlds, so every answer comes with a mask. Points are
given and returned in the world frame. The order of operations is that of wrapping.py, for paths that meet a
condition exactly. Compare mju_wrap.
"""

from __future__ import annotations

from math import pi
from typing import Any, NamedTuple

from dovetail.backends.lanes.functions import acos, asin, sincos
from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm, vector

NEAR_ONE = 1.0 - 1e-7
"""Where Newton's method for the inside point starts, the sine of the angle of incidence."""
TOLERANCE = 1e-6
"""Residual, in rad, at which it stops."""
ITERATIONS = 20
REFUSED = -10000.0
"""Merit of a way whose tangents cross."""
UNREACHABLE = 1e30
"""Instead of the radius of a geom that has none: no point is that far away."""


class Detour(NamedTuple):
    """Where (in which worlds) there is one, its length on the surface, where it reaches it, where it leaves it."""

    exists: Any
    length: Any
    reach: Any
    leave: Any


def wrap(
    k: Kernel, start: Vector, end: Vector, centre: Vector, axes: Any, radius: Any, cylinder: Any, side: Any
) -> Detour:
    """The detour of a straight path around a geom; `cylinder` is a uniform condition, `side` a point or None."""
    p, q = axes.T @ (start - centre), axes.T @ (end - centre)
    plane = k.local([1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    with k.when(~cylinder):
        plane.set(vector(*plane_through(k, p, q)))
    across, up = plane.value[:3], plane.value[3:]
    a, b = (vector(dot(across, v), dot(up, v)) for v in (p, q))
    found = k.local([0.0] * 6)  # exists, length, first point, last point
    if side is None:
        around_circle(k, a, b, radius, None, found)
    else:
        local = axes.T @ (side - centre)
        inside = norm(k, local) < radius
        towards = direction_of(k, vector(dot(across, local), dot(up, local))) * radius
        with k.when(k.any(~inside)):
            around_circle(k, a, b, radius, towards, found)
        with k.when(k.any(inside)):
            found.set(k.select(inside, 0.0, found.value))
            inside_point(k, a, b, radius, inside, found)
    exists = (found.value[0] > 0.5) & (norm(k, p) >= MINVAL) & (norm(k, q) >= MINVAL)
    _, length, *flat = found.value
    reach, leave = (flat[n] * across + flat[n + 1] * up for n in (0, 2))
    place = k.local(vector(length, reach, leave))
    with k.when(cylinder):
        place.set(climb(k, p, q, length, reach, leave))
    length, reach, leave = place.value[0], place.value[1:4], place.value[4:]
    return Detour(exists, length, centre + axes @ reach, centre + axes @ leave)


def direction_of(k: Kernel, v: Vector) -> Vector:
    """The direction of a vector; its first axis if it has none."""
    length = norm(k, v)
    direction = v * (1.0 / k.max(MINVAL, length))
    none = length < MINVAL
    return vector(*(k.select(none, float(n == 0), x) for n, x in enumerate(direction)))


def plane_through(k: Kernel, p: Vector, q: Vector) -> tuple[Vector, Vector]:
    """Two orthogonal unit vectors of the plane through the centre and both points, the first along p."""
    first = direction_of(k, p)
    normal = cross(p, q)
    # where the points are in line with the centre any plane will do, MuJoCo's leaves out the largest component
    x, y, z = (k.abs(c) for c in first)
    second_largest, third_largest = (y > x) & (y > z), (z > x) & (z > y)
    other = vector(
        k.select(second_largest | third_largest, 1.0, 0.0),
        k.select(second_largest, 0.0, 1.0),
        k.select(third_largest, 0.0, 1.0),
    )
    normal = k.select(norm(k, normal) < MINVAL, cross(first, other), normal)
    return first, direction_of(k, cross(direction_of(k, normal), first))


def climb(k: Kernel, p: Vector, q: Vector, arc: Any, reach: Vector, leave: Vector) -> Vector:
    """Length of the helix on a cylinder, and both points at their heights."""
    before, after = norm(k, (p - reach)[:2]), norm(k, (q - leave)[:2])
    rise, whole = q[2] - p[2], k.max(MINVAL, before + arc + after)
    low, high = p[2] + rise * before / whole, p[2] + rise * (before + arc) / whole
    height = high - low
    return vector(k.sqrt(arc * arc + height * height), reach[:2], low, leave[:2], high)


def turn_of(a: Vector, b: Vector) -> Any:
    """The cross product in the plane."""
    return a[0] * b[1] - a[1] * b[0]


def fraction_nearest(k: Kernel, a: Vector, b: Vector) -> Any:
    """How far from a to b the point of their line is that is nearest to the centre."""
    along = b - a
    return -dot(along, a) / k.max(MINVAL, dot(along, along))


def around_circle(k: Kernel, a: Vector, b: Vector, radius: Any, towards: Any, found: Any) -> None:
    """Tangents from both points to a circle and the arc between; the shorter way, or the one past `towards`."""
    apart = b - a
    limit = k.select(radius < MINVAL, UNREACHABLE, radius * radius)
    outside = (k.min(dot(a, a), dot(b, b)) >= limit) & (dot(apart, apart) >= MINVAL)
    closest = a + k.clip(fraction_nearest(k, a, b), 0.0, 1.0) * apart
    blocked = dot(closest, closest) <= radius * radius
    if towards is not None:
        blocked = blocked | (dot(towards, closest) < 0.0)
    needed = outside & blocked
    with k.when(k.any(needed)):
        ways = [(tangent(k, a, radius, turn), tangent(k, b, radius, -turn)) for turn in (1.0, -1.0)]
        crossing = [k.select(segments_cross(k, a, way[0], b, way[1]), 1.0, 0.0) for way in ways]
        merits = [
            k.select(crosses > 0.5, REFUSED, merit(k, *way, towards))
            for way, crosses in zip(ways, crossing, strict=True)
        ]
        clockwise = merits[0] > merits[1]
        first, last = (k.select(clockwise, ways[0][n], ways[1][n]) for n in range(2))
        clear = k.select(clockwise, crossing[0], crossing[1]) < 0.5
        length = arc_length(k, first, last, clockwise) * radius
        found.set(k.select(needed & clear, vector(1.0, length, first, last), found.value))


def tangent(k: Kernel, z: Vector, radius: Any, turn: float) -> Vector:
    """Where a tangent from z touches the circle: z scaled and turned one way or the other."""
    whole, square = dot(z, z), radius * radius
    aside = k.sqrt(k.max(whole - square, 0.0))
    x = (z[0] * square + turn * radius * z[1] * aside) / whole
    return vector(x, (z[1] * square - turn * radius * z[0] * aside) / whole)


def merit(k: Kernel, first: Vector, last: Vector, towards: Any) -> Any:
    """The larger, the better a way: how far it goes towards the side, or how close its tangent points are."""
    if towards is not None:
        return dot(direction_of(k, first + last), towards)
    return -dot(first - last, first - last)


def segments_cross(k: Kernel, a: Vector, b: Vector, c: Vector, d: Vector) -> Any:
    """Whether the segments a–b and c–d have a point in common; parallel ones have none."""
    one, other, between = b - a, d - c, a - c
    determinant = other[1] * one[0] - other[0] * one[1]
    parallel = k.abs(determinant) < MINVAL
    safe = k.select(parallel, 1.0, determinant)
    fractions = [turn_of(v, between) / safe for v in (other, one)]
    within = [(fraction >= 0.0) & (fraction <= 1.0) for fraction in fractions]
    return within[0] & within[1] & ~parallel


def arc_length(k: Kernel, first: Vector, last: Vector, clockwise: Any) -> Any:
    """Angle from the first point to the last on the chosen side, in [0, 2π)."""
    angle = acos(k, k.clip(dot(direction_of(k, first), direction_of(k, last)), -1.0, 1.0))
    turn = turn_of(first, last)
    return k.select(k.select(clockwise, turn, -turn) > 0.0, 2.0 * pi - angle, angle)


def inside_point(k: Kernel, a: Vector, b: Vector, radius: Any, inside: Any, found: Any) -> None:
    """The one point of the circle that the path touches from inside, with equal angles on both sides."""
    far_a, far_b, apart = norm(k, a), norm(k, b), b - a
    limit = k.select(radius < MINVAL, UNREACHABLE, radius)
    square = dot(apart, apart)
    fraction = fraction_nearest(k, a, b)
    misses = norm(k, a + fraction * apart) > radius
    straight = (square > MINVAL) & (fraction > 0.0) & (fraction < 1.0) & ~misses
    cosine = (far_a * far_a + far_b * far_b - square) / (2.0 * far_a * far_b)
    needed = inside & (k.min(far_a, far_b) > limit) & ~straight & (cosine >= -1.0 + MINVAL)
    with k.when(k.any(needed)):
        # where Newton's method gives up, MuJoCo takes the direction halfway
        halfway = direction_of(k, 0.5 * (a + b))
        ratios = radius / far_a, radius / far_b
        tries = needed & (cosine <= 1.0 - MINVAL)
        sine, solved = incidence(k, ratios, acos(k, cosine), tries)
        from_a = turn_of(a, b) > 0.0
        begin = direction_of(k, k.select(from_a, a, b))
        s, c = sincos(k, asin(k, sine) - asin(k, k.select(from_a, *ratios) * sine))
        turned = vector(c * begin[0] - s * begin[1], s * begin[0] + c * begin[1])
        point = k.select(solved, turned, halfway) * radius
        found.set(k.select(needed, vector(1.0, 0.0, point, point), found.value))


def incidence(k: Kernel, ratios: tuple[Any, Any], apart: Any, tries: Any) -> tuple[Any, Any]:
    """Sine z of the angle of incidence, the root of asin(Az) + asin(Bz) − 2·asin(z) + angle apart by Newton's method;
    and in which worlds it was found."""
    first, second = ratios

    def residual(z: Any) -> Any:
        return asin(k, first * z) + asin(k, second * z) - 2.0 * asin(k, z) + apart

    def slope(z: Any) -> Any:
        terms = [r / k.max(MINVAL, k.sqrt(k.max(1.0 - z * z * r * r, 0.0))) for r in (first, second, 1.0)]
        return terms[0] + terms[1] - 2.0 * terms[2]

    z = k.local(apart * 0.0 + NEAR_ONE)
    f = k.local(residual(z.value))
    searching = k.local(k.select(tries & (f.value <= 0.0), 1.0, 0.0))
    solved = k.local(0.0)
    with k.loop(0, ITERATIONS):
        done = k.abs(f.value) <= TOLERANCE
        solved.set(k.select((searching.value > 0.5) & done, 1.0, solved.value))
        rate = slope(z.value)
        step = f.value / k.select(rate > -MINVAL, -1.0, rate)
        fails = (rate > -MINVAL) | (z.value - step > z.value)
        searching.set(k.select(done | fails, 0.0, searching.value))
        k.leave_when(~k.any(searching.value > 0.5))
        moved = k.select(searching.value > 0.5, z.value - step, z.value)
        z.set(moved)
        f.set(residual(moved))
        searching.set(k.select(f.value > TOLERANCE, 0.0, searching.value))
    return z.value, solved.value > 0.5
