"""Support functions: the farthest point of a convex shape in a direction.

All the convex algorithms know of a shape is its `farthest` point in a unit direction (world frame), its centre,
where they start, and whether it is a polyhedron, whose vertices have numbers. A sphere or capsule also has a
`core` (a point, a segment) that its radius surrounds evenly.

A mesh stands for its convex hull. With a hull graph and at least HILLCLIMB_MIN vertices the farthest vertex is
the one that climbing along the hull's edges from the last one found leads to, otherwise the first of all. On a flat
side, where several are equally far but for rounding, which one comes out decides which of several equally right
contact positions is reported, and follows MuJoCo's rules given the same graph.

See mjc_initCCDObj and the support functions beside it in MuJoCo 3.4.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.hulls_numpy import HullGraph, hull_graph
from dovetail.plugins.shared.vectors_numpy import ORIGIN, Matrix, Vector, add, scale

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Data, Model

NO_VERTEX = -1
"""The vertex number of a point on a curved surface."""

HILLCLIMB_MIN = 10
"""Fewer mesh vertices than this are looked at one and all (mjMESH_HILLCLIMB_MIN, MuJoCo 3.4)."""

LOWEST = -3.4028234663852886e38
"""Where searches for a maximum begin (-FLT_MAX, MuJoCo 3.4)."""

IDENTITY: Matrix = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

LocalSupport: TypeAlias = Callable[[float, float, float], tuple[Vector, int]]
"""From a direction in the shape's frame to the farthest point there and its vertex number."""

HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = map(
    int,
    (
        GeomType.HFIELD,
        GeomType.SPHERE,
        GeomType.CAPSULE,
        GeomType.ELLIPSOID,
        GeomType.CYLINDER,
        GeomType.BOX,
        GeomType.MESH,
    ),
)


class ConvexShape:
    """A convex shape somewhere in the world, swollen by half its margin."""

    __slots__ = ("core", "kind", "local", "margin", "matrix", "position", "radius")

    def __init__(
        self,
        kind: int,
        position: Vector,
        matrix: Matrix,
        local: LocalSupport,
        margin: float,
        core: LocalSupport | None = None,
        radius: float = 0.0,
    ) -> None:
        self.kind = kind
        self.position = position
        self.matrix = matrix
        self.local = local
        self.margin = margin
        self.core = core
        """Support of the point or segment inside, for spheres and capsules."""
        self.radius = radius
        """Distance from the core to the surface, without margin."""

    @property
    def center(self) -> Vector:
        """Where the iterations start."""
        return self.position

    @property
    def discrete(self) -> bool:
        """Whether the shape is a polyhedron; a margin rounds its edges."""
        return self.margin == 0.0 and self.kind in (HFIELD, BOX, MESH)

    def farthest(self, direction: Vector) -> tuple[Vector, int]:
        """The farthest point along a unit vector, and its vertex number."""
        dx, dy, dz = direction
        a, b, c, d, e, f, g, h, i = self.matrix
        (x, y, z), vertex = self.local(
            a * dx + d * dy + g * dz, b * dx + e * dy + h * dz, c * dx + f * dy + i * dz
        )
        px, py, pz = self.position
        wx = a * x + b * y + c * z + px
        wy = d * x + e * y + f * z + py
        wz = g * x + h * y + i * z + pz
        if self.margin > 0.0:
            half = 0.5 * self.margin
            return (wx + dx * half, wy + dy * half, wz + dz * half), vertex
        return (wx, wy, wz), vertex

    def moved(self, position: Vector, matrix: Matrix) -> ConvexShape:
        """The same shape elsewhere; a mesh goes on from the vertex last found."""
        if self.kind == SPHERE:
            matrix = self.matrix
        return ConvexShape(self.kind, position, matrix, self.local, self.margin, self.core, self.radius)

    def shrunk(self) -> ConvexShape:
        """The core of a sphere or capsule, without margin; other shapes as they are."""
        if self.core is None:
            return self
        return ConvexShape(self.kind, self.position, self.matrix, self.core, 0.0)

    @property
    def skin(self) -> float:
        """What `shrunk` took away: radius and half the margin."""
        return 0.0 if self.core is None else self.radius + 0.5 * self.margin


