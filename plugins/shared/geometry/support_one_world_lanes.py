"""Support functions of one world's two shapes, in uniform numbers: the farthest point of a shape in a direction.

The shapes of the pair at hand lie in memory, so that one body of code serves every pair of types: which support
function applies is a branch at run time. Of a mesh the hull is climbed from the vertex last found, or all vertices
are looked at, by the rules of `support_numpy`. World frame. See mjc_initCCDObj and the support functions beside it in
MuJoCo 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel, Variable
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.support_numpy import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    HFIELD,
    HILLCLIMB_MIN,
    LOWEST,
    MESH,
    NO_VERTEX,
    SPHERE,
)
from dovetail.plugins.shared.vectors_lanes import Vector, dot, to_frame, to_world, vector

POINT, SEGMENT, ELEMENT = 20, 21, 22
"""Kinds of the cores of spheres and capsules, and of elements of flexes, beside the types of geoms; a prism has the
kind HFIELD."""

MOST_CORNERS = 4
"""Of an element."""

CORES = {SPHERE: POINT, CAPSULE: SEGMENT}

NO_GRAPH = -1
"""Instead of where a mesh's hull begins: all vertices are looked at."""

ENDLESS = 1 << 30
"""Turns of a loop that ends by a condition."""


class Shapes:
    """Two convex shapes somewhere in the world, each swollen by half its margin; rows 0 and 1 of the memory."""

    def __init__(self, k: Kernel, kinds: Iterable[int]) -> None:
        self.k = k
        self.kinds = sorted({*kinds, *(CORES[kind] for kind in kinds if kind in CORES)})
        """Kinds that occur in the model: no other gets code."""
        self.frame = k.reals("convex/frame", 2, 12)
        """Rotation to the world, row by row, then the position."""
        self.size = k.reals("convex/size", 2, 3)
        self.swelling = k.reals("convex/swelling", 2)
        """Half the margin, if that is positive."""
        self.kind = k.integers("convex/kind", 2)
        self.mesh = k.integers("convex/mesh", 2, 3)
        """First vertex, number of vertices, and where the hull's graph begins or NO_GRAPH."""
        self.last = k.integers("convex/last", 2)
        """The vertex of a mesh that was found last."""
        self.corners = k.reals("convex/corners", 6, 3)
        """Of the prism: three below, three above."""
        self.element = k.reals("convex/element", MOST_CORNERS, 3) if ELEMENT in self.kinds else None
        """Corners of the element, which is the second shape."""
        self.ncorner = k.local(0)
        """How many it has."""

    def position(self, s: Any) -> Vector:
        return self.frame[s, 9:12]

    def matrix(self, s: Any) -> Vector:
        return self.frame[s, 0:9].reshape(3, 3)

    def take_geom(self, s: int, geom: Any, pose: Vector, margin: Any) -> None:
        """Make a geom with the given pose (position, matrix) the shape s."""
        k, m = self.k, self.k.model
        kind = m.geom_type[geom]
        self.clothe(s, geom, margin)
        self.size[s] = m.geom_size[geom]
        self.frame[s, 9:12] = pose[:3]
        # However a sphere is turned, its support point is the same: better without rounding there and back.
        unturned = np.eye(3).ravel()
        for n in range(9):
            self.frame[s, n] = k.select(kind == SPHERE, float(unturned[n]), pose[3 + n])
        if MESH in self.kinds:
            with k.when(kind == MESH):
                self._take_mesh(s, m.geom_dataid[geom])

    def clothe(self, s: int, geom: Any, margin: Any) -> None:
        """The whole shape, not its core, with half the margin."""
        self.kind[s] = self.k.model.geom_type[geom]
        self.swelling[s] = 0.5 * self.k.max(margin, 0.0)

    def _take_mesh(self, s: int, mesh: Any) -> None:
        k, m = self.k, self.k.model
        few = m.mesh_vertnum[mesh] < HILLCLIMB_MIN
        graph = k.local(k.select(few, NO_GRAPH, m.mesh_graphadr[mesh]))
        self.mesh[s, 0] = m.mesh_vertadr[mesh]
        self.mesh[s, 1] = m.mesh_vertnum[mesh]
        self.mesh[s, 2] = graph.value
        self.last[s] = k.select(graph.value < 0, NO_VERTEX, 0)

    def take_element(self, corners: Any, number: int, middle: Vector, swelling: Any) -> None:
        """Make an element with some corners the second shape, swollen; `middle` is that of its box."""
        assert self.element is not None
        self.kind[1] = ELEMENT
        self.swelling[1] = swelling
        self.size[1] = vector(0.0, 0.0, 0.0)
        self.frame[1] = vector(np.eye(3).ravel().tolist(), middle)
        self.ncorner.set(number)
        for n in range(number):
            self.element[n] = corners[n]

    def take_prism(self) -> None:
        """Make the prism in `corners` the first shape."""
        self.kind[0] = HFIELD
        self.swelling[0] = 0.0
        self.frame[0] = vector(np.eye(3).ravel().tolist(), 0.0, 0.0, 0.0)


