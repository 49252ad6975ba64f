"""Where one ray first meets a mesh or a height field.

Both are triangles, tested all at once: seen along the ray they are flat, and the ray is a point. Rays and
vertices are in the geom's frame. Compare mj_rayMesh, mj_rayHfield and ray_triangle. Deviation: a ray that runs
exactly along a side of one of the boxes in which MuJoCo keeps the faces of a mesh can miss these faces there; here it
meets them.
"""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.ray_shapes_numpy import MISS, box_faces, dots
from dovetail.plugins.shared.vectors_numpy import along, cross, dot, unit

# ---- triangles ----------------------------------------------------------------------------------------------


def view_axes(vector: Array) -> Array:
    """Two directions (2, 3) across a ray, in which things are seen along it."""
    x, y, z = vector.tolist()
    along_ray = (x, y, z)
    steepest = int(np.argmax(np.abs(vector)))
    seed = (float(steepest != 0), float(steepest != 1), float(steepest != 2))
    up = unit(along(seed, -dot(along_ray, seed) / dot(along_ray, along_ray), along_ray))
    return np.array([unit(cross(up, along_ray)), up])


def triangles(point: Array, vector: Array, corners: Array) -> float:
    """The nearest of triangles (n, 3 corners, 3) on a ray, seen from either side.

    Sums run from left to right, so that a ray along an edge meets or misses it as in MuJoCo.
    """
    seen = dots((corners - point)[:, :, None], view_axes(vector))
    beside = np.all(seen > 0, axis=1) | np.all(seen < 0, axis=1)
    around = ~np.any(beside, axis=1)
    seen, corners = seen[around], corners[around]
    (a, c), (b, d) = ((seen[:, k] - seen[:, 2]).T for k in (0, 1))
    x, y = -seen[:, 2].T
    area = a * d - b * c
    wide = ~(np.abs(area) < MINVAL)
    scale = np.where(wide, area, 1.0)
    u, v = (d * x - b * y) / scale, (a * y - c * x) / scale
    inside = wide & ~((u < 0) | (v < 0) | (u + v > 1))
    distance = plane_distances(point, vector, corners[inside])
    return float(distance.min(initial=MISS, where=distance >= 0))


def plane_distances(point: Array, vector: Array, corners: Array) -> Array:
    """Where a ray meets the planes of triangles; −1 where it is parallel to one."""
    last = corners[:, 2]
    (ax, ay, az), (bx, by, bz) = (corners[:, 0] - last).T, (corners[:, 1] - last).T
    normal = np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)
    slope = dots(normal, vector)
    crosses = ~(np.abs(slope) < MINVAL)
    height = dots(point - last, normal)
    return np.where(crosses, -height / np.where(crosses, slope, 1.0), -1.0)


def mesh(model: ModelLike, geom: int, point: Array, vector: Array) -> float:
    """The nearest face of a geom's mesh."""
    if not np.isfinite(box_faces(point[None], vector[None], model.geom_size[geom])).any():
        return MISS
    number = int(model.geom_dataid[geom])
    first_face, first_vertex = int(model.mesh_faceadr[number]), int(model.mesh_vertadr[number])
    faces = model.mesh_face[first_face : first_face + int(model.mesh_facenum[number])]
    return triangles(point, vector, model.mesh_vert[first_vertex + faces].astype(float))


# ---- height field -------------------------------------------------------------------------------------------


class Terrain(NamedTuple):
    """A height field: heights (nrow, ncol) between 0 and 1 over a rectangle, on a base."""

    heights: Array
    half: Array
    """(2,) half sizes of the rectangle."""
    top: float
    """Height that 1 stands for."""
    base: float
    """Thickness below zero height."""

    @property
    def step(self) -> Array:
        """Distance of samples along x and y."""
        nrow, ncol = self.heights.shape
        return 2.0 * self.half / np.array([ncol - 1, nrow - 1])


def terrain_of(model: ModelLike, geom: int) -> Terrain:
    """The height field of a geom."""
    number = int(model.geom_dataid[geom])
    nrow, ncol = int(model.hfield_nrow[number]), int(model.hfield_ncol[number])
    start = int(model.hfield_adr[number])
    heights = model.hfield_data[start : start + nrow * ncol].reshape(nrow, ncol).astype(float)
    x, y, top, base = model.hfield_size[number].tolist()
    return Terrain(heights, np.array([x, y]), top, base)


def hfield(model: ModelLike, geom: int, point: Array, vector: Array) -> float:
    """The nearest of the base, the surface and the walls under its border."""
    terrain = terrain_of(model, geom)
    base = _slab(terrain, -terrain.base, point, vector).min()
    faces = _slab(terrain, terrain.top, point, vector)
    if not np.isfinite(faces).any():
        return float(base)
    surface = triangles(point, vector, _cells(terrain, point, vector, faces))
    return _nearest_wall(terrain, point, vector, faces[:4], min(float(base), surface))


def _slab(terrain: Terrain, height: float, point: Array, vector: Array) -> Array:
    """Crossings (6) of a ray with the faces of the box between zero and a height."""
    size = np.array([*terrain.half, abs(height) * 0.5])
    return box_faces((point - [0.0, 0.0, 0.5 * height])[None], vector[None], size)[0]


def _cells(terrain: Terrain, point: Array, vector: Array, faces: Array) -> Array:
    """Triangles (n, 3, 3) of the cells under the part of a ray that is in the box around the surface."""
    met = faces[np.isfinite(faces)]
    ends = [float(met.min()), float(met.max())] if met.max() > met.min() else [0.0, float(met.min())]
    places = np.array([point[:2] + x * vector[:2] + terrain.half for x in ends]) / terrain.step
    nrow, ncol = terrain.heights.shape
    low, high = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    columns = np.arange(max(0, floor(low[0]) - 1), min(ncol - 1, ceil(high[0]) + 1))
    rows = np.arange(max(0, floor(low[1]) - 1), min(nrow - 1, ceil(high[1]) + 1))
    row, column = (index.ravel() for index in np.meshgrid(rows, columns, indexing="ij"))
    near, far = _vertices(terrain, row, column), _vertices(terrain, row + 1, column + 1)
    right, left = _vertices(terrain, row, column + 1), _vertices(terrain, row + 1, column)
    return np.concatenate([np.stack([near, far, side], axis=1) for side in (right, left)])


def _vertices(terrain: Terrain, row: Array, column: Array) -> Array:
    place = terrain.step * np.stack([column, row], axis=1) - terrain.half
    return np.column_stack([place, terrain.heights[row, column] * terrain.top])


def _nearest_wall(terrain: Terrain, point: Array, vector: Array, sides: Array, best: float) -> float:
    """The nearest of `best` and the sides −x +x −y +y, which are walls up to the border of the surface."""
    borders = (terrain.heights[:, 0], terrain.heights[:, -1], terrain.heights[0], terrain.heights[-1])
    for side, (x, border) in enumerate(zip(sides.tolist(), borders, strict=True)):
        if not x < best:
            continue
        axis = 1 if side < 2 else 0
        place = (point[axis] + x * vector[axis] + terrain.half[axis]) / terrain.step[axis]
        sample = max(0, min(len(border) - 2, floor(place)))
        height = border[sample] * (sample + 1 - place) + border[sample + 1] * (place - sample)
        if (point[2] + x * vector[2]) / terrain.top < height:
            best = x
    return best
