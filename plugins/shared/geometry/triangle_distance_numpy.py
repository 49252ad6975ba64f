"""Signed distance from points to a surface of triangles, negative inside.

Its size is the distance to the nearest triangle; its sign tells on which side of the surface the point is: that of
the offset from the nearest point along the normal there, which on an edge is the sum of the two faces' normals and
at a vertex their sum weighted by their angles (Bærentzen & Aanæs, Generating signed distance fields from triangle
meshes, 2002). MuJoCo samples this function for the octrees of meshes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows

BATCH = 400_000
"""Pairs of points and triangles that are measured at once."""

FACE, EDGES, VERTICES = 0, (1, 2, 3), (4, 5, 6)
"""What of a triangle is nearest: itself; its edges 01, 12, 02; its vertices."""


@attrs.frozen(eq=False, slots=False)
class DistanceSurface:
    """A surface; its derived arrays are made when they are first needed."""

    vertex: Array
    """(n, 3)."""
    face: Array
    """(m, 3), counter-clockwise from outside."""

    def distance(self, points: Array) -> Array:
        """Signed distances (k,) of points (k, 3)."""
        distance, offset, normal = self.nearest(points)
        return np.where(dot_rows(offset, normal) >= 0.0, distance, -distance)

    def gradient(self, points: Array) -> Array:
        """Directions (k, 3) in which the distance grows; not numbers on the surface."""
        _, offset, normal = self.nearest(points)
        with np.errstate(invalid="ignore", divide="ignore"):
            outward = offset / np.sqrt(dot_rows(offset, offset))[:, None]
        return np.where((dot_rows(offset, normal) >= 0.0)[:, None], outward, -outward)

    def nearest(self, points: Array) -> tuple[Array, Array, Array]:
        """Distance (k,) to the nearest triangle, offset (k, 3) from the nearest point, and normal (k, 3) there."""
        found = [self._among(points[rows], *pairs) for rows, pairs in self._batches(points)]
        square, offset, normal = (np.concatenate(column) for column in zip(*found, strict=True))
        return np.sqrt(square), offset, normal

    def _among(self, points: Array, point: Array, triangle: Array) -> tuple[Array, Array, Array]:
        """The nearest of the triangles that are paired with each point; pairs are sorted by point."""
        square, spot, part = measured(points[point], self._corners[triangle])
        order = np.lexsort((square, point))
        best = order[np.searchsorted(point, np.arange(len(points)))]
        return square[best], points - spot[best], self._normals[triangle[best], part[best]]

    def _batches(self, points: Array) -> Iterator[tuple[slice, tuple[Array, Array]]]:
        """Rows of points, and pairs of these with the triangles that may be nearest, not too many at once."""
        centre = self._corners.mean(axis=1)
        radius = np.sqrt(np.square(self._corners - centre[:, None]).sum(axis=2)).max(axis=1)
        reach = self._tree(self.vertex[np.unique(self.face)]).query(points)[0]
        step = max(1, BATCH // len(self.face))
        for start in range(0, max(len(points), 1), step):
            rows = slice(start, start + step)
            away = np.sqrt(np.square(points[rows, None] - centre).sum(axis=2))
            # the slack keeps the nearest vertex's own triangles in spite of rounding
            point, triangle = np.nonzero(away - radius <= reach[rows, None] * (1 + 1e-9) + 1e-12)
            yield rows, (point, triangle)

    @staticmethod
    def _tree(points: Array) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(points)

    @cached_property
    def _corners(self) -> Array:
        return self.vertex[self.face]

    @cached_property
    def _normals(self) -> Array:
        """Normals (m, 7, 3) at each part of each triangle: face, edges 01, 12 and 02, vertices."""
        face = unit(
            cross_rows(self._corners[:, 1] - self._corners[:, 0], self._corners[:, 2] - self._corners[:, 0])
        )
        vertices = self._vertex_normals(face)[self.face]
        return np.concatenate([face[:, None], self._edge_normals(face), vertices], axis=1)

    def _edge_normals(self, face_normal: Array) -> Array:
        """At edges 01, 12 and 02 of each face (m, 3, 3): the sum of the normals of all faces there."""
        ends = np.sort(self.face[:, [[0, 1], [1, 2], [0, 2]]], axis=2).astype(np.int64)
        keys = ends[..., 0] * len(self.vertex) + ends[..., 1]
        edge, index = np.unique(keys, return_inverse=True)
        index = index.reshape(keys.shape)
        total = np.zeros((len(edge), 3))
        np.add.at(total, index, np.repeat(face_normal[:, None], 3, axis=1))
        return unit(total[index].reshape(-1, 3)).reshape(-1, 3, 3)

    def _vertex_normals(self, face_normal: Array) -> Array:
        """Sum (n, 3) of the normals of the faces around each vertex, weighted by their angles there."""
        total = np.zeros((len(self.vertex), 3))
        for corner in range(3):
            here, left, right = (self._corners[:, (corner + k) % 3] for k in range(3))
            cosine = dot_rows(unit(left - here), unit(right - here))
            angle = np.arccos(np.clip(cosine, -1.0, 1.0))
            np.add.at(total, self.face[:, corner], angle[:, None] * face_normal)
        return unit(total)


def unit(rows: Array) -> Array:
    """Rows of length one; zero stays zero."""
    length = np.sqrt(dot_rows(rows, rows))[:, None]
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)


def measured(point: Array, corners: Array) -> tuple[Array, Array, Array]:
    """Squared distance (n,) of points (n, 3) to triangles (n, 3, 3), the nearest points, and which part they are on.

    The square is a quadratic form in the two barycentric coordinates, evaluated at its constrained minimum.
    """
    edge0, edge1 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    away = corners[:, 0] - point
    form = Form(
        dot_rows(edge0, edge0),
        dot_rows(edge0, edge1),
        dot_rows(edge1, edge1),
        dot_rows(away, edge0),
        dot_rows(away, edge1),
    )
    part, s, t = form.minimum()
    square = form.value(part, s, t, dot_rows(away, away))
    spot = corners[:, 0] + s[:, None] * edge0 + t[:, None] * edge1
    return np.maximum(square, 0.0), spot, part


@attrs.frozen
class Form:
    """Coefficients of |away + s·edge0 + t·edge1|²: a00 s² + 2 a01 s t + a11 t² + 2 b0 s + 2 b1 t + constant."""

    a00: Array
    a01: Array
    a11: Array
    b0: Array
    b1: Array

    def minimum(self) -> tuple[Array, Array, Array]:
        """Part of the triangle (see FACE, EDGES, VERTICES) and coordinates of the least value in the triangle."""
        size = np.abs(self.a00 * self.a11 - self.a01 * self.a01)
        s, t = self.a01 * self.b1 - self.a11 * self.b0, self.a01 * self.b0 - self.a00 * self.b1
        inside = (s + t <= size) & (s >= 0) & (t >= 0) & (size > 0)
        per_size = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
        part, edge_s, edge_t = self._on_edges()
        return (
            np.where(inside, FACE, part),
            np.where(inside, s * per_size, edge_s),
            np.where(inside, t * per_size, edge_t),
        )

    def _on_edges(self) -> tuple[Array, Array, Array]:
        """The least value on the three edges."""
        along = [
            within(-self.b0, self.a00, EDGES[0], VERTICES[0], VERTICES[1]),
            within(self.a11 + self.b1 - self.a01 - self.b0, self.a00 - 2 * self.a01 + self.a11, EDGES[1],
                   VERTICES[2], VERTICES[1]),
            within(-self.b1, self.a11, EDGES[2], VERTICES[0], VERTICES[2]),
        ]  # fmt: skip
        part, share = (np.stack(column) for column in zip(*along, strict=True))
        zero = np.zeros_like(share[0])
        s, t = np.stack([share[0], share[1], zero]), np.stack([zero, 1.0 - share[1], share[2]])
        best = np.argmin(self._general(s, t), axis=0)[None]
        part, s, t = (np.take_along_axis(rows, best, axis=0)[0] for rows in (part, s, t))
        return part, s, t

    def _general(self, s: Array, t: Array) -> Array:
        by_s: Array = s * (self.a00 * s + self.a01 * t + 2 * self.b0)
        by_t: Array = t * (self.a01 * s + self.a11 * t + 2 * self.b1)
        return by_s + by_t

    def value(self, part: Array, s: Array, t: Array, constant: Array) -> Array:
        """The value at a minimum, by the shortest formula for its part of the triangle."""
        return np.choose(
            part,
            [
                self._general(s, t) + constant,
                self.b0 * s + constant,
                self._general(s, t) + constant,
                self.b1 * t + constant,
                constant,
                self.a00 + 2 * self.b0 + constant,
                self.a11 + 2 * self.b1 + constant,
            ],
        )


def within(numerator: Array, denominator: Array, edge: int, start: int, end: int) -> tuple[Array, Array]:
    """Part and coordinate from 0 to 1 of the nearest point on an edge: inside it, or one of its ends."""
    part = np.where(numerator <= 0, start, np.where(numerator >= denominator, end, edge))
    inside = part == edge
    share = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=inside)
    return part, np.where(part == end, 1.0, share)