def farthest(shapes: Shapes, s: Any, direction: Vector) -> tuple[Vector, Any]:
    """The farthest point of shape s along a unit vector, and its vertex number."""
    k = shapes.k
    matrix = shapes.matrix(s)
    local = to_frame(matrix, direction)
    point, vertex = k.uniform(vector(0.0, 0.0, 0.0)), k.local(NO_VERTEX)
    kind = shapes.kind[s]
    for which in shapes.kinds:
        if which in _LOCAL:
            with k.when(kind == which):
                point.set(_LOCAL[which](k, shapes.size[s], local))
    if BOX in shapes.kinds:
        with k.when(kind == BOX):
            _box(shapes, s, local, point, vertex)
    if MESH in shapes.kinds:
        with k.when(kind == MESH):
            _mesh(shapes, s, local, point, vertex)
    if HFIELD in shapes.kinds:
        with k.when(kind == HFIELD):
            point.set(_prism(shapes, direction))
    world = to_world(matrix, point.value) + shapes.position(s)
    if ELEMENT in shapes.kinds:
        place = k.uniform(world)
        with k.when(kind == ELEMENT):
            place.set(_element(shapes, direction))
        world = place.value
    return world + direction * shapes.swelling[s], vertex.value


# ---- curved shapes, in their own frame ----------------------------------------------------------------------


def _end(k: Kernel, dz: Any, half: Any) -> Any:
    return k.select(dz >= 0.0, half, -half)


def _segment(k: Kernel, size: Vector, d: Vector) -> Vector:
    return vector(0.0, 0.0, _end(k, d[2], size[1]))


def _sphere(k: Kernel, size: Vector, d: Vector) -> Vector:
    return d * size[0]


def _capsule(k: Kernel, size: Vector, d: Vector) -> Vector:
    return vector(d[0] * size[0], d[1] * size[0], d[2] * size[0] + _end(k, d[2], size[1]))


def _ellipsoid(k: Kernel, size: Vector, d: Vector) -> Vector:
    """S²d / |S d|."""
    scaled = d * size
    square = dot(scaled, scaled)
    tiny = square < MINVAL * MINVAL
    inverse = 1.0 / k.sqrt(k.select(tiny, 1.0, square))
    return k.select(tiny, vector(size[0], 0.0, 0.0), scaled * (inverse * size))


def _cylinder(k: Kernel, size: Vector, d: Vector) -> Vector:
    """A point of the rim, or the cap's middle when the direction is the axis."""
    square = d[0] * d[0] + d[1] * d[1]
    along_axis = square < MINVAL * MINVAL
    s = k.select(along_axis, 0.0, size[0] / k.sqrt(k.select(along_axis, 1.0, square)))
    return vector(s * d[0], s * d[1], _end(k, d[2], size[1]))


_LOCAL: Mapping[int, Callable[[Kernel, Vector, Vector], Vector]] = {
    SEGMENT: _segment,
    SPHERE: _sphere,
    CAPSULE: _capsule,
    ELLIPSOID: _ellipsoid,
    CYLINDER: _cylinder,
}
"""Shapes without vertex numbers; a POINT is at the origin."""


