"""The shortest way around a sphere or an infinite cylinder, past a side point or inside the surface.

A sphere is wrapped in the plane through its centre and both ends, a cylinder in its cross-section, where the
path also climbs along the axis in proportion to its length. In that plane points are complex numbers with the
centre at zero, so a rotation is a product. Points are given and returned in the world frame. Compare mju_wrap.
"""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from math import acos, asin, hypot, pi, sqrt
from typing import TypeAlias

import numpy as np

from dovetail.plugins.spatial import MINVAL, Array

Detour: TypeAlias = tuple[float, Array, Array]
"""Length on the surface, where the path reaches it, where it leaves it."""

Arc: TypeAlias = tuple[float, complex, complex]
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
    p, q = (start - centre) @ axes, (end - centre) @ axes
    if np.linalg.norm(p) < MINVAL or np.linalg.norm(q) < MINVAL:
        return None
    plane = np.eye(3)[:2] if cylinder else _plane_through(p, q)
    inside, towards = False, None
    if side is not None:
        local = (side - centre) @ axes
        inside = bool(np.linalg.norm(local) < radius)
        towards = _unit(complex(*(plane @ local))) * radius
    flat = complex(*(plane @ p)), complex(*(plane @ q))
    arc = inside_point(*flat, radius) if inside else around_circle(*flat, radius, towards)
    if arc is None:
        return None
    length, first, last = arc
    reach, leave = first.real * plane[0] + first.imag * plane[1], last.real * plane[0] + last.imag * plane[1]
    if cylinder:
        length = _climb(p, q, length, reach, leave)
    return length, centre + axes @ reach, centre + axes @ leave


def _plane_through(p: Array, q: Array) -> Array:
    """Two orthogonal unit vectors of the plane through the centre and both points, the first along p."""
    first = p / np.linalg.norm(p)
    normal = np.cross(p, q)
    length = np.linalg.norm(normal)
    if length < MINVAL:
        # the points are in line with the centre: any plane will do, MuJoCo's leaves out the largest component
        other = np.ones(3)
        other[_largest(first)] = 0.0
        normal = np.cross(first, other)
        length = np.linalg.norm(normal)
    second = np.cross(normal / length, first)
    return np.array([first, second / np.linalg.norm(second)])


def _largest(v: Array) -> int:
    x, y, z = np.abs(v).tolist()
    if y > x and y > z:
        return 1
    return 2 if z > x and z > y else 0


def _climb(p: Array, q: Array, arc: float, reach: Array, leave: Array) -> float:
    """Set the heights of both points on a cylinder; returns the length of the helix between them."""
    before, after = hypot(*(p - reach)[:2].tolist()), hypot(*(q - leave)[:2].tolist())
    slope = (q[2] - p[2]) / (before + arc + after)
    reach[2] = p[2] + slope * before
    leave[2] = p[2] + slope * (before + arc)
    return hypot(arc, float(leave[2] - reach[2]))


def _unit(z: complex) -> complex:
    return z / abs(z) if abs(z) >= MINVAL else complex(1.0, 0.0)


def _scalar(a: complex, b: complex) -> float:
    return a.real * b.real + a.imag * b.imag


def _cross(a: complex, b: complex) -> float:
    return a.real * b.imag - a.imag * b.real


def _nearest(a: complex, b: complex) -> tuple[complex, float]:
    """The point of the line through a and b nearest to the centre, and its fraction from a to b."""
    along = b - a
    fraction = -_scalar(along, a) / _scalar(along, along)
    return a + fraction * along, fraction


def around_circle(a: complex, b: complex, radius: float, towards: complex | None) -> Arc | None:
    """Tangents from both points to a circle and the arc between; the shorter way, or the one past `towards`."""
    if min(abs(a), abs(b)) < radius or radius < MINVAL or abs(b - a) ** 2 < MINVAL:
        return None
    _, fraction = _nearest(a, b)
    closest = a + min(1.0, max(0.0, fraction)) * (b - a)
    if abs(closest) > radius and (towards is None or _scalar(towards, closest) >= 0):
        return None
    ways = [(_tangent(a, radius, -turn), _tangent(b, radius, turn)) for turn in (1, -1)]
    merits = [_merit(a, b, *way, towards) for way in ways]
    choice = 0 if merits[0] > merits[1] else 1
    first, last = ways[choice]
    if _segments_cross(a, first, b, last):
        return None
    return _arc_length(first, last, clockwise=choice == 0) * radius, first, last


def _tangent(z: complex, radius: float, turn: int) -> complex:
    """Where a tangent from z touches the circle: z scaled and turned one way or the other."""
    square = _scalar(z, z)
    return z * complex(radius * radius, turn * radius * sqrt(max(0.0, square - radius * radius))) / square


_REFUSED = -10000.0


def _merit(a: complex, b: complex, first: complex, last: complex, towards: complex | None) -> float:
    if _segments_cross(a, first, b, last):
        return _REFUSED
    if towards is not None:
        return _scalar(_unit(first + last), towards)
    return -(abs(first - last) ** 2)


def _segments_cross(a: complex, b: complex, c: complex, d: complex) -> bool:
    """Whether the segments a–b and c–d have a point in common; parallel ones have none."""
    determinant = _cross(b - a, d - c)
    if abs(determinant) < MINVAL:
        return False
    return all(0.0 <= _cross(c - a, v) / determinant <= 1.0 for v in (d - c, b - a))


def _arc_length(first: complex, last: complex, clockwise: bool) -> float:
    """Angle from the first point to the last on the chosen side, in [0, 2π)."""
    angle = acos(min(1.0, max(-1.0, _scalar(_unit(first), _unit(last)))))
    turn = _cross(first, last)
    if (turn > 0 and clockwise) or (turn < 0 and not clockwise):
        return 2.0 * pi - angle
    return angle


def inside_point(a: complex, b: complex, radius: float) -> Arc | None:
    """The one point of the circle that the path touches from inside, with equal angles on both sides."""
    if min(abs(a), abs(b)) <= max(radius, MINVAL) or radius < MINVAL:
        return None
    if abs(b - a) ** 2 > MINVAL:
        nearest, fraction = _nearest(a, b)
        if 0.0 < fraction < 1.0 and abs(nearest) <= radius:
            return None
    cosine = (abs(a) ** 2 + abs(b) ** 2 - abs(b - a) ** 2) / (2.0 * abs(a) * abs(b))
    if cosine < -1.0 + MINVAL:
        return None
    # where Newton's method gives up, MuJoCo takes the direction halfway
    point = _unit(0.5 * (a + b)) * radius
    if cosine <= 1.0 - MINVAL:
        ratios = radius / abs(a), radius / abs(b)
        sine = _incidence(ratios, acos(cosine))
        if sine is not None:
            begin, ratio = (a, ratios[0]) if _cross(a, b) > 0 else (b, ratios[1])
            point = _unit(begin) * radius * cmath.rect(1.0, asin(sine) - asin(ratio * sine))
    return 0.0, point, point


def _incidence(ratios: Sequence[float], apart: float) -> float | None:
    """Sine z of the angle of incidence: the root of asin(Az) + asin(Bz) − 2·asin(z) + angle apart."""
    first, second = ratios

    def residual(z: float) -> float:
        return asin(first * z) + asin(second * z) - 2.0 * asin(z) + apart

    def slope(z: float) -> float:
        terms = [k / max(MINVAL, sqrt(1.0 - (k * z) ** 2)) for k in (first, second, 1.0)]
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
