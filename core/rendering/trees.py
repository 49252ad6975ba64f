"""Surfaces of triangles, sorted into trees of boxes.

A tree is a full binary one without pointers: the children of node i are 2 i + 1 and 2 i + 2, and a leaf holds `LEAF`
triangles. It is made by halving: at every level each group of triangles is sorted along the longest side of its box
and cut in the middle. Where a surface bends, its order stays and only its boxes are made anew. Room at the end of
the last leaves is filled with triangles that no ray meets."""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.fields import Array

LEAF = 4
"""Triangles in a leaf."""


@attrs.frozen(eq=False)
class Tree:
    """The order of a surface's triangles; `order` has -1 where a leaf has room left."""

    order: Array
    levels: int
    """0: the root is a leaf."""


def plant(triangles: Array) -> Tree:
    """Sort triangles (n, 3, 3) into a tree."""
    count = len(triangles)
    levels = max(0, int(np.ceil(np.log2(max(1, count) / LEAF))))
    room = LEAF << levels
    order = np.full(room, -1, np.int64)
    order[:count] = np.arange(count)
    middles = np.full((room, 3), np.inf, np.float32)
    middles[:count] = np.asarray(triangles, np.float32).mean(axis=1)
    with np.errstate(invalid="ignore"):
        for level in range(levels):
            groups = middles[order].reshape(1 << level, -1, 3)
            axis = _longest(groups)
            along = np.take_along_axis(groups, axis[:, None, None], axis=2)[:, :, 0]
            new = np.argsort(along, axis=1, kind="stable")
            order = np.take_along_axis(order.reshape(1 << level, -1), new, axis=1).reshape(-1)
    return Tree(order, levels)


def _longest(groups: Array) -> Array:
    """The axis along which each group of points is longest; points of no triangle are at infinity."""
    filled = np.isfinite(groups)
    high = np.where(filled, groups, -np.inf).max(axis=1)
    low = np.where(filled, groups, np.inf).min(axis=1)
    length: Array = np.nan_to_num(high - low, nan=0.0, neginf=0.0).argmax(axis=1)
    return length


def boxes(tree: Tree, corners: Array) -> Array:
    """Boxes of all nodes (nodes, 6), lowest and highest corner, for triangles (room, 3, 3) in the tree's order."""
    empty = (tree.order < 0)[:, None]
    low = np.where(empty, np.float32(np.inf), corners.min(axis=1)).reshape(-1, LEAF, 3).min(axis=1)
    high = np.where(empty, np.float32(-np.inf), corners.max(axis=1)).reshape(-1, LEAF, 3).max(axis=1)
    levels = [np.concatenate([low, high], axis=1)]
    while len(levels[-1]) > 1:
        pairs = levels[-1].reshape(-1, 2, 6)
        levels.append(np.concatenate([pairs[:, :, :3].min(axis=1), pairs[:, :, 3:].max(axis=1)], axis=1))
    every: Array = np.concatenate(levels[::-1])
    return every


@attrs.frozen(eq=False)
class Planted:
    """A surface that is ready for rays: boxes of its tree and its triangles in the tree's order."""

    levels: int
    nodes: Array
    """(nodes, 6)"""
    triangles: Array
    """(room, 9): a corner, and the edges from it to the other two."""
    normals: Array
    """(room, 9): of the three corners."""
    texcoords: Array
    """(room, 6): of the three corners; zeros if there are none."""
    density: float
    """Texture coordinates per length, on average."""

    @property
    def box(self) -> Array:
        """Lowest and highest corner of all."""
        root: Array = self.nodes[0]
        return root


def planted(
    vertices: Array, faces: Array, normals: Array, texcoords: Array | None, tree: Tree | None = None
) -> Planted:
    """A surface of vertices with normals (and texture coordinates) and faces, in a tree that is made or given."""
    vertices = np.asarray(vertices, np.float32)
    if tree is None:
        tree = plant(vertices[faces])
    corners_of = (
        np.where(tree.order[:, None] >= 0, faces[tree.order], 0) if len(faces) else np.zeros((LEAF, 3), int)
    )
    corners = _at(vertices, corners_of)
    filled = (tree.order >= 0)[:, None, None]
    first = corners[:, :1]
    triangles = np.where(filled, np.concatenate([first, corners[:, 1:] - first], axis=1), np.float32(0))
    coordinates = np.zeros((len(corners), 3, 2), np.float32)
    if texcoords is not None:
        coordinates = _at(np.asarray(texcoords, np.float32), corners_of)
    return Planted(
        tree.levels,
        boxes(tree, corners),
        np.ascontiguousarray(triangles.reshape(-1, 9)),
        np.ascontiguousarray(_at(np.asarray(normals, np.float32), corners_of).reshape(-1, 9)),
        np.ascontiguousarray(coordinates.reshape(-1, 6)),
        _density(triangles, coordinates),
    )


def _at(rows: Array, index: Array) -> Array:
    found: Array = rows[index] if len(rows) else np.zeros((*index.shape, rows.shape[1]), np.float32)
    return found


def _density(triangles: Array, coordinates: Array) -> float:
    area = np.linalg.norm(np.cross(triangles[:, 1], triangles[:, 2]), axis=1).sum()
    edges = coordinates[:, 1:] - coordinates[:, :1]
    painted = np.abs(edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]).sum()
    return float(np.sqrt(painted / area)) if area > 0 and np.isfinite(area) else 0.0


@attrs.define(eq=False)
class Forest:
    """The surfaces of a drawing, one behind the other."""

    first_node: Array
    first_triangle: Array
    levels: Array
    density: Array
    nodes: Array
    triangles: Array
    normals: Array
    texcoords: Array

    @classmethod
    def of(cls, surfaces: list[Planted]) -> Forest:
        """All surfaces; there is always room for a first one, so that no array is empty."""
        everyone = surfaces or [planted(np.zeros((1, 3)), np.zeros((0, 3), np.int64), np.zeros((1, 3)), None)]

        def joined(name: str) -> Array:
            return np.concatenate([getattr(surface, name) for surface in everyone])

        return cls(
            _starts([len(surface.nodes) for surface in everyone]),
            _starts([len(surface.triangles) for surface in everyone]),
            np.array([surface.levels for surface in everyone], np.int32),
            np.array([surface.density for surface in everyone], np.float32),
            joined("nodes"),
            joined("triangles"),
            joined("normals"),
            joined("texcoords"),
        )

    def box(self, surface: Array) -> Array:
        """The boxes of some surfaces (n, 6)."""
        found: Array = self.nodes[self.first_node[surface]]
        return found


def _starts(counts: list[int]) -> Array:
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int32)
