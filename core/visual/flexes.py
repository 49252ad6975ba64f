"""Flexes as triangles in the world: cloths with their thickness, solids by their surface or by their elements.

With the flag FLEXSKIN a surface is drawn with both of its sides, a radius away from the vertices, and closed at its
border; a solid by its outer fragments. With FLEXFACE alone the elements themselves are drawn, of a solid those of the
layer `flex_layer`. Lines have no triangles: their vertices and edges are drawn as balls and rods of the radius.
Compare mjv_updateScene's flexvert, flexface, flexnormal.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.visual.elements import in_groups
from dovetail.visual.options import VisFlag, VisualOptions
from dovetail.visual.surfaces import Surface, face_normals, smooth_normals

TETRAHEDRON = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])
"""Sides of a tetrahedron by its corners."""


@attrs.frozen(eq=False)
class FlexSurface:
    """A flex as it is bent."""

    flexid: int
    surface: Surface
    """Triangles, each with corners of its own; none for lines."""
    vertices: Array
    """Positions of its vertices in the world (n, 3)."""
    edges: Array
    """Two vertices per edge (m, 2)."""
    radius: float
    """Radius of the balls and rods by which vertices and edges are drawn."""
    shows_vertices: bool
    shows_edges: bool


def flex_surfaces(model: Any, data: Any, options: VisualOptions) -> list[FlexSurface]:
    """The flexes of the groups that are drawn."""
    if not model.nflex:
        return []
    chosen = np.flatnonzero(in_groups(options.flexgroup, model.flex_group))
    return [flex_surface(model, data, int(flex), options) for flex in chosen]


def flex_surface(model: Any, data: Any, flex: int, options: VisualOptions | None = None) -> FlexSurface:
    """One flex, drawn as options say."""
    shown = options or VisualOptions()
    first, count = int(model.flex_vertadr[flex]), int(model.flex_vertnum[flex])
    edge, edges = int(model.flex_edgeadr[flex]), int(model.flex_edgenum[flex])
    vertices = np.asarray(data.flexvert_xpos[first : first + count], float)
    return FlexSurface(
        flex,
        _triangles(model, flex, vertices, shown),
        vertices.astype(np.float32),
        np.array(model.flex_edge[edge : edge + edges], np.int32),
        float(model.flex_radius[flex]),
        shown.shows(VisFlag.FLEXVERT),
        shown.shows(VisFlag.FLEXEDGE),
    )


def _triangles(model: Any, flex: int, vertices: Array, options: VisualOptions) -> Surface:
    dim = int(model.flex_dim[flex])
    if dim == 1 or not (options.shows(VisFlag.FLEXSKIN) or options.shows(VisFlag.FLEXFACE)):
        return _corners(model, flex, np.zeros((0, 3), int), np.zeros((0, 3, 3)), np.zeros((0, 3, 3)))
    if options.shows(VisFlag.FLEXSKIN):
        return _cloth(model, flex, vertices) if dim == 2 else _solid(model, flex, vertices)
    faces = elements(model, flex)
    if dim == 3:
        start = int(model.flex_elemadr[flex])
        layer = np.asarray(model.flex_elemlayer[start : start + len(faces)])
        faces = faces[layer == options.flex_layer][:, TETRAHEDRON].reshape(-1, 3)
    else:
        faces = np.stack([faces, faces[:, [0, 2, 1]]], axis=1).reshape(-1, 3)
    normals = _flat(vertices[faces])
    return _corners(model, flex, faces, vertices[faces] + float(model.flex_radius[flex]) * normals, normals)


def elements(model: Any, flex: int) -> Array:
    """Vertices of a flex's elements, counted inside the flex."""
    corners, start = int(model.flex_dim[flex]) + 1, int(model.flex_elemdataadr[flex])
    number = int(model.flex_elemnum[flex])
    return np.asarray(model.flex_elem[start : start + corners * number]).reshape(number, corners)


