"""Triangle surfaces: nearest points, inside and outside, and searches by bounding volumes.

A surface lies in its own frame. Which side of it a point is on is decided by the normal of the nearest feature:
the face's, the sum of its two faces' at an edge, the sum weighted by angles at a vertex (Bærentzen and Aanæs 2005),
so it should be closed. A surface wound inwards is turned round. Meshes bring their bounding volume tree in the
model (mesh_bvhadr, bvh_*), where it is built once per asset; what else follows from the triangles is kept with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows

FLAT = 1e-6
"""Sine of the angle between two faces below which the edge between them is no edge."""


class BoxTree(NamedTuple):
    """Bounding boxes, of which the leaves hold one face each."""

    low: Array
    high: Array
    child: Array
    """Two children (n, 2); -1: none."""
    face: Array
    """Face of a leaf; -1 inside the tree."""
    roots: Array


class TriangleSurface(NamedTuple):
    """Triangles and what follows from them."""

    vert: Array
    face: Array
    """Three vertices each, anticlockwise from outside."""
    face_edge: Array
    """Three edges each: from vertex 0 to 1, 1 to 2, 2 to 0."""
    edge: Array
    """Two vertices each."""
    face_normal: Array
    edge_normal: Array
    vert_normal: Array
    ridge: Array
    """Which edges stick out."""
    tree: BoxTree

    @property
    def size(self) -> float:
        """Diagonal of the box around the surface."""
        return float(
            np.linalg.norm(self.tree.high[self.tree.roots].max(0) - self.tree.low[self.tree.roots].min(0))
        )


class NearestPoints(NamedTuple):
    """Points of a surface near given points."""

    query: Array
    """Which given point."""
    face: Array
    point: Array
    distance: Array
    weight: Array
    """Barycentric coordinates (n, 3); those of vertices the point does not depend on are exactly 0."""

    def take(self, which: Array) -> NearestPoints:
        return NearestPoints(*(column[which] for column in self))


# ---- making surfaces --------------------------------------------------------------------------------------


def make_surface(vert: Array, face: Array, tree: BoxTree) -> TriangleSurface:
    """A surface from vertices (n, 3), faces (m, 3) and their tree. Vertices at the same place become one."""
    vert, same = np.unique(np.asarray(vert, float), axis=0, return_inverse=True)
    face = same.reshape(-1)[np.asarray(face)]
    corner = vert[face]
    if np.einsum("ij,ij->", corner[:, 0], cross_rows(corner[:, 1], corner[:, 2])) < 0:
        face, corner = face[:, ::-1], corner[:, ::-1]
    normal = directions(cross_rows(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]))
    ends = np.sort(np.stack([face, np.roll(face, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
    edge, face_edge = np.unique(ends, axis=0, return_inverse=True)
    face_edge = face_edge.reshape(-1, 3)
    edge_normal = summed(face_edge, np.repeat(normal[:, None], 3, axis=1), len(edge))
    vert_normal = summed(face, normal[:, None] * corner_angles(corner)[..., None], len(vert))
    ridge = convex_edges(vert, face, face_edge, normal, edge)
    return TriangleSurface(vert, face, face_edge, edge, normal, edge_normal, vert_normal, ridge, tree)


def directions(rows: Array) -> Array:
    """Rows scaled to length one; zero rows stay zero."""
    return rows / np.maximum(np.sqrt(dot_rows(rows, rows)), MINVAL)[:, None]


def corner_angles(corner: Array) -> Array:
    """Angles (n, 3) at the corners of triangles (n, 3, 3)."""
    ahead = directions((np.roll(corner, -1, axis=1) - corner).reshape(-1, 3))
    back = directions((np.roll(corner, 1, axis=1) - corner).reshape(-1, 3))
    return np.arccos(np.clip(dot_rows(ahead, back), -1.0, 1.0)).reshape(-1, 3)


def summed(index: Array, rows: Array, count: int) -> Array:
    """Directions of the sums of rows (n, 3, 3) that belong to the same index (n, 3)."""
    total = np.zeros((count, 3))
    np.add.at(total, index, rows)
    return directions(total)


def convex_edges(vert: Array, face: Array, face_edge: Array, normal: Array, edge: Array) -> Array:
    """Edges that no corner of a face beside them overtops, and that are not flat."""
    opposite = np.roll(face, 1, axis=1)
    highest = np.full(len(edge), -np.inf)
    bend = np.zeros((len(edge), 3))
    np.add.at(bend, face_edge, np.repeat(normal[:, None], 3, axis=1))
    away = (vert[opposite] - vert[edge[face_edge][..., 0]]).reshape(-1, 3)
    rise = dot_rows(directions(away), directions(bend)[face_edge].reshape(-1, 3)).reshape(-1, 3)
    np.maximum.at(highest, face_edge, rise)
    return highest < -FLAT


def leaves(vert: Array, face: Array) -> BoxTree:
    """A tree without levels, for few faces."""
    corner = np.asarray(vert, float)[np.asarray(face)]
    count = len(corner)
    return BoxTree(
        corner.min(axis=1), corner.max(axis=1), np.full((count, 2), -1), np.arange(count), np.arange(count)
    )


_MESHES: WeakKeyDictionary[Any, dict[int, TriangleSurface]] = WeakKeyDictionary()


def mesh_surface(model: ModelLike, mesh: int) -> TriangleSurface:
    """The surface of a mesh asset in the mesh's frame, made when first asked for."""
    surfaces = _MESHES.setdefault(model, {})
    if mesh not in surfaces:
        start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        vert = model.mesh_vert[start : start + count]
        start, count = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        face = model.mesh_face[start : start + count]
        surfaces[mesh] = make_surface(vert, face, mesh_tree(model, mesh) or leaves(vert, face))
    return surfaces[mesh]


