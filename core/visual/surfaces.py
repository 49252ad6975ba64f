"""Surfaces as triangles: shapes, meshes and height fields in their own frames.

Shapes are made once for a number of facets and scaled to their sizes: a drawing program keeps few surfaces for many
geoms. Faces are anticlockwise seen from outside, normals are of unit length and belong to vertices, so that corners
of edges that shall look sharp are there once for each side.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.errors import ArgumentError

ARROW_HEAD_WIDTH = 1.75
"""Radius of an arrow's head in radii of its shaft; this and the next two measured in MuJoCo 3.4.0's pictures."""
ARROW_LENGTH = 0.5
"""How long an arrow is drawn, as a share of its third size."""
ARROW_HEAD = 1 / 3
"""Length of an arrow's head as a share of what is drawn."""


@attrs.frozen(eq=False)
class Surface:
    """Triangles with normals, and texture coordinates if the surface has its own."""

    vertices: Array
    """Positions (n, 3), single precision."""
    faces: Array
    """Three vertices per triangle (m, 3), anticlockwise from outside."""
    normals: Array
    """Unit normal of each vertex (n, 3)."""
    texcoords: Array | None = None
    """Texture coordinates of each vertex (n, 2), v from the first row of the image; None: none of its own."""

    def scaled(self, scale: Any) -> Surface:
        """Stretched along the three axes; normals stay normal to it."""
        factor = np.broadcast_to(np.asarray(scale, np.float32), 3)
        stretched = np.where(factor == 0, np.float32(1), factor)
        return attrs.evolve(
            self,
            vertices=self.vertices * factor,
            normals=_unit(self.normals / stretched),
        )

    def moved(self, pos: Any, mat: Any | None = None) -> Surface:
        """Turned by a rotation matrix, then moved."""
        turn = np.eye(3, dtype=np.float32) if mat is None else np.asarray(mat, np.float32).reshape(3, 3)
        return attrs.evolve(
            self,
            vertices=self.vertices @ turn.T + np.asarray(pos, np.float32),
            normals=self.normals @ turn.T,
        )

    @property
    def triangles(self) -> Array:
        """Corners of every triangle (m, 3, 3)."""
        corners: Array = self.vertices[self.faces]
        return corners


def shape_surface(
    kind: int, size: Any = (1.0, 1.0, 1.0), *, slices: int = 28, stacks: int = 16, quads: int = 4
) -> Surface:
    """The surface of a shape of a size: plane, sphere, capsule, ellipsoid, cylinder, box, an arrow of any kind, a
    line (a thin rod) or a triangle. Facets as `model.vis.quality` counts them. Sizes are those of elements of a
    scene: half lengths, but the whole length of lines; arrows are drawn half as long as their size says. A plane of
    no extent along an axis has extent one."""
    radius_x, radius_y, half = (float(x) for x in np.broadcast_to(np.asarray(size, float), 3))
    match GeomType(int(kind)):
        case GeomType.PLANE:
            return _plane(max(1, quads)).scaled((radius_x or 1.0, radius_y or 1.0, 1.0))
        case GeomType.SPHERE | GeomType.ELLIPSOID:
            return _ball(slices, stacks).scaled((radius_x, radius_y, half))
        case GeomType.CAPSULE:
            return _capsule(radius_x, half, slices, stacks)
        case GeomType.CYLINDER:
            return _cylinder(slices, stacks).scaled((radius_x, radius_y, half))
        case GeomType.BOX | GeomType.LINEBOX:
            return _box(max(1, quads)).scaled((radius_x, radius_y, half))
        case GeomType.ARROW | GeomType.ARROW1 | GeomType.ARROW2 as arrow:
            return _arrow(arrow, radius_x, half, slices)
        case GeomType.LINE:
            rod = _cylinder(3, 1).moved((0, 0, 1))
            return rod.scaled((radius_x, radius_y, half / 2))
        case GeomType.TRIANGLE:
            return _triangle().scaled((radius_x, radius_y, half))
    raise ArgumentError(
        f"{GeomType(int(kind)).name.lower()} is no shape that its size describes: take geom_surface, mesh_surface, "
        "hfield_surface, or what scene.flexes and scene.skins hold"
    )