# ---- polyhedra ----------------------------------------------------------------------------------------------


def _box(shapes: Shapes, s: Any, d: Vector, point: Variable, vertex: Variable) -> None:
    """A corner; its number has a bit for each coordinate that is positive, x lowest."""
    k = shapes.k
    size = shapes.size[s]
    point.set(vector(*(_end(k, d[n], size[n]) for n in range(3))))
    bits = [k.select(d[n] >= 0.0, 1 << n, 0) for n in range(3)]
    vertex.set(bits[0] + bits[1] + bits[2])


def _element(shapes: Shapes, d: Vector) -> Vector:
    """The first of the farthest corners, in the world."""
    k, corners = shapes.k, shapes.element
    assert corners is not None
    best, most = k.uniform(corners[0]), k.uniform(0.0)
    most.set(dot(best.value, d))
    with k.loop(1, shapes.ncorner.value) as n:
        corner = corners[n]
        reach = dot(corner, d)
        with k.when(reach > most.value):
            best.set(corner)
            most.set(reach)
    found: Vector = best.value
    return found


def _prism(shapes: Shapes, d: Vector) -> Vector:
    """The farthest corner among the bottom ones or the top ones, as the direction points down or up."""
    k = shapes.k
    first = k.local(k.select(d[2] < 0.0, 0, 3))
    best, most = k.uniform(shapes.corners[first.value]), k.uniform(0.0)
    most.set(dot(best.value, d))
    with k.loop(1, 3) as n:
        corner = shapes.corners[first.value + n]
        reach = dot(corner, d)
        with k.when(reach > most.value):
            best.set(corner)
            most.set(reach)
    found: Vector = best.value
    return found


def _mesh(shapes: Shapes, s: Any, d: Vector, point: Variable, vertex: Variable) -> None:
    """The farthest vertex of a mesh."""
    k, m = shapes.k, shapes.k.model
    first, graph = shapes.mesh[s, 0], shapes.mesh[s, 2]
    with k.when(graph < 0):
        best = _scan(shapes, s, d)
        shapes.last[s] = best
        vertex.set(best)
    with k.otherwise():
        best = _climb(shapes, s, d)
        shapes.last[s] = best
        vertex.set(m.mesh_graph[graph + 2 + m.mesh_graph[graph] + best])
    point.set(m.mesh_vert[first + vertex.value])


def _scan(shapes: Shapes, s: Any, d: Vector) -> Any:
    """The farthest of all vertices; on a tie the one found last time, else the first."""
    k, m = shapes.k, shapes.k.model
    first = shapes.mesh[s, 0]
    best, most = k.local(k.max(shapes.last[s], 0)), k.uniform(LOWEST)
    with k.when(shapes.last[s] >= 0):
        most.set(dot(d, m.mesh_vert[first + best.value]))
    with k.loop(0, shapes.mesh[s, 1]) as n:
        reach = dot(d, m.mesh_vert[first + n])
        with k.when(reach > most.value):
            best.set(n)
            most.set(reach)
    return best.value


def _climb(shapes: Shapes, s: Any, d: Vector) -> Any:
    """Steepest ascent along the edges of the hull, in the hull's numbers.

    The vertex it starts from counts only once it is seen from a neighbour, as in MuJoCo.
    """
    k, m = shapes.k, shapes.k.model
    first, graph = k.local(shapes.mesh[s, 0]), k.local(shapes.mesh[s, 2] + 2)
    count = k.local(m.mesh_graph[graph.value - 2])
    best, before, most = k.local(shapes.last[s]), k.local(NO_VERTEX), k.uniform(LOWEST)
    with k.loop(0, ENDLESS):
        k.leave_when(best.value == before.value)
        before.set(best.value)
        edges = k.local(graph.value + 2 * count.value + m.mesh_graph[graph.value + best.value])
        with k.loop(0, count.value) as n:
            end = m.mesh_graph[edges.value + n]
            k.leave_when(end < 0)
            reach = dot(d, m.mesh_vert[first.value + m.mesh_graph[graph.value + count.value + end]])
            with k.when(reach > most.value):
                most.set(reach)
                best.set(end)
    return best.value
