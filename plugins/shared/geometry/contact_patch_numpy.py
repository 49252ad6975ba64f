"""Several contact points where faces of two polyhedra, or an edge and a face, lie on each other.

The penetration depth gives one point and the face of the Minkowski difference it is on. Its vertices say which
corners of the two polyhedra meet there: three corners name a face, two an edge, one a corner. If a face of the one
is parallel to a face of the other (within FACE_TOLERANCE), or else to an edge of it (EDGE_TOLERANCE), the one is
clipped against the sides of the other and the corners of what remains are the contact points, all with the depth
of the first. Boxes and meshes without margin only. World frame. See multicontact behind mjc_ccd in MuJoCo 3.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.support_numpy import BOX, ConvexShape
from dovetail.plugins.shared.vectors_numpy import (
    Vector,
    add,
    along,
    cross,
    dot,
    norm,
    same,
    scale,
    sub,
    to_frame,
    to_world,
    unit,
)

if TYPE_CHECKING:
    from dovetail.contracts.types import Model
    from dovetail.plugins.shared.geometry.epa_numpy import Penetration

FACE_TOLERANCE = 0.99999872
"""Cosine of the angle up to which faces count as parallel, 1.6 mrad (mjFACE_TOL, MuJoCo 3.4)."""

EDGE_TOLERANCE = 0.00159999931
"""Sine of the same angle, between an edge and a face (mjEDGE_TOL, MuJoCo 3.4)."""

MAX_POLYGON = 150
"""Corners of a face, or faces around a corner, that are looked at (mjMAX_POLYVERT, MuJoCo 3.4)."""

MAX_CONTACTS = 50
"""Contacts of one pair (mjMAXCONPAIR, MuJoCo 3.4)."""

Normals = list[tuple[int, Vector]]
"""Numbers and outward unit normals of faces."""
Edges = list[tuple[Vector, Vector]]
"""Unit directions of edges and where they end."""


class Polyhedron(Protocol):
    """What clipping needs to know of a box or mesh; corners are numbers, as support functions return them."""

    def faces_with(self, corners: list[int], outward: Vector) -> Normals:
        """Faces that contain all the corners; `outward` is the contact normal, away from the polyhedron."""

    def edges_from(self, corner: int, start: Vector) -> Edges:
        """Edges that begin at a corner."""

    def polygon(self, face: int) -> list[Vector]:
        """Corners of a face, clockwise from outside."""


# Corners of the faces +x, -x, +y, -y, +z, -z of a box; a corner's bits say which coordinates are positive.
_BOX_FACES = ((7, 3, 1, 5), (2, 6, 4, 0), (2, 3, 7, 6), (4, 5, 1, 0), (6, 7, 5, 4), (3, 2, 0, 1))
_BOX_NORMALS: tuple[Vector, ...] = (
    (1.0, 0.0, 0.0),
    (-1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, -1.0, 0.0),
    (0.0, 0.0, 1.0),
    (0.0, 0.0, -1.0),
)


class BoxFaces:
    """Faces and edges of a box."""

    def __init__(self, shape: ConvexShape, size: Sequence[float]) -> None:
        self.shape = shape
        self.size = size

    def corner(self, number: int) -> Vector:
        """A corner in world coordinates."""
        a, b, c = self.size
        local = (a if number & 1 else -a, b if number & 2 else -b, c if number & 4 else -c)
        return add(to_world(self.shape.matrix, local), self.shape.position)

    def faces_with(self, corners: list[int], outward: Vector) -> Normals:
        """The faces the corners share; for two or three that share no edge or face, the face the normal names."""
        shared = [
            2 * axis + (0 if corners[0] >> axis & 1 else 1)
            for axis in range(3)
            if len({corner >> axis & 1 for corner in corners}) == 1
        ]
        if len(shared) != 4 - len(corners):
            local = unit(to_frame(self.shape.matrix, outward))
            shared = [face for face in range(6) if dot(local, _BOX_NORMALS[face]) > FACE_TOLERANCE][:1]
        return [(face, to_world(self.shape.matrix, _BOX_NORMALS[face])) for face in shared]

    def edges_from(self, corner: int, start: Vector) -> Edges:
        """Along x, y and z."""
        ends = [self.corner(corner ^ bit) for bit in (1, 2, 4)]
        return [(unit(sub(end, start)), end) for end in ends]

    def polygon(self, face: int) -> list[Vector]:
        """Four corners."""
        return [self.corner(number) for number in _BOX_FACES[face]]


class MeshFaces:
    """Faces and edges of a mesh's hull, coplanar triangles joined."""

    def __init__(self, shape: ConvexShape, model: Model, mesh: int) -> None:
        self.shape = shape
        self.model = model
        self.first_polygon = int(model.mesh_polyadr[mesh])
        self.first_vertex = int(model.mesh_vertadr[mesh])

    def corner(self, number: int) -> Vector:
        """A vertex in world coordinates."""
        x, y, z = self.model.mesh_vert[self.first_vertex + number].tolist()
        return add(to_world(self.shape.matrix, (x, y, z)), self.shape.position)

    def around(self, corner: int) -> list[int]:
        """Polygons around a vertex."""
        start = int(self.model.mesh_polymapadr[self.first_vertex + corner])
        count = int(self.model.mesh_polymapnum[self.first_vertex + corner])
        return self.model.mesh_polymap[start : start + count].tolist()

    def vertices(self, face: int) -> list[int]:
        """Vertices of a polygon, anticlockwise from outside."""
        start = int(self.model.mesh_polyvertadr[self.first_polygon + face])
        count = int(self.model.mesh_polyvertnum[self.first_polygon + face])
        return self.model.mesh_polyvert[start : start + count].tolist()

    def faces_with(self, corners: list[int], outward: Vector) -> Normals:
        """The polygons all corners have: any number for one, up to two for two, one for three."""
        faces = self.around(corners[0])[:MAX_POLYGON]
        if len(corners) > 1:
            faces = [face for face in self.around(corners[0]) if face in self.around(corners[1])][:2]
        if len(corners) > 2:
            faces = [face for face in faces if face in self.around(corners[2])][:1]
        normals = self.model.mesh_polynormal
        return [
            (face, to_world(self.shape.matrix, normals[self.first_polygon + face].tolist())) for face in faces
        ]

    def edges_from(self, corner: int, start: Vector) -> Edges:
        """To the vertex before the corner in each polygon around it."""
        edges = []
        for face in self.around(corner)[:MAX_POLYGON]:
            vertices = self.vertices(face)
            end = self.corner(vertices[vertices.index(corner) - 1])
            edges.append((unit(sub(end, start)), end))
        return edges

    def polygon(self, face: int) -> list[Vector]:
        """The vertices, turned to run clockwise."""
        return [self.corner(number) for number in reversed(self.vertices(face)[:MAX_POLYGON])]


