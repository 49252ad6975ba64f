"""The expanding polytope of `epa_numpy` for one world in uniform numbers, as sections of the loop over support
points.

A polytope around the origin is built from the simplex of the distance iteration; then the face nearest to the
origin is replaced by faces to the support point beyond it, until that is no farther than the face. Faces, their
neighbours and the list of open faces lie in memory, in MuJoCo's order. World frame. See epa and polytope2 to
polytope4 behind mjc_ccd in MuJoCo 3.4.
"""

from __future__ import annotations

from typing import Any

from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.ccd_one_world_lanes import Phase, Search
from dovetail.plugins.shared.geometry.epa_numpy import _TETRAHEDRON, CLOSED, GONE, SIN_120, _bipyramid
from dovetail.plugins.shared.geometry.simplex_one_world_lanes import (
    LARGE,
    plane_foot,
    same_sign,
    triangle_areas,
)
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm, to_world, vector

TETRAHEDRON, ON_SEGMENT, ON_TRIANGLE = range(3)
"""First polytopes."""

_FIRST_FACES = (4, 6, 6)
_FIRST = (
    (*_TETRAHEDRON, ((0, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0, 0))),
    _bipyramid(0, 1, (2, 3, 4)),
    _bipyramid(4, 3, (0, 1, 2)),
)
"""Corners and neighbours of their faces; on a triangle the tip below is vertex 3, the one above 4."""

NO_FACE = -1


