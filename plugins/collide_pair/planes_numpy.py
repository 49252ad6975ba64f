"""Contacts of a plane with every other shape.

A plane is infinite here whatever its size; its normal is its z-axis. Each contact is a point of the other shape
at some height above the plane, reported halfway down. World frame. Compare mjc_PlaneSphere, mjc_PlaneCapsule,
mjc_PlaneCylinder, mjc_PlaneBox and, for ellipsoids and meshes, mjc_PlaneConvex.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from math import sqrt

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.contracts.types import Data, Model
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.hulls_numpy import hull_of
from dovetail.plugins.shared.geometry.shapes_numpy import (
    BOX_CORNERS,
    PairContact,
    Primitive,
    gather,
    of_geoms,
    primitive_of,
    z_axis,
)
from dovetail.plugins.shared.vectors_numpy import (
    Vector,
    add,
    along,
    cross,
    dot,
    norm,
    scale,
    sub,
    to_frame,
    to_world,
    unit,
)

MAX_BOX_CONTACTS = 4
"""Corners of a box that touch a plane, at most (mjc_PlaneBox)."""
MAX_MESH_CONTACTS = 3
"""Vertices of a mesh that touch a plane, at most (mjc_PlaneConvex)."""
MESH_CONTACT_SPACING = 0.3
"""How near to the first contact no other is made, as a part of the mesh's bounding radius (mjc_PlaneConvex)."""


def touching(normal: Vector, points: Iterable[tuple[Vector, float]]) -> PairContacts:
    """Contacts of points at given heights above the plane."""
    return gather(
        PairContact(height, along(point, -0.5 * height, normal), normal) for point, height in points
    )


def height_over(plane: Primitive, point: Vector) -> float:
    """Height of a point above the plane."""
    return dot(sub(point, plane.pos), z_axis(plane))


# ---- round shapes -------------------------------------------------------------------------------------------


def plane_sphere_shapes(plane: Primitive, sphere: Primitive, margin: float) -> PairContacts:
    """A plane and a sphere."""
    return _plane_balls(plane, [sphere.pos], sphere.size[0], margin)


def plane_capsule_shapes(plane: Primitive, capsule: Primitive, margin: float) -> PairContacts:
    """A plane and both ends of a capsule; the first tangent runs along the capsule."""
    axis = z_axis(capsule)
    ends = [along(capsule.pos, capsule.size[1], axis), along(capsule.pos, -capsule.size[1], axis)]
    contacts = _plane_balls(plane, ends, capsule.size[0], margin)
    return contacts._replace(tangent=np.broadcast_to(axis, contacts.pos.shape))


def _plane_balls(plane: Primitive, centres: Iterable[Vector], radius: float, margin: float) -> PairContacts:
    """A plane and spheres of equal radius."""
    normal = z_axis(plane)
    heights = ((centre, height_over(plane, centre)) for centre in centres)
    return touching(
        normal,
        (
            (along(centre, -radius, normal), height - radius)
            for centre, height in heights
            if not height > margin + radius
        ),
    )


def plane_ellipsoid_shapes(plane: Primitive, ellipsoid: Primitive, margin: float) -> PairContacts:
    """A plane and the lowest point of an ellipsoid."""
    down = to_frame(ellipsoid.mat, scale(z_axis(plane), -1.0))
    on_unit_sphere = unit(_times(down, ellipsoid.size))
    lowest = to_world(ellipsoid.mat, _times(on_unit_sphere, ellipsoid.size))
    point = add(lowest, ellipsoid.pos)
    height = height_over(plane, point)
    return NO_CONTACTS if height > margin else touching(z_axis(plane), [(point, height)])


def _times(a: Vector, b: Vector) -> Vector:
    return a[0] * b[0], a[1] * b[1], a[2] * b[2]


# ---- cylinder -----------------------------------------------------------------------------------------------