def mesh_surface(model: Any, meshid: int, *, hull: bool = False) -> Surface:
    """A mesh, or its convex hull, in the frame of the mesh. A vertex is there once for each normal and texture
    coordinate it has; flat-shaded faces of the hull have corners of their own."""
    vertices, faces = mesh_triangles(model, meshid)
    if hull:
        return flat_surface(vertices, hull_faces(model, meshid))
    start, count = int(model.mesh_faceadr[meshid]), int(model.mesh_facenum[meshid])
    normal_ids = model.mesh_facenormal[start : start + count]
    texcoord_ids = np.zeros_like(faces)
    first = int(model.mesh_texcoordadr[meshid])
    if first >= 0:
        texcoord_ids = model.mesh_facetexcoord[start : start + count]
    corners = np.stack([faces, normal_ids, texcoord_ids], axis=-1).reshape(-1, 3)
    distinct, index = np.unique(corners, axis=0, return_inverse=True)
    normals = model.mesh_normal[int(model.mesh_normaladr[meshid]) + distinct[:, 1]]
    return Surface(
        vertices[distinct[:, 0]],
        index.reshape(-1, 3).astype(np.int32),
        np.array(normals, np.float32),
        None if first < 0 else np.array(model.mesh_texcoord[first + distinct[:, 2]], np.float32),
    )


def mesh_triangles(model: Any, meshid: int) -> tuple[Array, Array]:
    """Vertices and faces of a mesh as they are in the Model, shared between triangles."""
    first, count = int(model.mesh_vertadr[meshid]), int(model.mesh_vertnum[meshid])
    start, number = int(model.mesh_faceadr[meshid]), int(model.mesh_facenum[meshid])
    vertices = np.array(model.mesh_vert[first : first + count], np.float32)
    return vertices, np.array(model.mesh_face[start : start + number], np.int32)


def hull_faces(model: Any, meshid: int) -> Array:
    """Triangles of a mesh's convex hull, as vertices of the mesh; the mesh's own faces if it has no hull."""
    start = int(model.mesh_graphadr[meshid])
    if start < 0:
        return mesh_triangles(model, meshid)[1]
    vertices, faces = (int(x) for x in model.mesh_graph[start : start + 2])
    begin = start + 2 + 3 * vertices + 3 * faces  # after edge addresses, vertex ids and edge ends
    return np.array(model.mesh_graph[begin : begin + 3 * faces], np.int32).reshape(-1, 3)


def hfield_surface(model: Any, hfieldid: int) -> Surface:
    """A height field as a closed body: the terrain, four sides and the bottom. Texture coordinates span it once."""
    rows, columns = int(model.hfield_nrow[hfieldid]), int(model.hfield_ncol[hfieldid])
    start = int(model.hfield_adr[hfieldid])
    heights = np.asarray(model.hfield_data[start : start + rows * columns]).reshape(rows, columns)
    half_x, half_y, top, base = (float(x) for x in model.hfield_size[hfieldid])
    across, along = np.meshgrid(
        np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows), indexing="xy"
    )
    grid = np.stack([across, along, heights * top], axis=-1).astype(np.float32)
    parts = [_terrain(grid)]
    parts += [_skirt(edge, -base) for edge in (grid[0], grid[:, -1], grid[-1, ::-1], grid[::-1, 0])]
    bottom = grid[[0, 0, -1, -1], [0, -1, -1, 0]].copy()
    bottom[:, 2] = -base
    down = np.tile(np.array([0, 0, -1], np.float32), (4, 1))
    parts.append(Surface(bottom, np.array([[0, 2, 1], [0, 3, 2]], np.int32), down))
    body = joined(parts)
    span = np.array([2 * half_x, 2 * half_y], np.float32)
    return attrs.evolve(body, texcoords=body.vertices[:, :2] / span + np.float32(0.5))


def geom_surface(model: Any, geomid: int, *, hull: bool = False) -> Surface:
    """The surface of a geom in the geom's frame, as finely as `model.vis.quality` says."""
    kind, data = int(model.geom_type[geomid]), int(model.geom_dataid[geomid])
    if kind in (GeomType.MESH, GeomType.SDF) and data >= 0:
        return mesh_surface(model, data, hull=hull)
    if kind == GeomType.HFIELD:
        return hfield_surface(model, data)
    quality = model.vis.quality
    return shape_surface(
        kind,
        element_size(kind, model.geom_size[geomid]),
        slices=int(quality.numslices),
        stacks=int(quality.numstacks),
        quads=int(quality.numquads),
    )


