"""Texture coordinates for a browser, which knows flat images only: a cube is unfolded into a strip of six faces."""

from __future__ import annotations

import attrs
import numpy as np

from dovetail.contracts.enums import TextureType
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.visual.materials import (
    Appearance,
    cube_directions,
    cube_faces,
    planar_texcoords,
    texture_image,
)
from dovetail.visual.surfaces import Surface, element_size

EDGE = 0.002
"""Part of a cube's face, at each side, that is not used: mipmaps would bleed from the next one."""


def texture_of(model: Model, look: Appearance) -> Array | None:
    """The image of a material (h, w, c), a cube's faces side by side; None if it has none."""
    if look.texid < 0:
        return None
    if model.tex_type[look.texid] == TextureType.TWO_D:
        return texture_image(model, look.texid)
    faces = cube_faces(model, look.texid)
    return np.concatenate(list(faces), axis=1)


def textured(model: Model, geom: int, surface: Surface, look: Appearance) -> Surface:
    """A geom's surface with coordinates for `texture_of`."""
    if look.texid < 0:
        return surface
    kind, size = int(model.geom_type[geom]), element_size(int(model.geom_type[geom]), model.geom_size[geom])
    if model.tex_type[look.texid] != TextureType.TWO_D:
        return on_a_cube(surface, cube_directions(kind, size, surface.vertices, look))
    if surface.texcoords is not None:
        repeated = surface.texcoords * np.asarray(look.texrepeat, np.float32)
        return attrs.evolve(surface, texcoords=repeated)
    coords = planar_texcoords(kind, size, surface.vertices, look)
    return attrs.evolve(surface, texcoords=np.asarray(coords, np.float32))


def on_a_cube(surface: Surface, directions: Array) -> Surface:
    """Every triangle on the face of the cube that its middle looks at, with corners of its own."""
    corners = np.asarray(directions, float)[surface.faces]
    middle = corners.mean(axis=1)
    axis = np.argmax(np.abs(middle), axis=-1)
    sign = np.take_along_axis(middle, axis[:, None], axis=1)[:, 0] >= 0
    face = 2 * axis + ~sign
    along = np.abs(np.take_along_axis(corners, axis[:, None, None].repeat(3, 1), axis=2)[:, :, 0])
    along = np.where(along > 1e-9, along, 1e-9)
    right, down = RIGHT[face], DOWN[face]
    u = np.einsum("fcx,fx->fc", corners, right) / along
    v = np.einsum("fcx,fx->fc", corners, down) / along
    inside = np.clip((np.stack([u, v], axis=-1) + 1) / 2, EDGE, 1 - EDGE)
    inside[:, :, 0] = (inside[:, :, 0] + face[:, None]) / 6
    count = len(surface.faces)
    return Surface(
        surface.vertices[surface.faces].reshape(-1, 3),
        np.arange(3 * count, dtype=np.int32).reshape(-1, 3),
        surface.normals[surface.faces].reshape(-1, 3),
        inside.reshape(-1, 2).astype(np.float32),
    )


RIGHT = np.array([[0, 0, -1], [0, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0], [-1, 0, 0]], float)
DOWN = np.array([[0, -1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1], [0, -1, 0], [0, -1, 0]], float)
"""Where the columns and rows of each face's image run, OpenGL's convention: faces +x, -x, +y, -y, +z, -z."""
