"""Merging coplanar triangles into polygons: the flat sides of a convex hull (`mjCMesh::MakePolygons`).

Triangles are grouped by their normals (`normal_tree`); of a group of several, each connected piece is a polygon.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail.mjcf.geometry.normal_tree import NormalTree
from dovetail.mjcf.geometry.sides import MeshSides
from dovetail.plugins.shared.constants import EPS

_UNIT = 2.0
"""No component of a unit normal is larger."""
_NEXT = [1, 2, 0]
_AROUND = np.array([[1, 2, 0, 3], [0, 1, 3, 2], [0, 1, 2, 3]])
"""Where corners 0 to 2 of a triangle, and the one that another adds across an edge, come around both: by the edge."""
Edge = tuple[int, int]


def unit_normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Unit normal of each face; a face without area looks along x."""
    normals = _normals(vertices, faces)
    normals[~(normals[:, 0] <= _UNIT)] = (1.0, 0.0, 0.0)
    return normals


def _normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Normals by which faces are grouped: that of a face without area is infinite (mjuu_makenormal)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.sqrt(normal[:, 0] ** 2 + normal[:, 1] ** 2 + normal[:, 2] ** 2)
    normal[length < EPS] = (1.0, 0.0, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return normal / length[:, None]


def polygons(vertices: np.ndarray, faces: np.ndarray) -> MeshSides:
    """Vertices of each polygon in order around it; groups in descending order of their normals."""
    first, larger = NormalTree(_normals(vertices, faces)).groups()
    single = np.ones(len(first), bool)
    single[[*larger]] = False
    pairs = {place: group for place, group in larger.items() if len(group) == 2}
    pair = faces[np.array([*pairs.values()], np.int64).reshape(-1, 2)]
    at = np.fromiter(pairs, np.int64, len(pairs))
    quads, proper = _quads(pair)
    rest = dict(zip(at[~proper].tolist(), pair[~proper].tolist(), strict=True))
    rest |= {place: faces[group].tolist() for place, group in larger.items() if len(group) > 2}
    triangles = faces[first[single]]
    return _in_order((triangles, np.flatnonzero(single)), (quads[proper], at[proper]), _merged(rest))


def _quads(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outlines (n, 4) of pairs of triangles (n, 2, 3), and which pairs share one edge and nothing else."""
    a, b = pairs[:, 0], pairs[:, 1]
    shared = (a[:, :, None] == b[:, None, _NEXT]) & (a[:, _NEXT, None] == b[:, None, :])
    edge, other = shared.any(axis=2).argmax(axis=1), shared.any(axis=1).argmax(axis=1)
    four = np.column_stack([a, b[np.arange(len(b)), (other + 2) % 3]])
    distinct = (np.diff(np.sort(four, axis=1), axis=1) > 0).all(axis=1)
    return np.take_along_axis(four, _AROUND[edge], axis=1), distinct & (shared.sum(axis=(1, 2)) == 1)


def _merged(groups: dict[int, list[list[int]]]) -> tuple[MeshSides, np.ndarray]:
    """Outlines of groups of faces, and the places of their groups."""
    paths = [(place, path) for place, group in groups.items() for path in _outlines(group)]
    places = np.fromiter((place for place, _ in paths), np.int64, len(paths))
    return MeshSides.of([path for _, path in paths]), places


def _in_order(
    triangles: tuple[np.ndarray, np.ndarray],
    quads: tuple[np.ndarray, np.ndarray],
    others: tuple[MeshSides, np.ndarray],
) -> MeshSides:
    """All polygons by the places of their groups."""
    place = np.concatenate([triangles[1], quads[1], others[1]])
    sizes = np.concatenate([np.full(len(triangles[1]), 3), np.full(len(quads[1]), 4), others[0].sizes])
    corners = np.concatenate([triangles[0].reshape(-1), quads[0].reshape(-1), others[0].corners])
    by_corner = np.argsort(np.repeat(place, sizes), kind="stable")
    return MeshSides(corners.astype(np.int32)[by_corner], sizes[np.argsort(place, kind="stable")])


def _outlines(faces: list[list[int]]) -> Iterator[list[int]]:
    """The outlines of triangles of one plane."""
    outline = _Outline()
    for face in faces:
        outline.add(face)
    return (path for path in outline.paths() if len(path) > 2)


class _Outline:
    """The edges around triangles of almost equal normals, in connected pieces."""

    def __init__(self) -> None:
        self._edges: dict[int, tuple[Edge, int]] = {}
        """Outline in the order in which edges came: edge and piece."""
        self._where: dict[Edge, list[int]] = {}
        self._parent: list[int] = []
        """Pieces that were joined: each knows the one it became part of."""
        self._count = 0

    def add(self, face: list[int]) -> None:
        """Attach a triangle: edges it shares with the outline vanish, its others join the outline."""
        v1, v2, v3 = face
        edges = ((v1, v2), (v2, v3), (v3, v1))
        piece, new = -1, []
        for edge in edges:
            shared = self._pop((edge[1], edge[0]))
            if shared < 0:
                new.append(edge)
            else:
                piece = shared if piece < 0 else self._join(piece, shared)
        if piece < 0:
            piece = len(self._parent)
            self._parent.append(piece)
        for edge in new:
            self._edges[self._count] = (edge, piece)
            self._where.setdefault(edge, []).append(self._count)
            self._count += 1

    def _pop(self, edge: Edge) -> int:
        """Remove the first such edge of the outline; returns its piece, or −1."""
        places = self._where.get(edge)
        if not places:
            return -1
        return self._root(self._edges.pop(places.pop(0))[1])

    def _root(self, piece: int) -> int:
        while self._parent[piece] != piece:
            self._parent[piece] = piece = self._parent[self._parent[piece]]
        return piece

    def _join(self, a: int, b: int) -> int:
        low, high = sorted((a, b))
        self._parent[high] = low
        return low

    def paths(self) -> Iterator[list[int]]:
        """The outline of each piece as a closed path; pieces whose outline does not close are left out."""
        outline = [(edge, self._root(piece)) for edge, piece in self._edges.values()]
        if len(outline) == 3:
            yield [edge[0] for edge, _ in outline]
            return
        following: dict[tuple[int, int], int] = {}
        for edge, piece in outline[1:]:
            following.setdefault((piece, edge[0]), edge[1])
        starts: dict[int, Edge] = {}
        for edge, piece in outline:
            starts.setdefault(piece, edge)
        for piece in sorted(starts):
            path = list(starts[piece])
            for _ in outline:
                after = following.get((piece, path[-1]))
                if after is None:
                    break
                if after == path[0]:
                    yield path
                    break
                path.append(after)