class Prism(ConvexShape):
    """A triangular column of a height field, given by three bottom and three top corners in world coordinates."""

    __slots__ = ("corners",)

    def __init__(self, corners: list[Vector]) -> None:
        super().__init__(HFIELD, ORIGIN, IDENTITY, point_support, 0.0)
        self.corners = corners

    @property
    def center(self) -> Vector:
        """Mean of the corners."""
        total = ORIGIN
        for corner in self.corners:
            total = add(total, corner)
        return scale(total, 1.0 / 6.0)

    def farthest(self, direction: Vector) -> tuple[Vector, int]:
        """The farthest corner among the bottom ones or the top ones, as the direction points down or up.

        The corners have no numbers, so the expansion takes the other shape's vertex alone for a repetition, as
        MuJoCo 3.4 does.
        """
        dx, dy, dz = direction
        corners = self.corners[:3] if dz < 0.0 else self.corners[3:]
        best = corners[0]
        most = best[0] * dx + best[1] * dy + best[2] * dz
        for corner in corners[1:]:
            reach = corner[0] * dx + corner[1] * dy + corner[2] * dz
            if reach > most:
                best, most = corner, reach
        return best, NO_VERTEX


# ---- shapes in their own frame ----------------------------------------------------------------------------


def point_support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
    """A point: the core of a sphere."""
    return ORIGIN, NO_VERTEX


def segment_support(half_length: float) -> LocalSupport:
    """A segment along z: the core of a capsule."""

    def support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        return (0.0, 0.0, half_length if dz >= 0.0 else -half_length), NO_VERTEX

    return support


def sphere_support(radius: float) -> LocalSupport:
    """A sphere about the origin."""

    def support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        return (dx * radius, dy * radius, dz * radius), NO_VERTEX

    return support


def capsule_support(radius: float, half_length: float) -> LocalSupport:
    """A capsule along z."""

    def support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        cap = half_length if dz >= 0.0 else -half_length
        return (dx * radius, dy * radius, dz * radius + cap), NO_VERTEX

    return support


def ellipsoid_support(a: float, b: float, c: float) -> LocalSupport:
    """An ellipsoid with semi-axes a, b, c: S²d / |S d|."""

    def support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        x, y, z = dx * a, dy * b, dz * c
        square = x * x + y * y + z * z
        if square < MINVAL * MINVAL:
            return (a, 0.0, 0.0), NO_VERTEX
        inverse = 1.0 / sqrt(square)
        return (x * (inverse * a), y * (inverse * b), z * (inverse * c)), NO_VERTEX

    return support


def cylinder_support(radius: float, half_length: float) -> LocalSupport:
    """A cylinder along z: a point of the rim, or the cap's middle when the direction is the axis."""

    def support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        square = dx * dx + dy * dy
        s = radius / sqrt(square) if square >= MINVAL * MINVAL else 0.0
        return (s * dx, s * dy, half_length if dz >= 0.0 else -half_length), NO_VERTEX

    return support


def box_support(a: float, b: float, c: float) -> LocalSupport:
    """A box; a corner's number has a bit for each coordinate that is positive, x lowest."""

    def support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        x, y, z = dx >= 0.0, dy >= 0.0, dz >= 0.0
        return (a if x else -a, b if y else -b, c if z else -c), x | y << 1 | z << 2

    return support


