"""The convex hull of a mesh and the graph that collision detection walks on (`mjCMesh::MakeGraph`).

Qhull gives the facets; the graph lists, for each hull vertex, the vertices it shares a facet with. MuJoCo writes
all in the order of Qhull's internal lists, which `qhull_lists` reads from SciPy's memory. Where that is not
possible the order is rebuilt from what is known of it: Qhull moves a vertex to the end of the list when it joins a
new facet, and a facet's first vertex is the point that was being added; facets of one plane are cut into triangles
at the end. A rebuilt graph has the same edges, but for meshes with flat sides often in another order.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.mjcf.geometry.qhull_lists import (
    QhullLists,
    UnknownListsError,
    facets_in_order,
    read_lists,
    turned,
)
from dovetail.warned import warn

Ints = np.ndarray
Reals = np.ndarray

_SIMPLEX = 4
"""Vertices of Qhull's first simplex, which its limit of added points does not count."""


class HullError(ValueError):
    """The points have no convex hull: all lie in one plane, or are too few."""


class HullOrderWarning(UserWarning):
    """Vertices of hulls are not in MuJoCo's order: contacts on flat sides of meshes may be at other corners."""


@attrs.frozen(eq=False)
class Hull:
    """A convex hull by the vertices of its mesh."""

    raw: Ints
    """Faces with their vertices in Qhull's order."""
    lists: QhullLists
    rebuilt: bool = False
    """Whether the order of the lists is a guess."""

    @property
    def vertices(self) -> Ints:
        return self.lists.vertices.astype(np.int32)

    @property
    def faces(self) -> Ints:
        """Anticlockwise from outside."""
        return turned(self.raw, self.lists.turned)

    def graph(self) -> Ints:
        """mesh_graph of one mesh: counts, edge addresses, vertex ids, neighbours by hull vertex, faces."""
        nvert, nface = len(self.lists.vertices), len(self.raw)
        owner, other = self._neighbours()
        if len(owner) != 3 * nface:
            raise HullError("has a convex hull that is not closed: some vertices nearly coincide")
        counts = np.bincount(owner, minlength=nvert)
        edges = np.insert(other, np.cumsum(counts), -1)
        addresses = np.cumsum(counts + 1) - (counts + 1)
        parts = [[nvert, nface], addresses, self.vertices, edges, self.faces.reshape(-1)]
        return np.concatenate([np.asarray(part, np.int32) for part in parts])

    def _neighbours(self) -> tuple[Ints, Ints]:
        """Hull vertices and the others they share a face with, both numbered within the hull; each pair once."""
        local = np.zeros(int(self.lists.vertices.max()) + 1, np.int64)
        local[self.lists.vertices] = np.arange(len(self.lists.vertices))
        other = local[self.raw[self.lists.around]].reshape(-1)
        owner = np.repeat(np.arange(len(self.lists.vertices)), 3 * np.diff(self.lists.start))
        owner, other = owner[owner != other], other[owner != other]
        first = np.sort(np.unique(owner * len(local) + other, return_index=True)[1])
        return owner[first], other[first]


def convex_hull(points: Reals, maxhullvert: int = -1) -> Hull:
    """The convex hull of points (n, 3), with at most `maxhullvert` vertices if that is not negative."""
    from scipy.spatial import ConvexHull, QhullError

    options = "Qt" if maxhullvert < 0 else f"Qt TA{maxhullvert - _SIMPLEX}"
    try:
        result = ConvexHull(points, qhull_options=options, incremental=True)
    except (QhullError, ValueError) as problem:
        raise HullError("has no convex hull: its points are too few, or lie in one plane") from problem
    try:
        return _hull(points, result)
    finally:
        result.close()


def _hull(points: Reals, result: Any) -> Hull:
    raw = result.simplices.astype(np.int32)
    try:
        return Hull(raw, read_lists(result))
    except UnknownListsError as problem:
        warn(
            f"Qhull's lists cannot be read from SciPy's memory ({problem}): vertices of hulls are in an order that "
            "may not be MuJoCo's, which moves contacts on flat sides of meshes; the page on collision of the "
            "documentation names the versions of SciPy that are known",
            HullOrderWarning,
            stacklevel=2,
            lasting=False,  # it depends on what the system lets a process read
        )
        return Hull(raw, _rebuilt(points, raw, result), rebuilt=True)


def _rebuilt(points: Reals, raw: Ints, result: Any) -> QhullLists:
    vertices = _list_order(raw, result.equations)
    counts, around = facets_in_order(raw, vertices)
    return QhullLists(
        vertices, np.concatenate([[0], np.cumsum(counts)]), around, _inward(points, raw, result)
    )


def _inward(points: Reals, raw: Ints, result: Any) -> Ints:
    """Faces that look inward."""
    faces = _outward(points, raw, result)
    return np.asarray(faces[:, 0] != raw[:, 0])


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
        return _simplex_order(raw)
    rounds = _rounds(raw, equations)
    latest: dict[int, tuple[int, int]] = {}
    for position, (number, face) in enumerate(zip(rounds, raw.tolist(), strict=True)):
        for corner, vertex in enumerate(face):
            if latest.get(vertex, (-1, 0))[0] != number:
                latest[vertex] = (number, 3 * position + corner)
    return np.array(sorted(latest, key=latest.__getitem__), np.int32)


def _simplex_order(raw: Ints) -> Ints:
    """The first simplex's vertices in the order of Qhull's list, which is the order within each of its faces."""
    vertices, place = np.unique(raw, return_inverse=True)
    return vertices[np.argsort(np.bincount(place.reshape(-1), np.tile([0, 1, 2], len(raw))))]


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
