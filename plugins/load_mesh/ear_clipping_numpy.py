"""Cutting polygons into triangles by clipping ears, many polygons with equally many corners at a time.

A corner is cut off if its triangle turns the polygon's way round and contains none of the other corners, beginning
with the first; the polygon is drawn on the two axes in which it is largest, in single precision (tinyobjloader). Each
try compares a triangle with all corners that are left, so their number is limited.
"""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.fields import Array

MOST_COMPARISONS, PER_CORNER = 15_000_000, 200
"""Comparisons of corners with triangles in one file: some, and more for each corner of its polygons."""
_SMALL = np.finfo(np.float32).eps
_AXES = np.array([[1, 2], [0, 2], [0, 1]])
"""The axes to draw on, by the largest part of the normal."""


class PolygonError(ValueError):
    """Cutting the polygons would take too long."""


def triangulated(sizes: Array, corners: Array, vertices: Array) -> Array:
    """Triangles of polygons that have `sizes` corners, given by numbers of vertices one after the other.

    Returns where in `corners` the corners of each triangle are, (n, 3).
    """
    begins = np.cumsum(sizes) - sizes
    large = sizes[sizes > 3].astype(np.float64)
    allowed = MOST_COMPARISONS + PER_CORNER * float(large.sum())
    _check(float((large * (large - 3)).sum()) / 2, allowed, sizes)
    triangles, owners = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes[sizes > 2]).tolist():
        polygons = np.flatnonzero(sizes == size)
        places = begins[polygons, None] + np.arange(size)
        clipping = Clipping.of(vertices[corners[places]])
        while clipping.advance():
            _check(clipping.work, allowed, sizes)
        allowed -= clipping.work
        polygon, found = clipping.result()
        triangles.append(places[polygon[:, None], found])
        owners.append(polygons[polygon])
    return np.concatenate(triangles)[np.argsort(np.concatenate(owners), kind="stable")]


def _check(work: float, allowed: float, sizes: Array) -> None:
    if work > allowed:
        raise PolygonError(
            f"its polygons, of up to {sizes.max():,} corners, take more than {allowed:,.0f} comparisons to be cut "
            "into triangles; triangulate the mesh in a modelling program"
        )


@attrs.define(eq=False)
class Clipping:
    """Polygons with equally many corners, from which one corner after the other is cut off."""

    flat: Array
    """Corners as drawn, (polygon, corner, 2), of single precision."""
    area: Array
    left: Array
    """Numbers of the corners that are left, (polygon, corner); only the first `count` count."""
    count: Array
    start: Array
    """Where among those the next triangle begins."""
    tries: Array
    """How many more there are, but for those that have just lost a corner, which begin anew."""
    shrunk: Array
    found: list[tuple[Array, Array]]
    """Polygons and triangles that were cut off, one of each polygon at most per round."""
    work: int = 0

    @classmethod
    def of(cls, points: Array) -> Clipping:
        many, size = points.shape[:2]
        flat = np.take_along_axis(points, drawing_axes(points)[:, None], axis=2)
        after = np.roll(flat, -1, axis=1)
        doubled = flat[:, :, 0] * after[:, :, 1] - flat[:, :, 1] * after[:, :, 0]
        return cls(
            flat=flat,
            area=np.add.accumulate(doubled, axis=1)[:, -1],
            left=np.tile(np.arange(size), (many, 1)),
            count=np.full(many, size),
            start=np.zeros(many, np.int64),
            tries=np.full(many, size),
            shrunk=np.zeros(many, bool),
            found=[],
        )

    def advance(self) -> bool:
        """Try one corner of each polygon; says if there were any to try. An ear found at the last try is the last."""
        these = np.flatnonzero((self.count > 3) & (self.tries > 0))
        if not len(these):
            return False
        count, widest = self.count[these], int(self.count[these].max())
        self.tries[these] = np.where(self.shrunk[these], count, self.tries[these] - 1)
        self.start[these] %= count
        ring = (self.start[these, None] + np.arange(widest)) % count[:, None]
        corners = np.take_along_axis(self.left[these], ring, axis=1)
        points = self.flat[these[:, None], corners]
        others = np.arange(3, widest) < count[:, None]
        ear = _turns(points, self.area[these]) & ~_contains_any(points, others)
        self.work += these.size * widest
        self._cut_off(these[ear], corners[ear, :3])
        self.start[these[~ear]] += 1
        self.shrunk[these] = ear
        return True

    def _cut_off(self, polygons: Array, triangles: Array) -> None:
        """Take away the middle corners of triangles, one of each polygon."""
        self.found.append((polygons, triangles))
        rows = self.left[polygons]
        middle = (self.start[polygons] + 1) % self.count[polygons]
        stays = np.arange(rows.shape[1] - 1) < middle[:, None]
        self.left[polygons, :-1] = np.where(stays, rows[:, :-1], rows[:, 1:])
        self.count[polygons] -= 1

    def result(self) -> tuple[Array, Array]:
        """Polygons, and triangles by numbers of their corners, in order; where three corners are left, those too."""
        last = np.flatnonzero(self.count == 3)
        every = [*self.found, (last, self.left[last, :3])]
        return np.concatenate([polygon for polygon, _ in every]), np.concatenate([each for _, each in every])


def drawing_axes(points: Array) -> Array:
    """The two axes in which each polygon is largest: those across the biggest part of its first proper corner."""
    edges = np.roll(points, -1, axis=1) - points
    normals: Array = np.abs(np.cross(edges, np.roll(edges, -1, axis=1)))
    proper: Array = np.any(normals > _SMALL, axis=2)
    x, y, z = normals[np.arange(len(points)), proper.argmax(axis=1)].T
    largest = np.where((x > y) & (x > z), 0, np.where((z > x) & (z > y), 2, 1))
    return _AXES[np.where(proper.any(axis=1), largest, 0)]


def _turns(points: Array, area: Array) -> Array:
    """Whether the first three points of each polygon turn its way round, or not at all."""
    (x0, y0), (x1, y1), (x2, y2) = (points[:, k].T for k in range(3))
    return ((x1 - x0) * (y2 - y1) - (y1 - y0) * (x2 - x1)) * area >= 0


def _contains_any(points: Array, counted: Array) -> Array:
    """Whether the triangle of the first three points contains others that count, by crossings of a ray."""
    heights = points[:, :3, 1]
    low, high = heights.min(axis=1)[:, None], heights.max(axis=1)[:, None]
    y = points[:, 3:, 1]
    row, column = np.nonzero(counted & (y >= low) & (y < high))
    x, y = points[row, column + 3].T
    inside = np.zeros(len(row), bool)
    for a, b in ((0, 2), (1, 0), (2, 1)):
        (xa, ya), (xb, yb) = points[row, a].T, points[row, b].T
        crosses = (ya > y) != (yb > y)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inside ^= crosses & (x < (xb - xa) * (y - ya) / (yb - ya) + xa)
    return np.bincount(row[inside], minlength=len(points)) > 0