def polyhedron(model: Model, geom: int, shape: ConvexShape) -> Polyhedron:
    """Faces of a box or mesh geom posed as `shape`."""
    if shape.kind == BOX:
        return BoxFaces(shape, model.geom_size[geom].tolist())
    return MeshFaces(shape, model, int(model.geom_dataid[geom]))


# ---- clipping ---------------------------------------------------------------------------------------------


def _clip_by_side(subject: list[Vector], corner: Vector, inward: Vector) -> list[Vector]:
    """What of a polygon, or a segment run there and back, is on the inner side of a plane through `corner`."""
    level = dot(inward, corner)
    inside = [dot(sub(p, corner), inward) > -MINVAL for p in subject]
    kept = []
    for i, p in enumerate(subject):
        j = (i + 1) % len(subject)
        q = subject[j]
        if inside[i] != inside[j]:
            way = sub(q, p)
            rate = dot(inward, way)
            t = (level - dot(inward, p)) / rate if rate != 0.0 else -1.0
            if 0.0 <= t <= 1.0:
                kept.append(along(p, t, way))
        if inside[j]:
            kept.append(q)
    return kept


def clip(subject: list[Vector], face: list[Vector], normal: Vector) -> list[Vector]:
    """The part of a polygon or segment above or below a face (Sutherland-Hodgman)."""
    for i, corner in enumerate(face):
        side = sub(face[(i + 1) % len(face)], corner)
        # The normal as seen from the corner, with the rounding of a point beside it.
        up = sub(add(corner, normal), corner)
        subject = _clip_by_side(subject, corner, cross(side, up))
    return subject


def _area(a: Vector, b: Vector, c: Vector, d: Vector) -> float:
    """Area of a plane quadrilateral."""
    return 0.5 * norm(add(cross(sub(d, a), sub(b, d)), cross(sub(c, b), sub(a, c))))