class Polytope:
    """A convex polyhedron around the origin, inside the Minkowski difference."""

    def __init__(self, search: Search) -> None:
        k, room = search.k, search.face_room
        self.search = search
        self.kind = k.local(0)
        self.base = k.local(0)
        """The first of its vertices among the support points."""
        self.tips = k.local(0)
        """Support points that the first polytope got so far."""
        self.side = k.uniform(vector(0.0, 0.0, 0.0))
        self.triangle = k.integers("convex/triangle", 3)
        self.foot = k.reals("convex/foot", room, 4)
        """By face: the point of its plane nearest to the origin, which points outward, and its squared length."""
        self.corners = k.integers("convex/face_corners", room, 3)
        self.neighbours = k.integers("convex/face_neighbours", room, 3)
        """Across the edges that begin at each corner."""
        self.place_in_open = k.integers("convex/face_place_in_open", room)
        """Position in the list of open faces, or CLOSED or GONE."""
        self.faces = k.local(0)
        self.open = k.integers("convex/open", room)
        """Faces that may hold the nearest point, in no particular order."""
        self.opened = k.local(0)
        self.pending = k.integers("convex/pending", 2 * room + 8)
        self.edges = k.integers("convex/edges", 2 * room + 8)
        self.nedge = k.local(0)
        self.face = k.local(NO_FACE)
        """The nearest face so far."""
        self.lower = k.uniform(0.0)
        self.upper = k.uniform(0.0)
        self.turns = k.local(0)
        self.complete = k.local(0)
        """1 when the nearest face of all is found."""

    # ---- the first polytope -----------------------------------------------------------------------------------

    def tip(self) -> None:
        """Section TIP: a support point for the first polytope."""
        search, k = self.search, self.search.k
        with search.at(Phase.TIP):
            self.tips += 1
            with k.when(self.kind.value == ON_SEGMENT):
                search.go(Phase.CLOSE)
                with k.when(self.tips.value < 3):
                    self.side.set(to_world(self._third_turn(), self.side.value))
                    self._look(self.side.value)
            with k.otherwise():
                with k.when(self.tips.value < 2):
                    self._look(self.side.value)
                with k.otherwise():
                    search.go_if(self._flat_tip(), Phase.DONE, Phase.CLOSE)

    def _look(self, direction: Vector) -> None:
        """Ask for a support point along a vector of any length; along x if it has none."""
        search, k = self.search, self.search.k
        length = norm(k, direction)
        long = length > MINVAL
        scaled = direction / k.select(long, length, 1.0)
        search.direction.set(k.select(long, scaled, vector(1.0, 0.0, 0.0)))
        search.go(Phase.TIP)

    def _axis(self) -> Vector:
        """Of the segment."""
        search, base = self.search, self.base.value
        return search.point(base + 1) - search.point(base)

    def _third_turn(self) -> Vector:
        """Rotation by 120 degrees about the segment: cos·1 + (1 - cos)·uuᵀ + sin·[u]×."""
        axis = self._axis()
        x, y, z = axis / norm(self.search.k, axis)
        c = -0.5
        t = 1.0 - c
        xs, ys, zs = x * SIN_120, y * SIN_120, z * SIN_120
        return vector(
            *(c + x * x * t, x * y * t - zs, x * z * t + ys),
            *(y * x * t + zs, c + y * y * t, y * z * t - xs),
            *(x * z * t - ys, y * z * t + xs, c + z * z * t),
        ).reshape(3, 3)

    def begin(self) -> None:
        """Section BEGIN: from the simplex."""
        search, k = self.search, self.search.k
        with search.at(Phase.BEGIN):
            with k.when(search.size.value == 3):
                for n in range(3):
                    self.triangle[n] = search.simplex[n]
                search.go(Phase.TRIANGLE)
            with k.otherwise():
                self.base.set(search.count.value)
                with k.loop(0, search.size.value) as corner:
                    search.copy_vertex(search.simplex[corner])
                with k.when(search.size.value == 2):
                    self._begin_on_segment()
                with k.otherwise():
                    self.kind.set(TETRAHEDRON)
                    search.go(Phase.CLOSE)

    def _begin_on_segment(self) -> None:
        """Three tips around the segment, the first across the coordinate axis that is most across it."""
        k = self.search.k
        axis = self._axis()
        x, y, z = (k.abs(c) for c in axis)
        first, second = (x <= y) & (x <= z), y <= z
        across = vector(
            k.select(first, 1.0, 0.0),
            k.select(~first & second, 1.0, 0.0),
            k.select(first | second, 0.0, 1.0),
        )
        self.kind.set(ON_SEGMENT)
        self.tips.set(0)
        self.side.set(cross(across, axis))
        self._look(self.side.value)

    def begin_on_triangle(self) -> None:
        """Section TRIANGLE: one tip on each side of three vertices."""
        search, k = self.search, self.search.k
        with search.at(Phase.TRIANGLE):
            self.base.set(search.count.value)
            with k.loop(0, 3) as n:
                search.copy_vertex(self.triangle[n])
            a, b, c = (search.point(self.base.value + n) for n in range(3))
            normal = cross(b - a, c - a)
            self.kind.set(ON_TRIANGLE)
            self.tips.set(0)
            self.side.set(normal)
            search.go(Phase.DONE)
            with k.when(~(norm(k, normal) < MINVAL)):
                self._look(-normal)

    def _flat_tip(self) -> Any:
        """Whether a tip is a point of the triangle."""
        search, k = self.search, self.search.k
        a, b, c = (search.point(self.base.value + n) for n in range(3))
        flat = k.local(0)
        with k.loop(3, 5) as tip:
            p = search.point(self.base.value + tip)
            total, *parts = triangle_areas(k, a, b, c, p)
            u, v, w = (part / total for part in parts)
            inside = ~(u < 0.0) & ~(v < 0.0) & ~(w < 0.0)
            with k.when(inside & (norm(k, u * a + v * b + w * c - p) < MINVAL)):
                flat.set(1)
        return flat.value == 1

    def close(self) -> None:
        """Section CLOSE: the faces of the first polytope. If one passes through the origin, the triangle it is
        takes the place of the simplex."""
        search, k = self.search, self.search.k
        with search.at(Phase.CLOSE):
            flat = k.local(0)
            self.faces.set(0)
            self.opened.set(0)
            table = k.table("convex/first_polytope", _FIRST)
            with k.loop(0, k.table("convex/first_faces", _FIRST_FACES)[self.kind.value]) as face:
                for n in range(3):
                    self.corners[face, n] = self.base.value + table[self.kind.value, face, 0, n]
                    self.neighbours[face, n] = table[self.kind.value, face, 1, n]
                    self.triangle[n] = self.corners[face, n]
                self._add_face()
                with k.when(self.foot[face, 3] < MINVAL * MINVAL):
                    flat.set(1)
                k.leave_when(flat.value == 1)
                self._open(face)
            with k.when(flat.value == 1):
                search.go_if(self.kind.value == ON_TRIANGLE, Phase.DONE, Phase.TRIANGLE)
            with k.otherwise():
                self._check_inside()

    def _check_inside(self) -> None:
        """Go on if the origin is where it should be."""
        search, k = self.search, self.search.k
        inside = k.local(1)
        with k.when(self.kind.value == TETRAHEDRON), k.loop(0, 4) as turn:
            a, b, c, d = (search.point(self.base.value + (turn + n) % 4) for n in range(4))
            normal = cross(b - a, c - a)
            with k.when(~same_sign(dot(normal, d - a), dot(normal, -a))):
                inside.set(0)
        with k.when(self.kind.value == ON_SEGMENT):
            a = search.point(self.base.value)
            way = search.point(self.base.value + 1) - a
            r, s, t = (search.point(self.base.value + 2 + n) - a for n in range(3))
            one, two, three = (dot(p, cross(q, way)) for p, q in ((r, s), (s, t), (t, r)))
            above = (one >= 0.0) & (two >= 0.0) & (three >= 0.0)
            below = (one <= 0.0) & (two <= 0.0) & (three <= 0.0)
            inside.set(k.select(above | below, 1, 0))
        self.face.set(NO_FACE)
        self.upper.set(LARGE[k.precision])
        self.turns.set(0)
        search.go_if(inside.value == 1, Phase.NEAREST, Phase.DONE)

    # ---- bookkeeping ------------------------------------------------------------------------------------------

    def _add_face(self) -> None:
        """Measure the face after the last one, whose corners and neighbours are there; its square is 0 if it has no
        plane."""
        search, k, face = self.search, self.search.k, self.faces.value
        a, b, c = (search.point(self.corners[face, n]) for n in range(3))
        foot, exists = plane_foot(k, c, b, a)
        here = k.select(exists, foot, 0.0)
        self.foot[face] = vector(here, dot(here, here))
        self.place_in_open[face] = CLOSED
        self.faces += 1

    def _open(self, face: Any) -> None:
        """Let a face take part in the search for the nearest."""
        self.place_in_open[face] = self.opened.value
        self.open[self.opened.value] = face
        self.opened += 1

    def _remove(self, face: Any) -> None:
        """Take a face out of the polytope; the last open face fills its place."""
        k = self.search.k
        place = k.local(self.place_in_open[face])
        with k.when(place.value >= 0):
            self.opened -= 1
            last = self.open[self.opened.value]
            self.place_in_open[last] = place.value
            self.open[place.value] = last
        self.place_in_open[face] = GONE

    # ---- expansion --------------------------------------------------------------------------------------------

    def expansion(self) -> None:
        """Section EXPANSION: a support point beyond the nearest face."""
        search, k = self.search, self.search.k
        with search.at(Phase.EXPANSION):
            apex = search.newest
            length = k.sqrt(self.lower.value)
            height = dot(self.foot[self.face.value, 0:3], search.point(apex)) / length
            self.upper.set(k.select(height < self.upper.value, height, self.upper.value))
            tolerance = k.select(search.discrete.value == 1, MINVAL, search.tolerance)
            done = k.local(k.select(self.upper.value - length < tolerance, 1, 0))
            with k.when((search.discrete.value == 1) & (done.value == 0)):
                self._look_for(apex, done)
            with k.when(done.value == 1):
                self._finish()
            with k.otherwise():
                self._grow(apex)

    def _look_for(self, apex: Any, repeated: Any) -> None:
        """Whether the vertex joins the same two vertices of the shapes as an earlier one."""
        search, k = self.search, self.search.k
        first, second = search.ids[apex, 0], search.ids[apex, 1]
        with k.loop(self.base.value, apex) as n:
            with k.when((search.ids[n, 0] == first) & (search.ids[n, 1] == second)):
                repeated.set(1)
            k.leave_when(repeated.value == 1)

    def _grow(self, apex: Any) -> None:
        """Replace the faces that the apex sees; the end if that cannot be done."""
        search, k = self.search, self.search.k
        eye = k.uniform(search.point(apex))
        self._horizon(eye.value)
        with k.when(self.nedge.value < 3):
            search.go(Phase.DONE)
        with k.otherwise():
            with k.when(self.nedge.value > search.face_room - self.faces.value):
                self._finish()
            with k.otherwise():
                flat = self._attach(apex)
                self.turns += 1
                last = (self.opened.value == 0) | (self.turns.value >= search.iterations)
                with k.when(flat):
                    search.go(Phase.DONE)
                with k.otherwise():
                    search.go(Phase.NEAREST)
                    with k.when(last):
                        self._finish()

    def _horizon(self, eye: Vector) -> None:
        """Remove the faces visible from the eye, found outward from the nearest one; list the edges around them,
        on the side of the faces that stay, as 4·face + edge."""
        k, seen = self.search.k, self.face.value
        waiting = k.local(3)
        self._remove(seen)
        for n in range(3):
            self.pending[n] = 4 * seen + (2 - n)
        self.nedge.set(0)
        with k.loop(0, 3 * self.search.face_room):
            k.leave_when(waiting.value == 0)
            waiting -= 1
            entry = k.local(self.pending[waiting.value])
            face, edge = entry.value >> 2, entry.value & 3
            beyond = k.local(self.neighbours[face, edge])
            with k.when(self.place_in_open[beyond.value] != GONE):
                corner = self.corners[face, k.select(edge == 2, 0, edge + 1)]
                self._look_beyond(beyond.value, corner, eye, waiting)

    def _look_beyond(self, beyond: Any, corner: Any, eye: Vector, waiting: Any) -> None:
        """Remove a face if it is visible, else note the edge that begins at a corner."""
        k = self.search.k
        first, second = self.corners[beyond, 0] == corner, self.corners[beyond, 1] == corner
        edge = k.local(k.select(first, 0, k.select(second, 1, 2)))
        foot = self.foot[beyond]
        with k.when(dot(foot[:3], eye) - foot[3] > MINVAL):
            self._remove(beyond)
            self.pending[waiting.value] = 4 * beyond + (edge.value + 2) % 3
            self.pending[waiting.value + 1] = 4 * beyond + (edge.value + 1) % 3
            waiting += 2
        with k.otherwise():
            self.edges[self.nedge.value] = 4 * beyond + edge.value
            self.nedge += 1

    def _attach(self, apex: Any) -> Any:
        """Join a vertex to the horizon; only faces between the squared bounds are opened. Whether a face is flat."""
        k, count = self.search.k, self.nedge.value
        base, flat = k.local(self.faces.value), k.local(0)
        with k.loop(0, count) as n:
            entry = k.local(self.edges[n])
            number, edge = entry.value >> 2, entry.value & 3
            face = base.value + n
            self.neighbours[number, edge] = face
            self.corners[face, 0] = apex
            self.corners[face, 1] = self.corners[number, k.select(edge == 2, 0, edge + 1)]
            self.corners[face, 2] = self.corners[number, edge]
            self.neighbours[face, 0] = base.value + k.select(n == 0, count - 1, n - 1)
            self.neighbours[face, 1] = number
            self.neighbours[face, 2] = base.value + k.select(n == count - 1, 0, n + 1)
            self._add_face()
            square = self.foot[face, 3]
            flat.set(k.select(square == 0.0, 1, 0))
            k.leave_when(flat.value == 1)
            with k.when((self.lower.value <= square) & (square <= self.upper.value * self.upper.value)):
                self._open(face)
        return flat.value == 1

    def nearest(self) -> None:
        """Section NEAREST: look beyond the open face nearest to the origin, the first of equal ones."""
        search, k = self.search, self.search.k
        with search.at(Phase.NEAREST):
            best, least = k.local(NO_FACE), k.uniform(LARGE[k.precision])
            with k.loop(0, self.opened.value) as n:
                face = self.open[n]
                square = self.foot[face, 3]
                with k.when(square < least.value):
                    best.set(face)
                    least.set(square)
            beaten = least.value > self.upper.value * self.upper.value
            with k.when((best.value == NO_FACE) | beaten):
                self._finish()
            with k.otherwise():
                self.face.set(best.value)
                self.lower.set(least.value)
                with k.when(least.value <= 0.0):
                    self._finish()
                with k.otherwise():
                    scaled = self.foot[best.value, 0:3] / k.sqrt(least.value)
                    far = k.sqrt(least.value) > MINVAL
                    search.direction.set(k.select(far, scaled, vector(1.0, 0.0, 0.0)))
                    search.go(Phase.EXPANSION)

    def _finish(self) -> None:
        """The end: the nearest face has the contact, if there is one."""
        self.search.go(Phase.DONE)
        self.complete.set(self.search.k.select(self.face.value != NO_FACE, 1, 0))

    def witness(self) -> None:
        """After the loop: depth and witness points on the face found."""
        search, k = self.search, self.search.k
        face = self.face.value
        vertices = [self.corners[face, n] for n in range(3)]
        a, b, c = (search.point(vertex) for vertex in vertices)
        total, *parts = triangle_areas(k, a, b, c, self.foot[face, 0:3])
        points = []
        for shape in range(2):
            place = vector(0.0, 0.0, 0.0)
            for part, vertex in zip(parts, vertices, strict=True):
                place = place + (part / total) * search.pool[vertex, 3 + 3 * shape : 6 + 3 * shape]
            points.append(place)
        search.found(-k.sqrt(self.foot[face, 3]), *points)
