"""Contacts of convex geoms by portal refinement: what MuJoCo does with the flag nativeccd off.

Shapes are as for the usual method but for ties: where a direction runs along a face, the middle of the face is the
support point, and meshes are climbed from the vertex last found or searched from the first. One contact a pair, more
with the flag multiccd by turning the shapes; normals come from curved surfaces where there are any.

World frame. See mjc_Convex and mjccd_support in MuJoCo 3.4.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail.contracts.enums import EnableBit
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugins.collide_pair.curved_normal_numpy import curved_normal
from dovetail.plugins.collide_pair.perturbed_contacts_numpy import DISTINCT, ROUND, distinct, turned
from dovetail.plugins.collide_pair.portal_numpy import overlap
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


class Touch(NamedTuple):
    """One contact: distance without margin, place and normal."""

    distance: float
    place: Vector
    normal: Vector


# ---- supports ---------------------------------------------------------------------------------------------


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


# ---- pairs ------------------------------------------------------------------------------------------------


def portal_touch(
    model: Model, shapes: tuple[ConvexShape, ConvexShape], geoms: tuple[int, int]
) -> Touch | None:
    """The contact of two shapes that stand for two geoms, or None."""
    found = overlap(*shapes, int(model.opt.ccd_iterations), float(model.opt.ccd_tolerance))
    if found is None:
        return None
    sizes = [tuple(model.geom_size[geom].tolist()) for geom in geoms]
    normal = curved_normal(shapes, (sizes[0], sizes[1]), found.place, found.direction)
    return Touch(-found.depth, found.place, normal)


def portal_convex(model: Model, data: Data, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Contacts of two convex geoms."""
    geoms = geom1, geom2
    shapes = portal_shape(model, data, geom1, margin), portal_shape(model, data, geom2, margin)
    touch = portal_touch(model, shapes, geoms)
    if touch is None:
        return NO_CONTACTS
    touches = [touch]
    multiple = bool(int(model.opt.enableflags) & int(EnableBit.MULTICCD))
    if multiple and shapes[0].kind not in ROUND and shapes[1].kind not in ROUND:
        spacing = DISTINCT * float(model.geom_rbound[list(geoms)].min())
        for pose in turned(*shapes, touch.place, touch.normal):
            more = portal_touch(model, pose, geoms)
            if more is not None and distinct(more.place, [other.place for other in touches], spacing):
                touches.append(more)
    return PairContacts.of(
        [margin + touch.distance] * len(touches),
        np.array([touch.place for touch in touches]),
        np.array([touch.normal for touch in touches]),
    )
