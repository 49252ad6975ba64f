"""The shortest way around a sphere or an infinite cylinder, past a side point or inside the surface.

A sphere is wrapped in the plane through its centre and both ends, a cylinder in its cross-section, where the
path also climbs along the axis in proportion to its length. In that plane the centre is zero. Points are given
and returned in the world frame. Compare mju_wrap.

Whether there is a detour at all is decided by comparisons that a tendon may meet exactly: a site on the surface,
a path straight through the axis. The order of operations is therefore MuJoCo's, in plain floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import acos, asin, cos, pi, sin, sqrt
from typing import TypeAlias

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL

Numbers: TypeAlias = Sequence[float]
Flat: TypeAlias = tuple[float, float]
"""A point of the plane."""

Detour: TypeAlias = tuple[float, Array, Array]
"""Length on the surface, where the path reaches it, where it leaves it."""

Arc: TypeAlias = tuple[float, Flat, Flat]
"""The same in the plane."""

_NEAR_ONE = 1.0 - 1e-7
"""Where Newton's method for the inside point starts, the sine of the angle of incidence."""
_TOLERANCE = 1e-6
"""Residual, in rad, at which it stops."""
_ITERATIONS = 20


def wrap(
    start: Array, end: Array, centre: Array, axes: Array, radius: float, cylinder: bool, side: Array | None
) -> Detour | None:
    """The detour of a straight path from `start` to `end` around a geom, or None if it needs none."""
    columns = axes.T.tolist()
    p, q = _seen_from(columns, start - centre), _seen_from(columns, end - centre)
    if _norm(p) < MINVAL or _norm(q) < MINVAL:
        return None
    plane = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)) if cylinder else _plane_through(p, q)
    a, b = _flatten(plane, p), _flatten(plane, q)
    local = None if side is None else _seen_from(columns, side - centre)
    if local is not None and _norm(local) < radius:
        arc = inside_point(a, b, radius)
    else:
        arc = around_circle(a, b, radius, None if local is None else _towards(plane, local, radius))
    if arc is None:
        return None
    length, first, last = arc
    reach, leave = _unflatten(plane, first), _unflatten(plane, last)
    if cylinder:
        length = _climb(p, q, length, reach, leave)
    rows = axes.tolist()
    return length, centre + _seen_from(rows, reach), centre + _seen_from(rows, leave)


def _dot(a: Numbers, b: Numbers) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _norm(v: Numbers) -> float:
    return sqrt(_dot(v, v))


def _cross(a: Numbers, b: Numbers) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _normalised(v: Numbers) -> list[float]:
    length = _norm(v)
    if length < MINVAL:
        return [1.0, 0.0, 0.0]
    inverse = 1.0 / length
    return [x * inverse for x in v]


def _seen_from(axes: Sequence[Numbers], v: Array | Numbers) -> list[float]:
    x, y, z = map(float, v)
    return [row[0] * x + row[1] * y + row[2] * z for row in axes]


def _flatten(plane: Sequence[Numbers], v: Numbers) -> Flat:
    return _dot(v, plane[0]), _dot(v, plane[1])


def _unflatten(plane: Sequence[Numbers], z: Flat) -> list[float]:
    return [across * z[0] + up * z[1] for across, up in zip(*plane, strict=True)]


def _towards(plane: Sequence[Numbers], local: Numbers, radius: float) -> Flat:
    """The point of the circle in the direction of a side point."""
    x, y = _unit(_flatten(plane, local))
    return x * radius, y * radius


def _plane_through(p: Numbers, q: Numbers) -> tuple[list[float], list[float]]:
    """Two orthogonal unit vectors of the plane through the centre and both points, the first along p."""
    first, normal = _normalised(p), _cross(p, q)
    if _norm(normal) < MINVAL:
        # the points are in line with the centre: any plane will do, MuJoCo's leaves out the largest component
        other = [1.0, 1.0, 1.0]
        other[_largest(first)] = 0.0
        normal = _cross(first, other)
    return first, _normalised(_cross(_normalised(normal), first))


def _largest(v: Numbers) -> int:
    x, y, z = map(abs, v)
    if y > x and y > z:
        return 1
    return 2 if z > x and z > y else 0


def _climb(p: Numbers, q: Numbers, arc: float, reach: list[float], leave: list[float]) -> float:
    """Set the heights of both points on a cylinder; returns the length of the helix between them."""
    before, after = _apart(p, reach), _apart(q, leave)
    rise, whole = q[2] - p[2], max(MINVAL, before + arc + after)
    reach[2] = p[2] + rise * before / whole
    leave[2] = p[2] + rise * (before + arc) / whole
    height = leave[2] - reach[2]
    return sqrt(arc * arc + height * height)


def _apart(a: Numbers, b: Numbers) -> float:
    """Distance in the cross-section."""
    x, y = a[0] - b[0], a[1] - b[1]
    return sqrt(x * x + y * y)


def _unit(z: Flat) -> Flat:
    length = sqrt(_square(z))
    if length < MINVAL:
        return 1.0, 0.0
    inverse = 1.0 / length
    return z[0] * inverse, z[1] * inverse


def _square(z: Flat) -> float:
    return z[0] * z[0] + z[1] * z[1]


def _scalar(a: Flat, b: Flat) -> float:
    return a[0] * b[0] + a[1] * b[1]


def _turn(a: Flat, b: Flat) -> float:
    """The cross product in the plane."""
    return a[0] * b[1] - a[1] * b[0]


