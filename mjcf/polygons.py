"""Merging coplanar triangles into polygons: the flat sides of a convex hull (`mjCMesh::MakePolygons`).

Triangles are grouped by their normals. MuJoCo keeps the groups in an ordered set whose comparison calls normals
equal when they are almost parallel. That is not a consistent order, so which group a triangle finds depends on
the search path: the same balanced tree is therefore grown here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .rotation import EPS

_PARALLEL = 0.99999872
"""Cosine above which two normals count as equal: 0.09 degrees."""
_DIFFERENT = 1e-15
"""mjMINVAL: components that differ by less are compared no further."""
Normal = tuple[float, float, float]
Edge = tuple[int, int]


def unit_normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Unit normal of each face; a face without area looks along x (mjuu_makenormal)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.sqrt(np.einsum("ij,ij->i", normal, normal))
    degenerate = length < EPS
    normal[degenerate], length[degenerate] = (1.0, 0.0, 0.0), 1.0
    return normal / length[:, None]


def polygons(vertices: np.ndarray, faces: np.ndarray) -> list[list[int]]:
    """Vertices of each polygon in order around it; groups in descending order of their normals."""
    tree = _NormalTree()
    for normal, face in zip(unit_normals(vertices, faces).tolist(), faces.tolist(), strict=True):
        tree.group(tuple(normal)).add(face)
    return [path for group in tree.ordered() for path in group.paths() if len(path) > 2]


def _before(a: Normal, b: Normal) -> bool:
    """Whether a group with normal a stands before one with normal b: larger components first."""
    ax, ay, az = a
    bx, by, bz = b
    if ax * bx + ay * by + az * bz > _PARALLEL:
        return False
    if abs(ax - bx) > _DIFFERENT:
        return ax > bx
    if abs(ay - by) > _DIFFERENT:
        return ay > by
    if abs(az - bz) > _DIFFERENT:
        return az > bz
    return False


class _Group:
    """Triangles of almost equal normals: the edges of their outline, in connected pieces."""

    def __init__(self, normal: Normal) -> None:
        self.normal = normal
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


class _NormalTree:
    """A red-black tree of groups, grown as the C++ standard library's ordered set grows."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []
        self._left: list[int] = []
        self._right: list[int] = []
        self._up: list[int] = []
        self._red: list[bool] = []
        self._root = -1

    def group(self, normal: Normal) -> _Group:
        """The group this normal belongs to, made if there is none."""
        node, found = self._root, -1
        groups, left, right = self._groups, self._left, self._right
        while node >= 0:
            if _before(groups[node].normal, normal):
                node = right[node]
            else:
                found, node = node, left[node]
        if found >= 0 and not _before(normal, groups[found].normal):
            return groups[found]
        return self._insert(_Group(normal))

    def _insert(self, group: _Group) -> _Group:
        above, node, first = -1, self._root, True
        while node >= 0:
            above = node
            first = _before(group.normal, self._groups[node].normal)
            node = self._left[node] if first else self._right[node]
        new = len(self._groups)
        if above >= 0 and not self._is_new(group.normal, above, first):
            return group  # the search and the insertion disagree: MuJoCo's set drops the group
        self._groups.append(group)
        for links in (self._left, self._right):
            links.append(-1)
        self._up.append(above)
        self._red.append(True)
        if above < 0:
            self._root = new
        elif first:
            self._left[above] = new
        else:
            self._right[above] = new
        self._balance(new)
        return group

    def _is_new(self, normal: Normal, above: int, first: bool) -> bool:
        """Whether no group that stands just before the place of insertion counts as equal."""
        previous = self._previous(above) if first else above
        return previous < 0 or _before(self._groups[previous].normal, normal)

    def _previous(self, node: int) -> int:
        if self._left[node] >= 0:
            node = self._left[node]
            while self._right[node] >= 0:
                node = self._right[node]
            return node
        above = self._up[node]
        while above >= 0 and self._left[above] == node:
            node, above = above, self._up[above]
        return above

    def _balance(self, node: int) -> None:
        """Restore the colours after an insertion, by recolouring and rotating on the way up."""
        up, red, left, right = self._up, self._red, self._left, self._right
        while node != self._root and red[up[node]]:
            parent = up[node]
            grand = up[parent]
            on_left = left[grand] == parent
            uncle = right[grand] if on_left else left[grand]
            if uncle >= 0 and red[uncle]:
                red[parent] = red[uncle] = False
                red[grand] = True
                node = grand
                continue
            if node == (right[parent] if on_left else left[parent]):
                node = parent
                self._rotate(node, to_left=on_left)
                parent = up[node]
            red[parent], red[grand] = False, True
            self._rotate(grand, to_left=not on_left)
        red[self._root] = False

    def _rotate(self, node: int, *, to_left: bool) -> None:
        down, other = (self._right, self._left) if to_left else (self._left, self._right)
        child, above = down[node], self._up[node]
        down[node] = other[child]
        if other[child] >= 0:
            self._up[other[child]] = node
        self._up[child] = above
        if above < 0:
            self._root = child
        elif self._left[above] == node:
            self._left[above] = child
        else:
            self._right[above] = child
        other[child] = node
        self._up[node] = child

    def ordered(self) -> Iterator[_Group]:
        """All groups in the tree's order."""
        stack: list[int] = []
        node = self._root
        while stack or node >= 0:
            while node >= 0:
                stack.append(node)
                node = self._left[node]
            node = stack.pop()
            yield self._groups[node]
            node = self._right[node]
