"""The convex hull of a mesh and the graph that collision detection walks on (`mjCMesh::MakeGraph`).

Qhull gives the facets; the graph lists, for each hull vertex, the vertices it shares a facet with. MuJoCo writes
vertices in the order of Qhull's internal list, which is not among the results: it is rebuilt here from what is
known of it. Qhull moves a vertex to the end of the list when it joins a new facet, and a facet's first vertex is
the point that was being added; facets of one plane are cut into triangles at the end.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

Ints = np.ndarray
Reals = np.ndarray

_SIMPLEX = 4
"""Vertices of Qhull's first simplex, which its limit of added points does not count."""


class HullError(ValueError):
    """The points have no convex hull: all lie in one plane, or are too few."""


@attrs.frozen(eq=False)
class Hull:
    """A convex hull by the vertices of its mesh."""

    faces: Ints
    """Anticlockwise from outside."""
    vertices: Ints
    raw: Ints
    """The faces with their vertices in Qhull's order."""

    def graph(self) -> Ints:
        """mesh_graph of one mesh: counts, edge addresses, vertex ids, neighbours by hull vertex, faces."""
        nvert, nface = len(self.vertices), len(self.faces)
        neighbours = self._neighbours()
        addresses = np.cumsum([0] + [len(row) + 1 for row in neighbours[:-1]])
        edges = [entry for row in neighbours for entry in (*row, -1)]
        if len(edges) != nvert + 3 * nface:
            raise HullError("has a convex hull that is not closed: some vertices nearly coincide")
        parts = [[nvert, nface], addresses, self.vertices, edges, self.faces.reshape(-1)]
        return np.concatenate([np.asarray(part, np.int32) for part in parts])

    def _neighbours(self) -> list[list[int]]:
        """For each hull vertex, the others it shares a face with, numbered within the hull."""
        local = np.full(int(self.vertices.max()) + 1, -1, np.int32)
        local[self.vertices] = np.arange(len(self.vertices), dtype=np.int32)
        neighbours: list[list[int]] = [[] for _ in self.vertices]
        for face in local[self.raw].tolist():
            for vertex in face:
                seen = neighbours[vertex]
                seen.extend(other for other in face if other != vertex and other not in seen)
        return neighbours


def convex_hull(points: Reals, maxhullvert: int = -1) -> Hull:
    """The convex hull of points (n, 3), with at most `maxhullvert` vertices if that is not negative."""
    from scipy.spatial import ConvexHull, QhullError

    options = "Qt" if maxhullvert < 0 else f"Qt TA{maxhullvert - _SIMPLEX}"
    try:
        result = ConvexHull(points, qhull_options=options)
    except (QhullError, ValueError) as problem:
        raise HullError("has no convex hull: its points are too few, or lie in one plane") from problem
    raw = result.simplices.astype(np.int32)
    return Hull(_outward(points, raw, result), _list_order(raw, result.equations), raw)


def _outward(points: Reals, raw: Ints, result: Any) -> Ints:
    """Faces turned so that they look outward, by exchanging their first two vertices."""
    a, b, c = (points[raw[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    turned = np.einsum("ij,ij->i", normal, result.equations[:, :3])
    scale = np.abs(normal).max() if len(normal) else 0.0
    inward = turned < 0
    unsure = np.abs(turned) <= 1e-12 * scale
    faces = raw.copy()
    faces[inward] = faces[inward][:, [1, 0, 2]]
    if unsure.any() and not unsure.all():
        _orient_like_neighbours(faces, unsure, result.neighbors)
    return faces


def _orient_like_neighbours(faces: Ints, unsure: Reals, neighbours: Ints) -> None:
    """Orient faces too thin to have a normal: an edge runs the other way in the neighbouring face."""
    pending = list(np.flatnonzero(unsure))
    known = ~unsure
    while pending:
        settled = []
        for face in pending:
            guide = next((n for n in neighbours[face] if known[n]), None)
            if guide is None:
                continue
            if _directed_edges(faces[face]) & _directed_edges(faces[guide]):
                faces[face] = faces[face][[1, 0, 2]]
            settled.append(face)
        if not settled:
            return
        known[settled] = True
        pending = [face for face in pending if not known[face]]


def _directed_edges(face: Ints) -> set[tuple[int, int]]:
    a, b, c = face.tolist()
    return {(a, b), (b, c), (c, a)}


def _list_order(raw: Ints, equations: Reals) -> Ints:
    """Hull vertices in the order of Qhull's list, see the module's docstring."""
    if len(raw) == _SIMPLEX:  # nothing was added to the first simplex
        return np.array([raw[1, 0], *raw[0]], np.int32)
    rounds = _rounds(raw, equations)
    latest: dict[int, tuple[int, int]] = {}
    for position, (number, face) in enumerate(zip(rounds, raw.tolist(), strict=True)):
        for corner, vertex in enumerate(face):
            if latest.get(vertex, (-1, 0))[0] != number:
                latest[vertex] = (number, 3 * position + corner)
    return np.array(sorted(latest, key=latest.__getitem__), np.int32)


def _rounds(raw: Ints, equations: Reals) -> list[int]:
    """In which round each face was made: one per added point, and a last one for faces cut into triangles."""
    planes: dict[bytes, int] = {}
    keys = [row.tobytes() for row in np.ascontiguousarray(equations)]
    for key in keys:
        planes[key] = planes.get(key, 0) + 1
    rounds, number, before = [], 0, None
    for key, face in zip(keys, raw.tolist(), strict=True):
        maker = -1 if planes[key] > 1 else face[0]
        number += maker != before
        before = maker
        rounds.append(number)
    return rounds
