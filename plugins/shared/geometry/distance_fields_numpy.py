"""Signed distance from points to geoms, negative inside, and its gradient: as MuJoCo's own fields are.

Points are rows (n, 3) in the geom's frame. Outside a box, sphere, capsule or cylinder the distance is exact. Inside
a box it is measured along a direction that turns from radial to the face's normal; for an ellipsoid it is the usual
first-order estimate. A mesh has a field only if an octree of samples was compiled for it (see `octree`). Gradients
point away from the surface; where there is none (at the centre of a sphere) they are not numbers. Compare
mjc_distance and mjc_gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.vectors_numpy import norm_rows, unit_rows

PointsAndSize: TypeAlias = Callable[[Array, Array], Array]

FAR = 1e10
"""mjMAXVAL: lengths are divided by at least its inverse."""


def has_field(model: ModelLike, geom: int) -> bool:
    """Whether distances to a geom can be computed: to meshes without octree they cannot."""
    if model.geom_type[geom] == GeomType.MESH:
        return bool(model.mesh_octadr[model.geom_dataid[geom]] >= 0)
    return True


def direction(rows: Array) -> Array:
    """Rows by their length; not numbers where they have none."""
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Array = rows / norm_rows(rows)[:, None]
    return result


# ---- plane, sphere, capsule, ellipsoid --------------------------------------------------------------------


def to_plane(point: Array, size: Array) -> Array:
    height: Array = point[:, 2]
    return height


def from_plane(point: Array, size: Array) -> Array:
    return np.broadcast_to([0.0, 0.0, 1.0], point.shape)


def to_sphere(point: Array, size: Array) -> Array:
    return norm_rows(point) - size[0]


def from_sphere(point: Array, size: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Array = point * (1.0 / norm_rows(point))[:, None]
    return result


def to_capsule(point: Array, size: Array) -> Array:
    return norm_rows(from_axis(point, size)) - size[0]


def from_capsule(point: Array, size: Array) -> Array:
    return direction(from_axis(point, size))


def from_axis(point: Array, size: Array) -> Array:
    """From the nearest point of a capsule's axis."""
    offset = point.copy()
    offset[:, 2] -= np.clip(point[:, 2], -size[1], size[1])
    return offset


def to_ellipsoid(point: Array, size: Array) -> Array:
    level, steepness = norm_rows(point / size), norm_rows(point / size / size)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Array = level * (level - 1.0) / steepness
    return result


def from_ellipsoid(point: Array, size: Array) -> Array:
    """Derivative of level·(level − 1)/steepness, at unit length."""
    outward = point / size / size
    level, steepness = norm_rows(point / size)[:, None], norm_rows(outward)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        by_level = (2.0 * level - 1.0) * (1.0 / steepness)
        by_steepness = level * (level - 1.0) * (1.0 / steepness) * (1.0 / steepness)
        level_slope = outward * (1.0 / level)
        steepness_slope = outward * (1.0 / steepness) / (size * size)
        return unit_rows(level_slope * by_level - steepness_slope * by_steepness)


# ---- cylinder ---------------------------------------------------------------------------------------------


def beyond_cylinder(point: Array, size: Array) -> Array:
    """How far points are beyond the side and beyond the caps (n, 2)."""
    return np.stack([norm_rows(point[:, :2]) - size[0], np.abs(point[:, 2]) - size[1]], axis=1)


def to_cylinder(point: Array, size: Array) -> Array:
    beyond = beyond_cylinder(point, size)
    return norm_rows(np.maximum(beyond, 0.0)) + np.minimum(beyond.max(axis=1), 0.0)


def from_cylinder(point: Array, size: Array) -> Array:
    """Inside along the nearer of radius and axis; outside from the nearest point."""
    beyond = beyond_cylinder(point, size)
    radial = point[:, :2] / np.maximum(norm_rows(point[:, :2]), 1.0 / FAR)[:, None]
    axial = point[:, 2] / np.maximum(np.abs(point[:, 2]), 1.0 / FAR)
    side = beyond[:, 0] > beyond[:, 1]
    inside = beyond.max(axis=1) < 0
    positive = np.maximum(beyond, 0.0)
    weight = np.where(inside[:, None], np.stack([side, ~side], axis=1), positive)
    length = np.where(inside, 1.0, np.maximum(norm_rows(positive), 1.0 / FAR))
    slope = np.concatenate([radial * weight[:, :1], (axial * weight[:, 1])[:, None]], axis=1)
    return slope / length[:, None]


# ---- box --------------------------------------------------------------------------------------------------


def to_box(point: Array, size: Array) -> Array:
    beyond = np.abs(point) - size
    outside = (beyond >= 0).any(axis=1)
    distance = norm_rows(np.maximum(beyond, 0.0))
    depth = beyond[~outside]
    towards = towards_face(depth, size)
    distance[~outside] = (depth / towards).max(axis=1) * norm_rows(towards)
    return distance


def from_box(point: Array, size: Array) -> Array:
    beyond = np.abs(point) - size
    inside = (beyond < 0).all(axis=1)
    outer = np.maximum(beyond, 0.0)
    outer /= np.maximum(norm_rows(outer), np.finfo(float).tiny)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        result = np.where(beyond > 0, outer * point / np.abs(point), 0.0)
    inner = towards_face(beyond[inside], size)
    result[inside] = np.where(point[inside] < 0, -inner, inner)
    return result


def towards_face(depth: Array, size: Array) -> Array:
    """The direction along which depth (negative) inside a box is measured, for points with positive coordinates."""
    return unit_rows(-size / depth)


# ---- by type ----------------------------------------------------------------------------------------------


class DistanceField(NamedTuple):
    """Distance (n,) and gradient (n, 3) at points (n, 3), for geoms of a size."""

    distance: PointsAndSize
    gradient: PointsAndSize


FIELDS: Mapping[GeomType, DistanceField] = {
    GeomType.PLANE: DistanceField(to_plane, from_plane),
    GeomType.SPHERE: DistanceField(to_sphere, from_sphere),
    GeomType.CAPSULE: DistanceField(to_capsule, from_capsule),
    GeomType.CYLINDER: DistanceField(to_cylinder, from_cylinder),
    GeomType.ELLIPSOID: DistanceField(to_ellipsoid, from_ellipsoid),
    GeomType.BOX: DistanceField(to_box, from_box),
}