def largest_quadrilateral(polygon: list[Vector]) -> list[Vector]:
    """Four corners of a convex polygon that span a large area, by letting the corners run around it in turn."""
    count = len(polygon)
    corners = [0, 1, 2, 3]
    best = list(corners)
    most = _area(*(polygon[i] for i in corners))

    def advance(which: int) -> bool:
        """Move a corner on if that enlarges the area."""
        nonlocal most, best
        moved = list(corners)
        moved[which] = (moved[which] + 1) % count
        area = _area(*(polygon[i] for i in moved))
        if area <= most:
            return False
        most, best = area, moved
        corners[which] = moved[which]
        return True

    for start in range(count):
        corners[0] = start
        while advance(3):
            while advance(2):
                pass
            while advance(1):
                pass
        # A corner caught up with by the one behind it steps aside, and pushes the next.
        for which in (1, 2, 3):
            if corners[which] != corners[which - 1]:
                break
            corners[which] = (corners[which] + 1) % count
    return [polygon[i] for i in best]


def _distinct(points: list[Vector]) -> list[Vector]:
    """Points without repetitions."""
    kept: list[Vector] = []
    for point in points:
        if not any(same(point, other) for other in kept):
            kept.append(point)
    return kept


def thin_out(polygon: list[Vector], wanted: int) -> list[Vector]:
    """No more contact points than may be reported."""
    if wanted < 5 and len(polygon) > 4:
        return largest_quadrilateral(polygon)
    if len(polygon) > MAX_CONTACTS:
        return polygon[:MAX_CONTACTS]
    return _distinct(polygon)


# ---- which features meet ----------------------------------------------------------------------------------


def _corners(numbers: Iterable[int], points: Iterable[Vector]) -> dict[int, Vector]:
    """The distinct corners among three, in order."""
    found: dict[int, Vector] = {}
    for number, point in zip(numbers, points, strict=True):
        found.setdefault(number, point)
    return found


def _edges(shape: Polyhedron, corners: dict[int, Vector]) -> Edges:
    """The edge two corners name, or all edges at one."""
    numbers, points = list(corners), list(corners.values())
    if len(corners) == 2:
        return [(unit(sub(points[1], points[0])), points[1])]
    return shape.edges_from(numbers[0], points[0])


def _facing(first: Normals, second: Normals) -> tuple[int, int] | None:
    """Positions of two faces that look at each other."""
    for i, (_, n) in enumerate(first):
        for j, (_, m) in enumerate(second):
            if dot(n, m) < -FACE_TOLERANCE:
                return i, j
    return None


def _lying(edges: Edges, faces: Normals) -> tuple[int, int] | None:
    """Positions of an edge and a face it is parallel to."""
    for j, (_, normal) in enumerate(faces):
        for i, (direction, _) in enumerate(edges):
            if abs(dot(direction, normal)) < EDGE_TOLERANCE:
                return i, j
    return None


def contact_patch(
    found: Penetration, first: Polyhedron, second: Polyhedron, wanted: int
) -> list[tuple[Vector, Vector]]:
    """Witness points (on the first, on the second) of all contacts; the one given if no features match."""
    single = [(found.first, found.second)]
    corners1 = _corners([v.first_id for v in found.face], [v.first for v in found.face])
    corners2 = _corners([v.second_id for v in found.face], [v.second for v in found.face])
    way = sub(found.second, found.first)
    depth = norm(way)
    normals1 = first.faces_with(list(corners1), sub(found.first, found.second))
    normals2 = second.faces_with(list(corners2), way)

    faces = _facing(normals1, normals2)
    if faces is not None:
        (face1, normal1), (face2, normal2) = normals1[faces[0]], normals2[faces[1]]
        base, normal, subject = first.polygon(face1), normal1, second.polygon(face2)
        shift = scale(normal2, depth)
    elif len(corners1) < 3 and len(corners1) <= len(corners2):
        edges = _edges(first, corners1)
        match = _lying(edges, normals2)
        if match is None:
            return single
        face, normal = normals2[match[1]]
        base, subject = second.polygon(face), [found.face[0].first, edges[match[0]][1]]
        shift = scale(normal, depth)
    elif len(corners2) < 3:
        edges = _edges(second, corners2)
        match = _lying(edges, normals1)
        if match is None:
            return single
        face, normal = normals1[match[1]]
        base, subject = first.polygon(face), [found.face[0].second, edges[match[0]][1]]
        shift = scale(normal, -depth)
    else:
        return single
    patch = clip(subject, base, normal) if len(base) > 2 else []
    points = thin_out(patch, wanted)
    return [(sub(point, shift), point) for point in points] if points else single
