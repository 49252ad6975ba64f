"""The shortest ways around spheres and cylinders, many at a time: the same rules as `plugins.tendon.wrapping`.

Points are in the frames of the geoms, (point, coordinate, n): both ends, and the side points if there are any. In the
plane of the circle points are complex numbers.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.tendons.wrapping_numpy import inside_point

_REFUSED = -10000.0
_TURNS = np.array([[[1.0], [-1.0]], [[-1.0], [1.0]]])
"""Which way round the tangents from both ends go, (way, end, 1)."""
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


class Circles:
    """Spheres and cylinders, and which of them have side points."""

    def __init__(self, radius: Array, cylinder: Array, sided: Array) -> None:
        self.radius, self.square, self.cylinder, self.sided = radius, radius * radius, cylinder, sided
        self.round = np.flatnonzero(~cylinder)
        self.any_cylinder, self.any_sided = bool(cylinder.any()), bool(sided.any())
        self.axes = np.zeros((2, 3, len(radius)))
        self.axes[0, 0] = self.axes[1, 1] = 1.0

    def detours(self, points: Array) -> tuple[Array, Array, Array]:
        """Which ways are detours (n), their lengths on the surface, where they reach and leave it (2, 3, n)."""
        axes = self._axes(points)
        flat = np.einsum("ikn,pkn->pin", axes, points)
        z = flat[:, 0] + 1j * flat[:, 1]
        found, length, ends = self._around(z, np.einsum("pin,pin->pn", flat, flat))
        if self.any_sided:
            inside = self.sided & (np.einsum("kn,kn->n", points[2], points[2]) < self.square)
            for k in np.flatnonzero(inside).tolist():
                found[k] = _set_inside(z[:, k], float(self.radius[k]), length, ends, k)
        surface = ends.real[:, None] * axes[0] + ends.imag[:, None] * axes[1]
        if self.any_cylinder:
            self._climb(points, length, surface)
        return found, length, surface

    def _axes(self, points: Array) -> Array:
        """Unit vectors of each plane: of a sphere's through its centre and both ends, or across a cylinder."""
        if not len(self.round):
            return self.axes
        p, q = points[:2, :, self.round]
        first, normal = _unit(p), _cross(p, q)
        for k in np.flatnonzero(np.einsum("kn,kn->n", normal, normal) < MINVAL * MINVAL).tolist():
            normal[:, k] = _any_normal(first[:, k])
        axes = self.axes.copy()
        axes[0][:, self.round], axes[1][:, self.round] = first, _unit(_cross(_unit(normal), first))
        return axes

    def _around(self, z: Array, far: Array) -> tuple[Array, Array, Array]:
        """Tangents from both ends to the circles and the arcs between; the shorter way, or the one past the side."""
        found, towards = self._meets(z, far)
        if not found.any():
            return found, np.zeros(len(found)), np.zeros((2, len(found)), complex)
        aside = self.radius * np.sqrt(np.maximum(far[:2] - self.square, 0.0))
        ways = z[:2] * ((self.square - 1j * (_TURNS * aside)) / np.maximum(far[:2], MINVAL))
        crossing = _crossing(z, ways)
        merit = -_square(ways[:, 0] - ways[:, 1])
        if self.any_sided:
            middle = ways[:, 0] + ways[:, 1]
            past = (middle.conj() * towards).real / np.maximum(np.abs(middle), MINVAL)
            merit = np.where(self.sided, past, merit)
        merit[crossing] = _REFUSED
        clockwise = merit[0] > merit[1]
        ends = np.where(clockwise, ways[0], ways[1])
        found &= ~np.where(clockwise, crossing[0], crossing[1])
        return found, _arcs(ends, clockwise) * self.radius, ends

    def _meets(self, z: Array, far: Array) -> tuple[Array, Array]:
        """Which straight ways lead through the circle, or past it on the wrong side; where the right side is."""
        a, along = z[0], z[1] - z[0]
        apart = _square(along)
        fraction = np.clip(-(along.conj() * a).real / np.maximum(apart, MINVAL), 0.0, 1.0)
        closest = fraction * along + a
        meets, towards = _square(closest) <= self.square, a
        if self.any_sided:
            size = np.abs(z[2])
            towards = np.where(size < MINVAL, 1.0, z[2] / np.maximum(size, MINVAL)) * self.radius
            meets |= self.sided & ((towards.conj() * closest).real < 0.0)
        meets &= (far[:2] >= self.square).all(axis=0) & (apart >= MINVAL) & (self.radius >= MINVAL)
        return meets, towards

    def _climb(self, points: Array, length: Array, surface: Array) -> None:
        """Set the heights of points on cylinders, and the lengths of the helices between them."""
        sides = points[:2, :2] - surface[:, :2]
        before, after = np.sqrt(np.einsum("pkn,pkn->pn", sides, sides))
        low = points[0, 2]
        slope = (points[1, 2] - low) / np.maximum(MINVAL, before + length + after)
        heights = low + slope * np.stack([before, before + length])
        surface[:, 2] = np.where(self.cylinder, heights, surface[:, 2])
        helix = np.sqrt(length * length + (heights[1] - heights[0]) ** 2)
        length[:] = np.where(self.cylinder, helix, length)


def _set_inside(z: Array, radius: float, length: Array, ends: Array, k: int) -> bool:
    """The one point that a way inside touches."""
    arc = inside_point((z[0].real, z[0].imag), (z[1].real, z[1].imag), radius)
    if arc is not None:
        length[k], ends[:, k] = 0.0, complex(*arc[1])
    return arc is not None


def _square(z: Array) -> Array:
    return z.real * z.real + z.imag * z.imag


def _cross(a: Array, b: Array) -> Array:
    crossed: Array = a[_NEXT] * b[_LAST] - a[_LAST] * b[_NEXT]
    return crossed


def _unit(v: Array) -> Array:
    unit: Array = v / np.maximum(np.sqrt(np.einsum("kn,kn->n", v, v)), MINVAL)
    return unit


def _any_normal(first: Array) -> Array:
    """Of points in line with the centre: any plane will do, MuJoCo's leaves out the largest component."""
    x, y, z = np.abs(first)
    other = np.ones(3)
    other[1 if y > x and y > z else 2 if z > x and z > y else 0] = 0.0
    return np.cross(first, other)


def _crossing(z: Array, ways: Array) -> Array:
    """Whether the straight parts of a way have a point in common, (way, n)."""
    straight = ways - z[:2]
    one, other = straight[:, 0], straight[:, 1]
    determinant = (one.conj() * other).imag
    proper = np.abs(determinant) >= MINVAL
    places = (straight.conj() * (z[0] - z[1])).imag / np.where(proper, determinant, 1.0)[:, None]
    return proper & ((places >= 0.0) & (places <= 1.0)).all(axis=1)


def _arcs(ends: Array, clockwise: Array) -> Array:
    """Angles from the first points to the last on the chosen side, in [0, 2π)."""
    first, last = ends / np.maximum(np.abs(ends), MINVAL)
    product = first.conj() * last
    angle = np.arccos(np.clip(product.real, -1.0, 1.0))
    turn = product.imag
    around = np.where(clockwise, turn > 0, turn < 0)
    return np.where(around, 2.0 * np.pi - angle, angle)