class VertexScan:
    """The farthest of a few vertices; on a tie the one found last time, else the first."""

    __slots__ = ("last", "vertices")

    def __init__(self, vertices: Array) -> None:
        self.vertices: list[list[float]] = vertices.tolist()
        self.last = NO_VERTEX

    def __call__(self, dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        best, most = 0, LOWEST
        if self.last >= 0:
            best = self.last
            x, y, z = self.vertices[best]
            most = dx * x + dy * y + dz * z
        for i, (x, y, z) in enumerate(self.vertices):
            reach = dx * x + dy * y + dz * z
            if reach > most:
                best, most = i, reach
        self.last = best
        x, y, z = self.vertices[best]
        return (x, y, z), best


class VertexArrayScan:
    """The same for many vertices, of a mesh without hull graph."""

    __slots__ = ("last", "x", "y", "z")

    def __init__(self, vertices: Array) -> None:
        self.x, self.y, self.z = np.ascontiguousarray(vertices.T, dtype=float)
        self.last = NO_VERTEX

    def __call__(self, dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        # Not a matrix product, which may round otherwise from one vertex to the next and break ties by chance.
        with np.errstate(invalid="ignore", over="ignore"):
            reach = self.x * dx + self.y * dy + self.z * dz
        best = int(reach.argmax())
        if self.last >= 0 and not reach[best] > reach[self.last]:
            best = self.last
        self.last = best
        return (float(self.x[best]), float(self.y[best]), float(self.z[best])), best


class HullClimb:
    """The end of a steepest ascent along a hull's edges from the vertex found last time.

    It is not always the farthest vertex: mesh vertices are rounded to single precision, which leaves dents in flat
    sides, and the ascent ends at the first of them.
    """

    __slots__ = ("hull", "last")

    def __init__(self, hull: HullGraph) -> None:
        self.hull = hull
        self.last = 0

    def start(self, dx: float, dy: float, dz: float) -> float:
        """What the ascent has to exceed: the vertex it starts from counts only once it is seen from a neighbour,
        as in MuJoCo."""
        return LOWEST

    def _climb(self, dx: float, dy: float, dz: float) -> int:
        """The end of the ascent."""
        best, before, neighbours = self.last, NO_VERTEX, self.hull.neighbours
        most = self.start(dx, dy, dz)
        while best != before:
            before = best
            for end, (x, y, z) in neighbours(best):
                reach = dx * x + dy * y + dz * z
                if reach > most:
                    most, best = reach, end
        return best

    def __call__(self, dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        self.last = self._climb(dx, dy, dz)
        x, y, z = self.hull.point(self.last)
        return (x, y, z), int(self.hull.ids[self.last])


# ---- geoms ------------------------------------------------------------------------------------------------


def mesh_support(model: Model, mesh: int) -> LocalSupport:
    """The hull of a mesh, with a fresh search."""
    start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = model.mesh_vert[start : start + count]
    graph = int(model.mesh_graphadr[mesh])
    if count < HILLCLIMB_MIN:
        return VertexScan(vertices)
    if graph < 0:
        return VertexArrayScan(vertices)
    return HullClimb(hull_graph(model, mesh))


def geom_shape(model: Model, data: Data, geom: int, margin: float) -> ConvexShape:
    """A geom where the data says it is."""
    kind = int(model.geom_type[geom])
    a, b, c = model.geom_size[geom].tolist()
    position = tuple(data.geom_xpos[geom].tolist())
    matrix = data.geom_xmat[geom].ravel().tolist()
    if kind == SPHERE:
        # However a sphere is turned, its support point is the same: better without rounding there and back.
        return ConvexShape(kind, position, IDENTITY, sphere_support(a), margin, point_support, a)
    if kind == CAPSULE:
        return ConvexShape(kind, position, matrix, capsule_support(a, b), margin, segment_support(b), a)
    if kind == ELLIPSOID:
        return ConvexShape(kind, position, matrix, ellipsoid_support(a, b, c), margin)
    if kind == CYLINDER:
        return ConvexShape(kind, position, matrix, cylinder_support(a, b), margin)
    if kind == BOX:
        return ConvexShape(kind, position, matrix, box_support(a, b, c), margin)
    return ConvexShape(kind, position, matrix, mesh_support(model, int(model.geom_dataid[geom])), margin)
