"""Geoms as portal refinement sees them: as the usual convex method does but for ties.

Where a direction runs along a face, the middle of the face is the support point, and meshes are climbed from the
vertex last found or searched from the first. Compare mjccd_support in MuJoCo 3.4.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.hulls_numpy import hull_graph
from dovetail.plugins.shared.geometry.support_numpy import (
    BOX,
    CAPSULE,
    CYLINDER,
    MESH,
    NO_VERTEX,
    ConvexShape,
    HullClimb,
    LocalSupport,
    VertexArrayScan,
    geom_shape,
)
from dovetail.plugins.shared.vectors_numpy import Vector

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model


def _sign(x: float) -> float:
    return (x > 0.0) - (x < 0.0)


def centred_box(a: float, b: float, c: float) -> LocalSupport:
    """A box; along a face its middle."""

    def support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        return (_sign(dx) * a, _sign(dy) * b, _sign(dz) * c), NO_VERTEX

    return support


def centred_capsule(radius: float, half_length: float) -> LocalSupport:
    """A capsule along z; square to the axis its middle."""

    def support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        return (dx * radius, dy * radius, dz * radius + _sign(dz) * half_length), NO_VERTEX

    return support


def centred_cylinder(radius: float, half_length: float) -> LocalSupport:
    """A cylinder along z; square to the axis its middle."""

    def support(dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        across = sqrt(dx * dx + dy * dy)
        s = radius / across if across > MINVAL else 0.0
        return (dx * s, dy * s, _sign(dz) * half_length), NO_VERTEX

    return support


class FirstVertex(VertexArrayScan):
    """The first of the farthest vertices, without memory."""

    __slots__ = ()

    def __call__(self, dx: float, dy: float, dz: float) -> tuple[Vector, int]:
        self.last = NO_VERTEX
        return super().__call__(dx, dy, dz)


class WarmClimb(HullClimb):
    """Ascent in which the vertex it starts from counts at once."""

    __slots__ = ()

    def start(self, dx: float, dy: float, dz: float) -> float:
        x, y, z = self.hull.point(self.last)
        return dx * x + dy * y + dz * z


def portal_shape(model: Model, data: Data, geom: int, margin: float) -> ConvexShape:
    """A geom as portal refinement sees it."""
    shape = geom_shape(model, data, geom, margin)
    a, b, c = model.geom_size[geom].tolist()
    if shape.kind == BOX:
        shape.local = centred_box(a, b, c)
    elif shape.kind == CAPSULE:
        shape.local = centred_capsule(a, b)
    elif shape.kind == CYLINDER:
        shape.local = centred_cylinder(a, b)
    elif shape.kind == MESH:
        shape.local = _mesh(model, int(model.geom_dataid[geom]))
    return shape


def _mesh(model: Model, mesh: int) -> LocalSupport:
    """A mesh's hull by its graph, or all its vertices."""
    start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = model.mesh_vert[start : start + count]
    graph = int(model.mesh_graphadr[mesh])
    return FirstVertex(vertices) if graph < 0 else WarmClimb(hull_graph(model, mesh))
