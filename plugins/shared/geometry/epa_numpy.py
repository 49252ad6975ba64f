"""Penetration depth of two overlapping convex shapes by the expanding polytope algorithm.

The penetration depth is the distance from the origin to the boundary of the Minkowski difference, which holds the
origin. A polytope inside the difference, with the origin inside it, starts as a tetrahedron or a bipyramid built
around the simplex of the distance iteration. Each round takes the face nearest to the origin (a lower bound of the
depth), looks for the support point beyond it (an upper bound) and, unless the bounds meet, replaces all faces this
point can see by faces from the point to the horizon.

Faces are ordered (v1, v2, v3) with neighbours across v1v2, v2v3 and v3v1. World frame. See epa and polytope2 to
polytope4 behind mjc_ccd in MuJoCo 3.4; which face comes first among equally near ones decides which of several
equally right contact points is reported, so the bookkeeping keeps MuJoCo's order.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.gjk_numpy import Vertex, minkowski_vertex, plane_foot, triangle_areas
from dovetail.plugins.shared.geometry.support_numpy import ConvexShape
from dovetail.plugins.shared.vectors_numpy import (
    ORIGIN,
    Matrix,
    Vector,
    combine,
    cross,
    divide,
    dot,
    norm,
    scale,
    sub,
    to_world,
    triple,
)

MIN_ROOM = 1020
"""Faces a polytope may have at least, counting those replaced; more with more iterations (MuJoCo 3.4)."""

SIN_120 = 0.86602540378
"""To the digits MuJoCo 3.4 has: about a symmetric shape the last ones decide which way a tie goes."""

CLOSED = -1
"""Place of a face that is part of the polytope but cannot hold the nearest point."""
GONE = -2
"""Place of a face that was replaced."""


class Face:
    """A triangle of the polytope."""

    __slots__ = ("corners", "foot", "neighbours", "place_in_open", "square")

    def __init__(self, corners: tuple[int, int, int], neighbours: list[int], foot: Vector) -> None:
        self.corners = corners
        self.neighbours = neighbours
        self.foot = foot
        """The point of its plane nearest to the origin; it points outward."""
        self.square = dot(foot, foot)
        self.place_in_open = CLOSED
        """Position in the polytope's list of open faces, or CLOSED or GONE."""

    def edge_from(self, corner: int) -> int:
        """Which edge begins at a corner."""
        return self.corners.index(corner) if corner in self.corners else 2


class Penetration(NamedTuple):
    """How deep two shapes overlap."""

    depth: float
    first: Vector
    second: Vector
    face: list[Vertex]
    """The vertices of the face of the Minkowski difference that holds the witness points."""


class Polytope:
    """A convex polyhedron around the origin, inside the Minkowski difference."""

    def __init__(self, first: ConvexShape, second: ConvexShape) -> None:
        self.first = first
        self.second = second
        self.vertices: list[Vertex] = []
        self.faces: list[Face] = []
        self.open: list[Face] = []
        """Faces that may hold the nearest point, in no particular order."""

    def point(self, vertex: int) -> Vector:
        """A vertex by number."""
        return self.vertices[vertex].point

    def add_support(self, direction: Vector, length: float) -> int:
        """Number of a new vertex, the farthest along a direction of the given length."""
        unit = (1.0, 0.0, 0.0)
        if length > MINVAL:
            unit = (direction[0] / length, direction[1] / length, direction[2] / length)
        self.vertices.append(minkowski_vertex(self.first, self.second, unit))
        return len(self.vertices) - 1

    def add_face(self, corners: tuple[int, int, int], neighbours: list[int]) -> float:
        """Append a face; the square of its plane's distance from the origin, 0 if it has no plane."""
        a, b, c = corners
        foot = plane_foot(self.point(c), self.point(b), self.point(a))
        self.faces.append(Face(corners, neighbours, foot or ORIGIN))
        return 0.0 if foot is None else self.faces[-1].square

    def open_face(self, face: Face) -> None:
        """Let a face take part in the search for the nearest."""
        face.place_in_open = len(self.open)
        self.open.append(face)

    def remove(self, face: Face) -> None:
        """Take a face out of the polytope; the last open face fills its place."""
        if face.place_in_open >= 0:
            last = self.open.pop()
            if last is not face:
                last.place_in_open = face.place_in_open
                self.open[face.place_in_open] = last
        face.place_in_open = GONE

    def nearest(self) -> tuple[Face | None, float]:
        """The open face nearest to the origin, the first of equal ones, and its squared distance."""
        best, least = None, inf
        for face in self.open:
            if face.square < least:
                best, least = face, face.square
        return best, least

    def horizon(self, seen: Face, eye: Vector) -> list[tuple[int, int]]:
        """Remove the faces visible from a point, found outward from one that is; the edges (face, edge) around
        them, on the side of the faces that stay."""
        self.remove(seen)
        edges = []
        pending = [(seen, 2), (seen, 1), (seen, 0)]
        while pending:
            face, i = pending.pop()
            number = face.neighbours[i]
            beyond = self.faces[number]
            if beyond.place_in_open == GONE:
                continue
            edge = beyond.edge_from(face.corners[(i + 1) % 3])
            if dot(beyond.foot, eye) - beyond.square > MINVAL:
                self.remove(beyond)
                pending += [(beyond, (edge + 2) % 3), (beyond, (edge + 1) % 3)]
            else:
                edges.append((number, edge))
        return edges

    def attach(self, apex: int, edges: list[tuple[int, int]], lower: float, upper: float) -> bool:
        """Join a vertex to the horizon; only faces between the squared bounds are opened. False: a face is flat."""
        base, count = len(self.faces), len(edges)
        for i, (number, edge) in enumerate(edges):
            rim = self.faces[number]
            rim.neighbours[edge] = base + i
            corners = (apex, rim.corners[(edge + 1) % 3], rim.corners[edge])
            square = self.add_face(corners, [base + (i - 1) % count, number, base + (i + 1) % count])
            if square == 0.0:
                return False
            if lower <= square <= upper:
                self.open_face(self.faces[-1])
        return True