def element_size(kind: int, size: Any) -> Array:
    """The three numbers by which an element of a scene states the size of a geom: a sphere's radius three times, a
    capsule's and a cylinder's radius twice and then its half length."""
    first, second, third = np.asarray(size, float)
    if kind == GeomType.SPHERE:
        return np.array([first, first, first])
    if kind in (GeomType.CAPSULE, GeomType.CYLINDER):
        return np.array([first, first, second])
    return np.array([first, second, third])


def flat_surface(vertices: Array, faces: Array) -> Surface:
    """Triangles with corners of their own, each with the normal of its plane."""
    corners = np.asarray(vertices, np.float32)[faces]
    normals = face_normals(corners)
    count = len(faces)
    return Surface(
        corners.reshape(-1, 3),
        np.arange(3 * count, dtype=np.int32).reshape(-1, 3),
        np.repeat(normals, 3, axis=0),
    )


def face_normals(triangles: Array) -> Array:
    """Unit normals of triangles given by their corners (m, 3, 3)."""
    return _unit(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]))


def joined(parts: list[Surface]) -> Surface:
    """Several surfaces as one, without texture coordinates."""
    starts = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    return Surface(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)]).astype(
            np.int32
        ),
        np.concatenate([part.normals for part in parts]),
    )


def _unit(vectors: Array, dtype: Any = np.float32) -> Array:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(dtype)