def around_circle(a: Flat, b: Flat, radius: float, towards: Flat | None) -> Arc | None:
    """Tangents from both points to a circle and the arc between; the shorter way, or the one past `towards`."""
    square, along = radius * radius, (b[0] - a[0], b[1] - a[1])
    if _square(a) < square or _square(b) < square or radius < MINVAL or _square(along) < MINVAL:
        return None
    fraction = min(1.0, max(0.0, -_scalar(along, a) / _square(along)))
    closest = fraction * along[0] + a[0], fraction * along[1] + a[1]
    if _square(closest) > square and (towards is None or _scalar(towards, closest) >= 0.0):
        return None
    ways = [(_tangent(a, radius, turn), _tangent(b, radius, -turn)) for turn in (1.0, -1.0)]
    merits = [_merit(a, b, *way, towards) for way in ways]
    choice = 0 if merits[0] > merits[1] else 1
    first, last = ways[choice]
    if _segments_cross(a, first, b, last):
        return None
    return _arc_length(first, last, clockwise=choice == 0) * radius, first, last


def _tangent(z: Flat, radius: float, turn: float) -> Flat:
    """Where a tangent from z touches the circle: z scaled and turned one way or the other."""
    whole, square = _square(z), radius * radius
    aside = sqrt(whole - square)
    x = (z[0] * square + turn * radius * z[1] * aside) / whole
    return x, (z[1] * square - turn * radius * z[0] * aside) / whole


_REFUSED = -10000.0


def _merit(a: Flat, b: Flat, first: Flat, last: Flat, towards: Flat | None) -> float:
    if _segments_cross(a, first, b, last):
        return _REFUSED
    if towards is not None:
        return _scalar(_unit((first[0] + last[0], first[1] + last[1])), towards)
    return -_square((first[0] - last[0], first[1] - last[1]))


def _segments_cross(a: Flat, b: Flat, c: Flat, d: Flat) -> bool:
    """Whether the segments a–b and c–d have a point in common; parallel ones have none."""
    one, other, between = (b[0] - a[0], b[1] - a[1]), (d[0] - c[0], d[1] - c[1]), (a[0] - c[0], a[1] - c[1])
    determinant = other[1] * one[0] - other[0] * one[1]
    if abs(determinant) < MINVAL:
        return False
    return all(0.0 <= _turn(v, between) / determinant <= 1.0 for v in (other, one))


def _arc_length(first: Flat, last: Flat, clockwise: bool) -> float:
    """Angle from the first point to the last on the chosen side, in [0, 2π)."""
    # MuJoCo does not clamp, and has NaN where rounding makes the cosine larger than one
    angle = acos(min(1.0, max(-1.0, _scalar(_unit(first), _unit(last)))))
    turn = _turn(first, last)
    if (turn > 0 and clockwise) or (turn < 0 and not clockwise):
        return 2.0 * pi - angle
    return angle


def inside_point(a: Flat, b: Flat, radius: float) -> Arc | None:
    """The one point of the circle that the path touches from inside, with equal angles on both sides."""
    along, far_a, far_b = (b[0] - a[0], b[1] - a[1]), sqrt(_square(a)), sqrt(_square(b))
    if far_a <= radius or far_b <= radius or radius < MINVAL or min(far_a, far_b) < MINVAL:
        return None
    square = _square(along)
    if square > MINVAL and _touches(a, along, square, radius):
        return None
    cosine = (far_a * far_a + far_b * far_b - square) / (2.0 * far_a * far_b)
    if cosine < -1.0 + MINVAL:
        return None
    point = (
        None if cosine > 1.0 - MINVAL else _reflection(a, b, (radius / far_a, radius / far_b), acos(cosine))
    )
    if point is None:
        # where Newton's method gives up, MuJoCo takes the direction halfway
        point = _unit((0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])))
    scaled = point[0] * radius, point[1] * radius
    return 0.0, scaled, scaled


def _touches(a: Flat, along: Flat, square: float, radius: float) -> bool:
    """Whether the segment's inner point that is nearest to the centre lies in the circle."""
    fraction = -_scalar(along, a) / square
    if not 0.0 < fraction < 1.0:
        return False
    return sqrt(_square((a[0] + fraction * along[0], a[1] + fraction * along[1]))) <= radius


def _reflection(a: Flat, b: Flat, ratios: Flat, apart: float) -> Flat | None:
    """Direction of the point with equal angles of incidence, if Newton's method finds it."""
    sine = _incidence(ratios, apart)
    if sine is None:
        return None
    begin, ratio = (a, ratios[0]) if _turn(a, b) > 0 else (b, ratios[1])
    (x, y), angle = _unit(begin), asin(sine) - asin(ratio * sine)
    return cos(angle) * x - sin(angle) * y, sin(angle) * x + cos(angle) * y


def _incidence(ratios: Flat, apart: float) -> float | None:
    """Sine z of the angle of incidence: the root of asin(Az) + asin(Bz) − 2·asin(z) + angle apart."""
    first, second = ratios

    def residual(z: float) -> float:
        return asin(first * z) + asin(second * z) - 2.0 * asin(z) + apart

    def slope(z: float) -> float:
        terms = [k / max(MINVAL, sqrt(1.0 - z * z * k * k)) for k in (first, second, 1.0)]
        return terms[0] + terms[1] - 2.0 * terms[2]

    z = _NEAR_ONE
    f = residual(z)
    if f > 0.0:
        return None
    for _ in range(_ITERATIONS):
        if abs(f) <= _TOLERANCE:
            return z
        rate = slope(z)
        if rate > -MINVAL or z - f / rate > z:
            return None
        z -= f / rate
        f = residual(z)
        if f > _TOLERANCE:
            return None
    return None


def direction_of(v: Array) -> Array:
    """The direction of a vector; x if it has none."""
    length = np.linalg.norm(v)
    return np.array([1.0, 0.0, 0.0]) if length < MINVAL else v / length