def mesh_tree(model: ModelLike, mesh: int) -> BoxTree | None:
    """The bounding volumes of a mesh, if the model has them."""
    start, count = int(model.mesh_bvhadr[mesh]), int(model.mesh_bvhnum[mesh])
    if start < 0 or not count:
        return None
    nodes = slice(start, start + count)
    box = np.array(model.bvh_aabb[nodes])
    return BoxTree(
        box[:, :3] - box[:, 3:],
        box[:, :3] + box[:, 3:],
        np.array(model.bvh_child[nodes]),
        np.array(model.bvh_nodeid[nodes]),
        np.zeros(1, int),
    )


@lru_cache(maxsize=256)
def box_surface(x: float, y: float, z: float) -> TriangleSurface:
    """The surface of a box with these half-sizes: twelve triangles."""
    sign = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)]) * 2.0 - 1.0
    vert = sign * np.array([x, y, z])
    quads = np.array([[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]])
    face = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return make_surface(vert, face, leaves(vert, face))


# ---- searching --------------------------------------------------------------------------------------------


def descend(tree: BoxTree, count: int, keep: Callable[[Array, Array], Array]) -> tuple[Array, Array]:
    """Queries and faces of the leaves that `count` queries reach; `keep(query, node)` says which nodes to open."""
    query = np.repeat(np.arange(count), len(tree.roots))
    node = np.tile(tree.roots, count)
    found: list[tuple[Array, Array]] = []
    while len(node):
        chosen = keep(query, node)
        query, node = query[chosen], node[chosen]
        leaf = tree.face[node] >= 0
        found.append((query[leaf], tree.face[node[leaf]]))
        query, node = np.repeat(query[~leaf], 2), tree.child[node[~leaf]].reshape(-1)
        query, node = query[node >= 0], node[node >= 0]
    if not found:
        return np.zeros(0, int), np.zeros(0, int)
    return np.concatenate([q for q, _ in found]), np.concatenate([f for _, f in found])


def near(surface: TriangleSurface, points: Array, reach: Array) -> NearestPoints:
    """For each point the nearest point of every face that is no farther than `reach` (n)."""
    tree = surface.tree

    def keep(query: Array, node: Array) -> Array:
        return box_distance(points[query], tree.low[node], tree.high[node]) <= reach[query]

    result = on_faces(surface, points, *descend(tree, len(points), keep))
    return result.take(np.flatnonzero(result.distance <= reach[result.query]))


def nearest(surface: TriangleSurface, points: Array) -> NearestPoints:
    """The nearest point of the surface for each point."""
    tree = surface.tree
    bound = np.full(len(points), np.inf)

    def keep(query: Array, node: Array) -> Array:
        """A node's farthest corner bounds the distance of the nearest face, which a node beyond that cannot hold."""
        low, high = tree.low[node], tree.high[node]
        corner = np.maximum(np.abs(points[query] - low), np.abs(points[query] - high))
        np.minimum.at(bound, query, np.sqrt(dot_rows(corner, corner)))
        return box_distance(points[query], low, high) <= bound[query]

    result = on_faces(surface, points, *descend(tree, len(points), keep))
    order = np.lexsort((result.distance, result.query))
    first = np.unique(result.query[order], return_index=True)[1]
    return result.take(order[first])