def _grid_faces(rows: int, columns: int) -> Array:
    """Two triangles for each cell of a grid of vertices, anticlockwise if columns go right and rows go up."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    lower = np.stack([corner, corner + 1, corner + columns + 1], axis=-1)
    upper = np.stack([corner, corner + columns + 1, corner + columns], axis=-1)
    return np.stack([lower, upper], axis=1).reshape(-1, 3).astype(np.int32)


@lru_cache(maxsize=32)
def _plane(quads: int) -> Surface:
    side = np.linspace(-1, 1, quads + 1, dtype=np.float32)
    x, y = np.meshgrid(side, side, indexing="xy")
    vertices = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    up = np.tile(np.array([0, 0, 1], np.float32), (len(vertices), 1))
    return Surface(vertices, _grid_faces(quads + 1, quads + 1), up)


@lru_cache(maxsize=32)
def _box(quads: int) -> Surface:
    side = _plane(quads).moved((0, 0, 1))
    turns = (
        np.eye(3),
        np.diag([1.0, -1.0, -1.0]),
        np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
        np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]]),
        np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
        np.array([[-1.0, 0, 0], [0, 0, 1], [0, 1, 0]]),
    )
    return joined([side.moved((0, 0, 0), turn) for turn in turns])


def _around(heights: Array, radii: Array, normals: Array, slices: int) -> Surface:
    """A surface of revolution about z from a profile that goes up; normals are (radial, axial) of the profile."""
    angle = np.linspace(0, 2 * np.pi, slices + 1)
    cosine, sine = np.cos(angle), np.sin(angle)
    cosine[-1], sine[-1] = 1.0, 0.0
    ring = np.stack([cosine, sine], axis=-1)
    vertices = np.concatenate(
        [radii[:, None, None] * ring, np.broadcast_to(heights[:, None, None], (len(heights), slices + 1, 1))],
        axis=-1,
    )
    turned = np.concatenate(
        [normals[:, :1, None] * ring, np.broadcast_to(normals[:, 1:, None], (len(heights), slices + 1, 1))],
        axis=-1,
    )
    return Surface(
        vertices.reshape(-1, 3).astype(np.float32),
        _grid_faces(len(heights), slices + 1),
        _unit(turned.reshape(-1, 3)),
    )


@lru_cache(maxsize=32)
def _ball(slices: int, stacks: int) -> Surface:
    latitude = np.linspace(-np.pi / 2, np.pi / 2, max(2, stacks) + 1)
    profile = np.stack([np.cos(latitude), np.sin(latitude)], axis=-1)
    return _around(profile[:, 1], profile[:, 0], profile, slices)


@lru_cache(maxsize=512)
def _capsule(radius: float, half: float, slices: int, stacks: int) -> Surface:
    latitude = np.linspace(0, np.pi / 2, max(1, stacks // 2) + 1)
    below, above = latitude[::-1] * -1, latitude
    profile = np.concatenate([below, above])
    normals = np.stack([np.cos(profile), np.sin(profile)], axis=-1)
    shift = np.repeat([-half, half], len(latitude))
    return _around(radius * normals[:, 1] + shift, radius * normals[:, 0], normals, slices)


@lru_cache(maxsize=32)
def _cylinder(slices: int, stacks: int) -> Surface:
    heights = np.linspace(-1, 1, max(1, stacks) + 1)
    outward = np.tile([1.0, 0.0], (len(heights), 1))
    side = _around(heights, np.ones(len(heights)), outward, slices)
    return joined([side, _disk(slices), _disk(slices, -1.0)])


@lru_cache(maxsize=32)
def _disk(slices: int, height: float = 1.0) -> Surface:
    """A disk of radius one that faces away from z = 0."""
    face = np.array([0.0, np.sign(height)])
    radii = np.array([1.0, 0.0]) if height > 0 else np.array([0.0, 1.0])
    return _around(np.full(2, height), radii, np.tile(face, (2, 1)), slices)


def _cone(slices: int, radius: float, low: float, high: float) -> Surface:
    """A cone with its tip at the height `high`, and a bottom."""
    slope = np.array([abs(high - low), radius * np.sign(high - low)])
    normals = np.tile(slope, (2, 1))
    if high > low:
        side = _around(np.array([low, high]), np.array([radius, 0.0]), normals, slices)
    else:
        side = _around(np.array([high, low]), np.array([0.0, radius]), normals, slices)
    bottom = _disk(slices, -1.0 if high > low else 1.0)
    return joined([side, bottom.scaled((radius, radius, 0)).moved((0, 0, low))])


@lru_cache(maxsize=512)
def _arrow(kind: int, radius: float, length: float, slices: int) -> Surface:
    """An arrow from the origin along z, half as long as its size says; ARROW1 has a head no wider than its shaft,
    ARROW2 a second one the other way, as far again."""
    tip = ARROW_LENGTH * length
    base = (1 - ARROW_HEAD) * tip
    width = radius if kind == GeomType.ARROW1 else ARROW_HEAD_WIDTH * radius
    parts = [_cone(slices, width, base, tip)]
    begin = 0.0
    if kind == GeomType.ARROW2:
        begin = -base
        parts.append(_cone(slices, width, -base, -tip))
    shaft = _cylinder(slices, 1).scaled((radius, radius, (base - begin) / 2))
    return joined([*parts, shaft.moved((0, 0, (base + begin) / 2))])


@lru_cache(maxsize=1)
def _triangle() -> Surface:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    return Surface(
        vertices, np.array([[0, 1, 2]], np.int32), np.tile(np.array([0, 0, 1], np.float32), (3, 1))
    )


def _terrain(grid: Array) -> Surface:
    """The top of a height field: two triangles a cell, parted by the diagonal from the least corner."""
    rows, columns, _ = grid.shape
    faces = _grid_faces(rows, columns)
    vertices = grid.reshape(-1, 3)
    return Surface(vertices, faces, smooth_normals(vertices, faces))


def smooth_normals(vertices: Array, faces: Array, *, by_area: bool = True) -> Array:
    """Unit normals of vertices: the mean over the triangles around each, weighted by their areas or all alike."""
    corners = vertices[faces]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    if not by_area:
        areas = _unit(areas, areas.dtype)
    total = np.stack(
        [
            np.bincount(faces.reshape(-1), np.repeat(areas[:, axis], 3), minlength=len(vertices))
            for axis in range(3)
        ],
        axis=-1,
    )
    return _unit(total)


def _skirt(edge: Array, base: float) -> Surface:
    """A wall from an edge of a terrain down to its base; the edge runs anticlockwise seen from above."""
    foot = edge.copy()
    foot[:, 2] = base
    along = edge[-1] - edge[0]
    outward = _unit(np.array([[along[1], -along[0], 0.0]]))
    vertices = np.concatenate([foot, edge])
    return Surface(vertices, _grid_faces(2, len(edge)), np.repeat(outward, len(vertices), axis=0))