# ---- the first polytope -----------------------------------------------------------------------------------

_TETRAHEDRON = (
    ((0, 1, 2), (1, 3, 2)),
    ((0, 3, 1), (2, 3, 0)),
    ((0, 2, 3), (0, 3, 1)),
    ((3, 2, 1), (2, 0, 1)),
)


def _bipyramid(
    a: int, b: int, ring: tuple[int, int, int]
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Faces and neighbours of two tips over a triangle."""
    r, s, t = ring
    return (
        ((a, r, s), (1, 3, 2)),
        ((a, t, r), (2, 4, 0)),
        ((a, s, t), (0, 5, 1)),
        ((b, s, r), (5, 0, 4)),
        ((b, r, t), (3, 1, 5)),
        ((b, t, s), (4, 2, 3)),
    )


def _close(polytope: Polytope, faces: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]) -> list[Vertex]:
    """Add the faces and open them all; the corners of the first one that passes through the origin, if any."""
    for corners, neighbours in faces:
        a, b, c = corners
        if polytope.add_face((a, b, c), list(neighbours)) < MINVAL * MINVAL:
            return [polytope.vertices[i] for i in corners]
    for face in polytope.faces:
        polytope.open_face(face)
    return []


def _same_side(a: Vector, b: Vector, c: Vector, p: Vector) -> bool:
    """Whether p and the origin are strictly on the same side of the plane through a, b, c."""
    normal = cross(sub(b, a), sub(c, a))
    side, origin = dot(normal, sub(p, a)), dot(normal, scale(a, -1.0))
    return (side > 0.0 and origin > 0.0) or (side < 0.0 and origin < 0.0)


def _holds_origin(corners: list[Vector]) -> bool:
    """Whether the origin is strictly inside a tetrahedron."""
    a, b, c, d = corners
    return (
        _same_side(a, b, c, d)
        and _same_side(b, c, d, a)
        and _same_side(c, d, a, b)
        and _same_side(d, a, b, c)
    )


def _in_triangle(a: Vector, b: Vector, c: Vector, p: Vector) -> bool:
    """Whether p is a point of the triangle."""
    total, *parts = triangle_areas(a, b, c, p)
    weights = [divide(part, total) for part in parts]
    return not min(weights) < 0.0 and norm(sub(combine(weights, (a, b, c)), p)) < MINVAL


def _crosses(a: Vector, b: Vector, ring: list[Vector]) -> bool:
    """Whether the line from a to b passes through the triangle."""
    way = sub(b, a)
    r, s, t = (sub(corner, a) for corner in ring)
    volumes = (triple(r, s, way), triple(s, t, way), triple(t, r, way))
    return all(v >= 0.0 for v in volumes) or all(v <= 0.0 for v in volumes)


def _third_turn(axis: Vector) -> Matrix:
    """Rotation by 120 degrees about an axis: cos·1 + (1 - cos)·uuᵀ + sin·[u]×."""
    length = norm(axis)
    x, y, z = (divide(component, length) for component in axis)
    c = -0.5
    t = 1.0 - c
    xs, ys, zs = x * SIN_120, y * SIN_120, z * SIN_120
    return (
        *(c + x * x * t, x * y * t - zs, x * z * t + ys),
        *(y * x * t + zs, c + y * y * t, y * z * t - xs),
        *(x * z * t - ys, y * z * t + xs, c + z * z * t),
    )


def around_segment(simplex: list[Vertex], first: ConvexShape, second: ConvexShape) -> Polytope | None:
    """A bipyramid with the segment as its axis."""
    polytope = Polytope(first, second)
    polytope.vertices += simplex
    a, b = simplex[0].point, simplex[1].point
    axis = sub(b, a)
    # The coordinate axis most across the segment.
    sizes = [abs(x) for x in axis]
    least = sizes.index(min(sizes))
    side = cross(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))[least], axis)
    turn = _third_turn(axis)
    for _ in range(3):
        polytope.add_support(side, norm(side))
        side = to_world(turn, side)
    flat = _close(polytope, _bipyramid(0, 1, (2, 3, 4)))
    if flat:
        return around_triangle(flat, first, second)
    return polytope if _crosses(a, b, [v.point for v in polytope.vertices[2:]]) else None


def around_triangle(simplex: list[Vertex], first: ConvexShape, second: ConvexShape) -> Polytope | None:
    """A bipyramid over the triangle, one tip on each side."""
    polytope = Polytope(first, second)
    polytope.vertices += simplex
    a, b, c = (v.point for v in simplex)
    normal = cross(sub(b, a), sub(c, a))
    length = norm(normal)
    if length < MINVAL:
        return None
    below = polytope.add_support(scale(normal, -1.0), length)
    above = polytope.add_support(normal, length)
    if _in_triangle(a, b, c, polytope.point(above)) or _in_triangle(a, b, c, polytope.point(below)):
        return None
    return None if _close(polytope, _bipyramid(above, below, (0, 1, 2))) else polytope


def around_tetrahedron(simplex: list[Vertex], first: ConvexShape, second: ConvexShape) -> Polytope | None:
    """The tetrahedron itself, or a bipyramid if the origin lies on one of its faces."""
    polytope = Polytope(first, second)
    polytope.vertices += simplex
    flat = _close(polytope, _TETRAHEDRON)
    if flat:
        return around_triangle(flat, first, second)
    return polytope if _holds_origin([v.point for v in simplex]) else None


def around(simplex: list[Vertex], first: ConvexShape, second: ConvexShape) -> Polytope | None:
    """A polytope around the origin from the simplex the distance iteration ended with; None if that cannot be
    done, because the shapes only touch."""
    build = {2: around_segment, 3: around_triangle, 4: around_tetrahedron}[len(simplex)]
    return build(simplex, first, second)


# ---- expansion --------------------------------------------------------------------------------------------


def _repeated(vertices: list[Vertex]) -> bool:
    """Whether the last vertex joins the same two vertices of the shapes as an earlier one."""
    last = vertices[-1]
    return any(
        v.first_id == last.first_id and v.second_id == last.second_id for v in vertices[: len(vertices) - 1]
    )


def expand(polytope: Polytope, iterations: int, tolerance: float) -> Face | None:
    """The face that holds the point of the Minkowski difference's boundary nearest to the origin."""
    discrete = polytope.first.discrete and polytope.second.discrete
    if discrete:
        tolerance = MINVAL
    room = max(MIN_ROOM, 6 * iterations)
    face: Face | None = None
    upper = inf
    for _ in range(iterations):
        nearest, lower = polytope.nearest()
        if nearest is None or lower > upper * upper:
            return face
        face = nearest
        if lower <= 0.0:
            return face
        length = sqrt(lower)
        apex = polytope.add_support(face.foot, length)
        upper = min(upper, dot(face.foot, polytope.point(apex)) / length)
        if upper - length < tolerance or (discrete and _repeated(polytope.vertices)):
            return face
        edges = polytope.horizon(face, polytope.point(apex))
        if len(edges) < 3:
            return None
        if len(edges) > room - len(polytope.faces):
            return face
        if not polytope.attach(apex, edges, lower, upper * upper):
            return None
        if not polytope.open:
            return face
    return face


def penetration(polytope: Polytope, iterations: int, tolerance: float) -> Penetration | None:
    """Depth and witness points of two overlapping shapes; None if rounding spoils the polytope."""
    face = expand(polytope, iterations, tolerance)
    if face is None:
        return None
    corners = [polytope.vertices[i] for i in face.corners]
    a, b, c = (v.point for v in corners)
    total, *parts = triangle_areas(a, b, c, face.foot)
    weights = [divide(part, total) for part in parts]
    return Penetration(
        sqrt(face.square),
        combine(weights, [v.first for v in corners]),
        combine(weights, [v.second for v in corners]),
        corners,
    )
