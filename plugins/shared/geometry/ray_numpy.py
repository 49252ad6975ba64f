"""Which geom a ray meets first, and how far away.

A ray is point + x·vector with x ≥ 0, in the world frame; results are x, or −1 and geom −1 if it meets nothing.
Geoms are seen as they are drawn: not those of `bodyexclude`, nor transparent ones (alpha zero, of the material if
there is one), nor those whose group `geomgroup` (six flags) leaves out, nor without `flg_static` those fixed in
the world. Planes end where they are drawn to end. To geoms of type sdf the result is a length, whatever the vector's.
Poses come from the stage kinematics.

Compare mj_ray, mj_multiRay, mju_rayGeom, mj_rayMesh and mj_rayHfield. Deviation: to save work mj_multiRay passes
over geoms by angles that do not always enclose them, and so misses some hits that mj_ray finds; `multi_ray`
finds what `ray` finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.named import Which
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.errors import ArgumentError
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry import ray_fields_numpy, ray_surfaces_numpy
from dovetail.plugins.shared.geometry.ray_shapes_numpy import SHAPES, in_frame

NGROUP = 6
"""Geom groups (mjNGROUP); a geom's group number is moved into their range."""

_SURFACES = {GeomType.MESH: ray_surfaces_numpy.mesh, GeomType.HFIELD: ray_surfaces_numpy.hfield}


def ray(
    model: ModelLike,
    data: DataLike,
    pnt: Array | Sequence[float],
    vec: Array | Sequence[float],
    geomgroup: Array | Sequence[int] | None = None,
    flg_static: bool = True,
    bodyexclude: Which = -1,
) -> tuple[float, int]:
    """Distance along a ray to the nearest visible geom, and the geom (mj_ray)."""
    vectors = np.asarray(vec, float).reshape(1, 3)
    distance, geom = multi_ray(model, data, pnt, vectors, geomgroup, flg_static, bodyexclude)
    return float(distance[0]), int(geom[0])


def multi_ray(
    model: ModelLike,
    data: DataLike,
    pnt: Array | Sequence[float],
    vec: Array | Sequence[Sequence[float]],
    geomgroup: Array | Sequence[int] | None = None,
    flg_static: bool = True,
    bodyexclude: Which = -1,
    cutoff: float = np.inf,
) -> tuple[Array, Array]:
    """Distances (n,) and geoms (n,) of rays from one point along vectors (n, 3) (mj_multiRay).

    A geom is passed over if its bounding sphere is farther away than `cutoff`; for a plane that is its centre.
    """
    point, vectors = np.asarray(pnt, float).reshape(3), np.asarray(vec, float).reshape(-1, 3)
    _check_vectors(vectors)
    distance, geom = np.full(len(vectors), np.inf), np.full(len(vectors), -1)
    seen = visible(model, geomgroup, flg_static, bodyexclude)
    seen &= np.linalg.norm(data.geom_xpos - point, axis=1) <= cutoff + model.geom_rbound
    for candidate in np.flatnonzero(seen).tolist():
        new = _geom_distances(model, data, candidate, point, vectors)
        nearer = new < distance
        distance[nearer], geom[nearer] = new[nearer], candidate
    return np.where(geom < 0, -1.0, distance), geom


def visible(
    model: ModelLike, geomgroup: Array | Sequence[int] | None, flg_static: bool, bodyexclude: Which
) -> Array:
    """Which geoms (ngeom,) a ray can meet."""
    material = model.geom_matid
    alpha = model.geom_rgba[:, 3].copy()
    alpha[material >= 0] = model.mat_rgba[material[material >= 0], 3]
    seen: Array = (model.geom_bodyid != bodyexclude) & (alpha != 0)
    if not flg_static:
        seen &= model.body_weldid[model.geom_bodyid] != 0
    if geomgroup is not None:
        seen &= np.asarray(geomgroup, bool)[np.clip(model.geom_group, 0, NGROUP - 1)]
    return seen


def ray_geom(
    pos: Array,
    mat: Array,
    size: Array,
    pnt: Array | Sequence[float],
    vec: Array | Sequence[float],
    geomtype: int,
) -> float:
    """Distance along a ray to a primitive shape at a pose (mju_rayGeom)."""
    kind = GeomType(geomtype)
    if kind not in SHAPES:
        names = ", ".join(known.keyword for known in SHAPES)
        raise ValueError(f"type {kind.keyword} is no primitive shape; ray_geom knows {names}")
    vectors = np.asarray(vec, float).reshape(1, 3)
    _check_vectors(vectors)
    point, vector = in_frame(np.asarray(pos), np.asarray(mat), np.asarray(pnt, float).reshape(1, 3), vectors)
    return _or_miss(SHAPES[kind](point, vector, np.asarray(size, float))[0])


def ray_mesh(
    model: ModelLike, data: DataLike, geomid: int, pnt: Array | Sequence[float], vec: Array | Sequence[float]
) -> float:
    """Distance along a ray to the faces of a mesh geom (mj_rayMesh)."""
    return _ray_surface(model, data, geomid, pnt, vec, GeomType.MESH)


def ray_hfield(
    model: ModelLike, data: DataLike, geomid: int, pnt: Array | Sequence[float], vec: Array | Sequence[float]
) -> float:
    """Distance along a ray to a height field geom (mj_rayHfield)."""
    return _ray_surface(model, data, geomid, pnt, vec, GeomType.HFIELD)


def _ray_surface(model: ModelLike, data: DataLike, geom: int, pnt: Any, vec: Any, kind: GeomType) -> float:
    found = GeomType(model.geom_type[geom])
    if found != kind:
        raise ValueError(f"geom {geom} has type {found.keyword}, not {kind.keyword}")
    vectors = np.asarray(vec, float).reshape(1, 3)
    _check_vectors(vectors)
    return _or_miss(_geom_distances(model, data, geom, np.asarray(pnt, float).reshape(3), vectors)[0])


def _geom_distances(model: ModelLike, data: DataLike, geom: int, point: Array, vectors: Array) -> Array:
    """Distances (n,) along rays from a point to one geom, infinite where they miss it."""
    kind = GeomType(model.geom_type[geom])
    origin, directions = in_frame(data.geom_xpos[geom], data.geom_xmat[geom], point, vectors)
    if kind in SHAPES:
        origins = np.broadcast_to(origin, directions.shape)
        return SHAPES[kind](origins, directions, model.geom_size[geom])
    if kind == GeomType.SDF:
        return ray_fields_numpy.sdf(model, data, geom, np.broadcast_to(origin, directions.shape), directions)
    surface = _SURFACES[kind]
    return np.array([surface(model, geom, origin, direction) for direction in directions])


def _check_vectors(vectors: Array) -> None:
    short = np.flatnonzero(np.linalg.norm(vectors, axis=1) < MINVAL)
    if len(short):
        raise ArgumentError(f"ray {short[0]} has no direction: its vector {vectors[short[0]]} is too short")


def _or_miss(distance: float) -> float:
    return float(distance) if np.isfinite(distance) else -1.0
