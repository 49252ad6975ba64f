"""Signed distance from points to geoms, negative inside: exact or as near as MuJoCo's own fields are.

Points are rows (n, 3) in the geom's frame. Outside a box, sphere, capsule or cylinder the distance is exact. Inside
a box it is measured along a direction that turns from radial to the face's normal; for an ellipsoid it is the usual
first-order estimate. A mesh has a field only if an octree of samples was compiled for it: inside a leaf the corner
values are interpolated, outside the octree's box the distance to the box adds. Compare mjc_distance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.plugins.spatial import Array

INSET = 1e-6
"""How far inside the octree's box MuJoCo moves points that are outside [m]."""


def has_field(model: Any, geom: int) -> bool:
    """Whether distances to a geom can be computed: to meshes without octree they cannot."""
    if model.geom_type[geom] == GeomType.MESH:
        return bool(model.mesh_octadr[model.geom_dataid[geom]] >= 0)
    return True


def signed_distance(model: Any, geom: int, points: Array) -> Array:
    """Distance of points in the geom's frame to its surface."""
    kind = GeomType(model.geom_type[geom])
    if kind == GeomType.MESH:
        return octree_distance(model, int(model.geom_dataid[geom]), points)
    if kind not in FIELDS:
        known = ", ".join(k.keyword for k in (*FIELDS, GeomType.MESH))
        raise ValueError(f"geom {geom} is a {kind.keyword}, which has no distance field here; known: {known}")
    return FIELDS[kind](points, model.geom_size[geom])


def norm(rows: Array) -> Array:
    length: Array = np.sqrt(np.square(rows).sum(axis=1))
    return length


def to_plane(point: Array, size: Array) -> Array:
    height: Array = point[:, 2]
    return height


def to_sphere(point: Array, size: Array) -> Array:
    return norm(point) - size[0]


def to_capsule(point: Array, size: Array) -> Array:
    from_axis = point.copy()
    from_axis[:, 2] -= np.clip(point[:, 2], -size[1], size[1])
    return norm(from_axis) - size[0]


def to_cylinder(point: Array, size: Array) -> Array:
    beyond = np.stack([norm(point[:, :2]) - size[0], np.abs(point[:, 2]) - size[1]], axis=1)
    return norm(np.maximum(beyond, 0.0)) + np.minimum(beyond.max(axis=1), 0.0)


def to_ellipsoid(point: Array, size: Array) -> Array:
    level, steepness = norm(point / size), norm(point / size**2)
    return level * (level - 1.0) / steepness


def to_box(point: Array, size: Array) -> Array:
    beyond = np.abs(point) - size
    outside = (beyond >= 0).any(axis=1)
    distance = norm(np.maximum(beyond, 0.0))
    depth = beyond[~outside]
    direction = size / depth
    direction /= norm(direction)[:, None]
    distance[~outside] = -(depth / direction).min(axis=1)
    return distance


FIELDS: Mapping[GeomType, Callable[[Array, Array], Array]] = {
    GeomType.PLANE: to_plane,
    GeomType.SPHERE: to_sphere,
    GeomType.CAPSULE: to_capsule,
    GeomType.CYLINDER: to_cylinder,
    GeomType.ELLIPSOID: to_ellipsoid,
    GeomType.BOX: to_box,
}


# ---- octrees ----------------------------------------------------------------------------------------------


def octree_distance(model: Any, mesh: int, points: Array) -> Array:
    """Distance of points in the mesh's frame to the mesh, from its octree."""
    root = int(model.mesh_octadr[mesh])
    centre, half = model.oct_aabb[root, :3], model.oct_aabb[root, 3:]
    offset = points - centre
    beyond = np.abs(offset) - half
    out = (beyond > 0).any(axis=1, keepdims=True) & (beyond >= 0)
    moved = points - np.where(out, np.where(offset > 0, 1.0, -1.0) * (beyond + INSET), 0.0)
    inside = np.array([interpolated(model, root, point) for point in moved])
    return inside + norm(np.where(out, beyond, 0.0))


def interpolated(model: Any, root: int, point: Array) -> float:
    """Value at a point in the octree's box: from the corners of the leaf it is in."""
    cell = root
    while True:
        low = model.oct_aabb[cell, :3] - model.oct_aabb[cell, 3:]
        share = (point - low) / (2.0 * model.oct_aabb[cell, 3:])
        children = model.oct_child[cell]
        if (children == -1).all():
            break
        x, y, z = (int(s >= 0.5) for s in share)
        cell = root + int(children[4 * z + 2 * y + x])
    x, y, z = np.stack([1.0 - share, share], axis=1)
    corner = z[:, None, None] * y[None, :, None] * x
    return float(corner.ravel() @ model.oct_coeff[cell])