def meeting(surface: TriangleSurface, low: Array, high: Array) -> tuple[Array, Array]:
    """Given boxes and the faces whose boxes meet them."""
    tree = surface.tree

    def keep(query: Array, node: Array) -> Array:
        apart = (tree.low[node] > high[query]) | (tree.high[node] < low[query])
        return ~np.any(apart, axis=1)

    return descend(tree, len(low), keep)


def box_distance(point: Array, low: Array, high: Array) -> Array:
    """Distance of points from boxes; 0 inside."""
    outside = np.maximum(np.maximum(low - point, point - high), 0.0)
    return np.sqrt(dot_rows(outside, outside))


def on_faces(surface: TriangleSurface, points: Array, query: Array, face: Array) -> NearestPoints:
    """The nearest point of each face for the point paired with it."""
    corner = surface.vert[surface.face[face]]
    weight = nearest_weights(points[query], corner)
    point = np.einsum("ij,ijk->ik", weight, corner)
    offset = points[query] - point
    return NearestPoints(query, face, point, np.sqrt(dot_rows(offset, offset)), weight)


def nearest_weights(point: Array, corner: Array) -> Array:
    """Barycentric coordinates of the nearest points of triangles (n, 3, 3): inside the face if the point projects
    there, else on the nearest edge."""
    best = np.zeros((len(point), 3))
    distance = np.full(len(point), np.inf)
    for first in range(3):
        second = (first + 1) % 3
        start, along = corner[:, first], corner[:, second] - corner[:, first]
        t = np.clip(dot_rows(point - start, along) / np.maximum(dot_rows(along, along), MINVAL), 0.0, 1.0)
        offset = point - start - t[:, None] * along
        square = dot_rows(offset, offset)
        closer = np.flatnonzero(square < distance)
        distance[closer] = square[closer]
        best[closer] = 0.0
        best[closer, first], best[closer, second] = 1.0 - t[closer], t[closer]
    inside = projected_weights(point, corner)
    return np.where(np.all(inside > 0, axis=1)[:, None], inside, best)


def projected_weights(point: Array, corner: Array) -> Array:
    """Barycentric coordinates of points projected on the planes of triangles; NaN where there is no plane."""
    normal = cross_rows(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    square = dot_rows(normal, normal)
    square = np.where(square > MINVAL**2, square, np.nan)
    offset = corner - point[:, None]
    return np.stack(
        [
            dot_rows(cross_rows(offset[:, (i + 1) % 3], offset[:, (i + 2) % 3]), normal) / square
            for i in range(3)
        ],
        axis=1,
    )


# ---- sides ------------------------------------------------------------------------------------------------


def feature_normals(surface: TriangleSurface, found: NearestPoints) -> Array:
    """The outward normal of the face, edge or vertex that each nearest point lies on."""
    rows = np.arange(len(found.face))
    zeros = np.count_nonzero(found.weight == 0, axis=1)
    main = np.argmax(found.weight, axis=1)
    beside = (np.argmin(found.weight, axis=1) + 1) % 3
    at_edge = surface.edge_normal[surface.face_edge[found.face][rows, beside]]
    at_vert = surface.vert_normal[surface.face[found.face][rows, main]]
    at_face = surface.face_normal[found.face]
    return np.where((zeros == 0)[:, None], at_face, np.where((zeros == 1)[:, None], at_edge, at_vert))


def feature_ids(surface: TriangleSurface, found: NearestPoints) -> Array:
    """A number for the feature each nearest point lies on: vertices, then edges, then faces."""
    rows = np.arange(len(found.face))
    zeros = np.count_nonzero(found.weight == 0, axis=1)
    vert = surface.face[found.face][rows, np.argmax(found.weight, axis=1)]
    edge = surface.face_edge[found.face][rows, (np.argmin(found.weight, axis=1) + 1) % 3]
    count = len(surface.vert)
    return np.select([zeros == 2, zeros == 1], [vert, count + edge], count + len(surface.edge) + found.face)


def signed(surface: TriangleSurface, points: Array, found: NearestPoints) -> tuple[Array, Array]:
    """Signed distances of points from their nearest points, negative inside, and outward directions there."""
    normal = feature_normals(surface, found)
    offset = points[found.query] - found.point
    side = np.where(dot_rows(offset, normal) < 0, -1.0, 1.0)
    away = directions(offset) * side[:, None]
    return side * found.distance, np.where((found.distance > MINVAL)[:, None], away, normal)
