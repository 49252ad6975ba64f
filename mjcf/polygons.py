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
_UNIT = 2.0
"""No component of a unit normal is larger."""
_DIFFERENT = 1e-15
"""mjMINVAL: components that differ by less are compared no further."""
Normal = tuple[float, float, float]
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


def polygons(vertices: np.ndarray, faces: np.ndarray) -> list[list[int]]:
    """Vertices of each polygon in order around it; groups in descending order of their normals."""
    tree = _NormalTree()
    for (x, y, z), face in zip(_normals(vertices, faces).tolist(), faces.tolist(), strict=True):
        tree.add(x, y, z, face)
    return [path for group in tree.ordered() for path in outlines(group) if len(path) > 2]


def outlines(faces: list[list[int]]) -> Iterator[list[int]]:
    """The outlines of triangles of one plane; almost always it is one triangle."""
    if len(faces) == 1:
        yield faces[0]
        return
    outline = _Outline()
    for face in faces:
        outline.add(face)
    yield from outline.paths()


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


class _NormalTree:
    """A red-black tree of groups of faces, grown as the C++ standard library's ordered set grows."""

    def __init__(self) -> None:
        self._faces: list[list[list[int]]] = []
        self._x: list[float] = []
        self._y: list[float] = []
        self._z: list[float] = []
        """Normal of each group: that of its first face."""
        self._left: list[int] = []
        self._right: list[int] = []
        self._up: list[int] = []
        self._red: list[bool] = []
        self._root = -1

    def add(self, x: float, y: float, z: float, face: list[int]) -> None:
        """Put a face with this normal into its group, made if there is none.

        Unless a group on the way has an almost equal normal, the way leads to where a new group belongs.
        """
        if x > _UNIT:  # a face without area
            self._add_near((x, y, z), face)
            return
        node, above, before = self._root, -1, False
        all_x, all_y, all_z, left, right = self._x, self._y, self._z, self._left, self._right
        while node >= 0:
            nx, ny, nz = all_x[node], all_y[node], all_z[node]
            if nx * x + ny * y + nz * z > _PARALLEL:
                self._add_near((x, y, z), face)
                return
            difference = nx - x
            if -_DIFFERENT <= difference <= _DIFFERENT:
                difference = ny - y
                if -_DIFFERENT <= difference <= _DIFFERENT:
                    difference = nz - z
            above, before = node, difference < 0
            node = left[node] if before else right[node]
        self._insert((x, y, z), face, above, before)

    def _add_near(self, normal: Normal, face: list[int]) -> None:
        """The same in two steps, for a normal that is almost equal to another: look up, then insert."""
        node, found = self._root, -1
        while node >= 0:
            if _before(self._normal(node), normal):
                node = self._right[node]
            else:
                found, node = node, self._left[node]
        if found >= 0 and not _before(normal, self._normal(found)):
            self._faces[found].append(face)
            return
        above, node, first = -1, self._root, True
        while node >= 0:
            above = node
            first = _before(normal, self._normal(node))
            node = self._left[node] if first else self._right[node]
        if above < 0 or self._is_new(normal, above, first):
            self._insert(normal, face, above, first)
        # otherwise the two steps disagree, and MuJoCo's set drops the face

    def _normal(self, node: int) -> Normal:
        return self._x[node], self._y[node], self._z[node]

    def _insert(self, normal: Normal, face: list[int], above: int, first: bool) -> None:
        new = len(self._faces)
        self._faces.append([face])
        for column, value in zip((self._x, self._y, self._z), normal, strict=True):
            column.append(value)
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

    def _is_new(self, normal: Normal, above: int, first: bool) -> bool:
        """Whether no group that stands just before the place of insertion counts as equal."""
        previous = self._previous(above) if first else above
        return previous < 0 or _before(self._normal(previous), normal)

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

    def ordered(self) -> Iterator[list[list[int]]]:
        """The faces of all groups in the tree's order."""
        stack: list[int] = []
        node = self._root
        while stack or node >= 0:
            while node >= 0:
                stack.append(node)
                node = self._left[node]
            node = stack.pop()
            yield self._faces[node]
            node = self._right[node]