def fragments(model: Any, flex: int) -> Array:
    """Vertices of the outer fragments: border edges of a surface, outer triangles of a solid."""
    corners, start = int(model.flex_dim[flex]), int(model.flex_shelldataadr[flex])
    number = int(model.flex_shellnum[flex])
    return np.asarray(model.flex_shell[start : start + corners * number]).reshape(number, corners)


def _cloth(model: Any, flex: int, vertices: Array) -> Surface:
    """Front and back of each triangle in turn, then the border, two triangles an edge."""
    front, border = elements(model, flex), fragments(model, flex)
    normals = smooth_normals(vertices, front, by_area=False).astype(float)
    lift = float(model.flex_radius[flex]) * normals
    back = front[:, [0, 2, 1]]
    above, below = vertices + lift, vertices - lift
    start, end = border[:, 0], border[:, 1]
    sides = np.stack(
        [
            np.stack([above[start], below[end], above[end]], axis=1),
            np.stack([below[end], above[start], below[start]], axis=1),
        ],
        axis=1,
    ).reshape(-1, 3, 3)
    both = np.stack([above[front], below[back]], axis=1).reshape(-1, 3, 3)
    pointing = np.stack([normals[front], -normals[back]], axis=1).reshape(-1, 3, 3)
    if model.flex_flatskin[flex]:
        pointing = _flat(np.stack([vertices[front], vertices[back]], axis=1).reshape(-1, 3, 3))
    along = vertices[end] - vertices[start]
    outward = np.stack([np.cross(along, normals[end]), np.cross(along, normals[start])], axis=1).reshape(
        -1, 1, 3
    )
    outward = np.repeat(
        outward / np.maximum(np.linalg.norm(outward, axis=-1, keepdims=True), 1e-15), 3, axis=1
    )
    ids = np.concatenate(
        [
            np.stack([front, back], axis=1).reshape(-1, 3),
            np.stack([border[:, [0, 1, 1]], border[:, [1, 0, 0]]], axis=1).reshape(-1, 3),
        ]
    )
    return _corners(model, flex, ids, np.concatenate([both, sides]), np.concatenate([pointing, outward]))


def _solid(model: Any, flex: int, vertices: Array) -> Surface:
    """The outer triangles, a radius further out."""
    faces = fragments(model, flex)
    normals = smooth_normals(vertices, faces, by_area=False).astype(float)
    lifted = (vertices + float(model.flex_radius[flex]) * normals)[faces]
    pointing = _flat(vertices[faces]) if model.flex_flatskin[flex] else normals[faces]
    return _corners(model, flex, faces, lifted, pointing)


def _flat(triangles: Array) -> Array:
    """The normal of each triangle's plane at its three corners."""
    return np.repeat(face_normals(triangles)[:, None], 3, axis=1)


def _corners(model: Any, flex: int, ids: Array, triangles: Array, normals: Array) -> Surface:
    """A surface whose triangles share no corner; `ids` are the vertices that corners belong to."""
    coords = None
    if int(model.flex_texcoordadr[flex]) >= 0:
        coords = vertex_texcoords(model, flex)[ids.reshape(-1)]
    return Surface(
        triangles.reshape(-1, 3).astype(np.float32),
        np.arange(3 * len(ids), dtype=np.int32).reshape(-1, 3),
        normals.reshape(-1, 3).astype(np.float32),
        coords,
    )


def vertex_texcoords(model: Any, flex: int) -> Array:
    """Texture coordinates by vertex; of a vertex that has several those of its first element."""
    start, count = int(model.flex_elemdataadr[flex]), int(model.flex_vertnum[flex])
    members = elements(model, flex).reshape(-1)
    ids = np.asarray(model.flex_elemtexcoord[start : start + len(members)])
    chosen = np.zeros(count, int)
    chosen[members[::-1]] = ids[::-1]
    first = int(model.flex_texcoordadr[flex])
    return np.asarray(model.flex_texcoord)[first + chosen].astype(np.float32)