def plane_cylinder_shapes(plane: Primitive, cylinder: Primitive, margin: float) -> PairContacts:
    """A plane and up to four points of a cylinder.

    The lowest point of the lower rim comes first, then the point of the upper rim over it, then the two that
    make an equilateral triangle of the lower rim.
    """
    normal, (radius, half) = z_axis(plane), cylinder.size[:2]
    axis, slope = _pointing_down(z_axis(cylinder), normal)
    outward = _down_slope(cylinder, normal, axis, slope)
    centre, end, drop = height_over(plane, cylinder.pos), slope * half, dot(outward, normal)
    if centre + end + drop > margin:
        return NO_CONTACTS
    sideways = scale(unit(cross(outward, scale(axis, half))), radius * sqrt(3.0) / 2)
    lower, upper = along(cylinder.pos, half, axis), along(cylinder.pos, -half, axis)
    opposite = along(lower, -0.5, outward)
    first = add(lower, outward), centre + end + drop
    others = [
        (add(upper, outward), centre - end + drop),
        (add(opposite, sideways), centre + end - 0.5 * drop),
        (along(opposite, -1.0, sideways), centre + end - 0.5 * drop),
    ]
    return touching(normal, [first, *(other for other in others if other[1] <= margin)])


def _pointing_down(axis: Vector, normal: Vector) -> tuple[Vector, float]:
    """The axis turned towards the plane, and its component along the normal."""
    slope = dot(normal, axis)
    return (scale(axis, -1.0), -slope) if slope > 0 else (axis, slope)


def _down_slope(cylinder: Primitive, normal: Vector, axis: Vector, slope: float) -> Vector:
    """From the middle of a disc to the lowest point of its rim; along the cylinder's x-axis if it is level."""
    downward = sub(scale(axis, slope), normal)
    length_squared = dot(downward, downward)
    if length_squared < MINVAL * MINVAL:
        return scale((cylinder.mat[0], cylinder.mat[3], cylinder.mat[6]), cylinder.size[0])
    return scale(downward, cylinder.size[0] / sqrt(length_squared))


# ---- box ----------------------------------------------------------------------------------------------------


def plane_box_shapes(plane: Primitive, box: Primitive, margin: float) -> PairContacts:
    """A plane and the corners of a box that are below its centre, the first four of them."""
    normal, centre = z_axis(plane), height_over(plane, box.pos)
    corners = (to_world(box.mat, _times(signs, box.size)) for signs in _CORNERS)
    drops = ((corner, dot(normal, corner)) for corner in corners)
    low = [
        (add(corner, box.pos), centre + drop)
        for corner, drop in drops
        if not (drop > 0 or centre + drop > margin)
    ]
    return touching(normal, low[:MAX_BOX_CONTACTS])


_CORNERS = BOX_CORNERS.tolist()


# ---- mesh ---------------------------------------------------------------------------------------------------


def plane_mesh(model: Model, data: Data, geom1: int, geom2: int, margin: float) -> PairContacts:
    """A plane and a mesh: the lowest vertex of its hull, then neighbours of that one below the margin.

    Neighbours too near to the first contact are left out, and there are three contacts at most. A mesh without
    a hull offers all its vertices.
    """
    plane, mesh = primitive_of(model, data, geom1), primitive_of(model, data, geom2)
    normal, hull = z_axis(plane), hull_of(model, geom2)
    down = to_frame(mesh.mat, scale(normal, -1.0))
    depths = hull.points[:, 0] * down[0] + hull.points[:, 1] * down[1] + hull.points[:, 2] * down[2]
    lowest = hull.climb(depths)
    point = _vertex_in_world(mesh, hull.points[lowest])
    height = height_over(plane, point)
    if height > margin:
        return NO_CONTACTS
    first = along(point, -0.5 * height, normal)
    around = hull.neighbours(lowest)
    low = around[depths[around] > dot(normal, sub(mesh.pos, plane.pos)) - margin]
    others = (_vertex_in_world(mesh, vertex) for vertex in hull.points[low])
    apart = MESH_CONTACT_SPACING * float(model.geom_rbound[geom2])
    spaced = ((other, height_over(plane, other)) for other in others if norm(sub(other, first)) >= apart)
    return touching(normal, [(point, height), *islice(spaced, MAX_MESH_CONTACTS - 1)])


def _vertex_in_world(mesh: Primitive, vertex: Array) -> Vector:
    return add(to_world(mesh.mat, vertex.tolist()), mesh.pos)


plane_sphere = of_geoms(plane_sphere_shapes)
plane_capsule = of_geoms(plane_capsule_shapes)
plane_ellipsoid = of_geoms(plane_ellipsoid_shapes)
plane_cylinder = of_geoms(plane_cylinder_shapes)
plane_box = of_geoms(plane_box_shapes)
