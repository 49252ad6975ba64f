"""How surfaces look: colours, materials, textures.

A material gives the colour unless the object states one of its own, that is, any but the default grey. Without a
material a surface neither shines by itself nor mirrors, and has highlights of middling strength and sharpness.

Texture coordinates (u, v) count from the first row and column of the image that `texture_image` gives: v = 0 is its
first row. See `planar_texcoords` and `cube_directions` for how surfaces without coordinates of their own get them.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import GeomType, TextureRole, TextureType
from dovetail.contracts.fields import Array
from dovetail.contracts.named import object_id
from dovetail.errors import ArgumentError, UnknownIndexError

PLAIN = (0.5, 0.5, 0.5, 1.0)
"""The colour of objects that state none; any other overrides the material's."""
OPAQUE = 0.999
"""From this opacity on a surface hides what is behind it (mjr_render)."""
CUBE_FACES = ("right", "left", "up", "down", "front", "back")
"""Faces of cube textures from top to bottom of the stored image: +x, -x, +y, -y, +z, -z of the texture's frame."""


@attrs.frozen(eq=False)
class Appearance:
    """How one surface looks."""

    rgba: Array
    emission: float = 0.0
    specular: float = 0.5
    shininess: float = 0.5
    reflectance: float = 0.0
    metallic: float = -1.0
    """Negative: not stated."""
    roughness: float = -1.0
    texid: int = -1
    """Texture of the surface's colour; -1: none."""
    texrepeat: Array = attrs.field(factory=lambda: np.ones(2, np.float32))
    texuniform: bool = False
    """Whether the texture repeats per unit of length rather than per object."""
    matid: int = -1

    @property
    def transparent(self) -> bool:
        """Whether what is behind it can be seen."""
        return bool(self.rgba[3] < OPAQUE)


def material_rgba(model: Any, matid: Any, rgba: Any) -> Array:
    """Colours of objects (n, 4) from their materials (n) and own colours (n, 4): a stated colour overrides."""
    own = np.asarray(rgba, np.float32)
    material = np.asarray(matid)
    if not model.nmat:
        return own.copy()
    plain = (own == np.array(PLAIN, np.float32)).all(axis=-1)
    colours = np.asarray(model.mat_rgba)[np.maximum(material, 0)]
    chosen: Array = np.where(((material >= 0) & plain)[..., None], colours, own)
    return chosen


def appearance(model: Any, matid: int, rgba: Any = PLAIN) -> Appearance:
    """How a surface with a material (-1: none) and a colour of its own looks."""
    if not -1 <= matid < model.nmat:
        raise UnknownIndexError(f"there is no material {matid}: the model has {model.nmat}, and -1 is none")
    colour = material_rgba(model, matid, rgba)
    if matid < 0:
        return Appearance(colour)
    return Appearance(
        colour,
        float(model.mat_emission[matid]),
        float(model.mat_specular[matid]),
        float(model.mat_shininess[matid]),
        float(model.mat_reflectance[matid]),
        float(model.mat_metallic[matid]),
        float(model.mat_roughness[matid]),
        colour_texture(model, matid),
        np.array(model.mat_texrepeat[matid], np.float32),
        bool(model.mat_texuniform[matid]),
        matid,
    )


def colour_texture(model: Any, matid: int) -> int:
    """The texture that colours a material: of the role RGB, else RGBA; -1: none."""
    for role in (TextureRole.RGB, TextureRole.RGBA):
        texid = int(model.mat_texid[matid, role])
        if texid >= 0:
            return texid
    return -1


def texture_image(model: Any, texid: int | str) -> Array:
    """The pixels of a texture, (height, width, channels), as stored: faces of a cube one below the other."""
    number = object_id(model, "texture", texid) if hasattr(model, "object_names") else int(texid)
    if not 0 <= number < model.ntex:
        raise UnknownIndexError(f"there is no texture {texid}: the model has {model.ntex}")
    height, width = int(model.tex_height[number]), int(model.tex_width[number])
    channels, start = int(model.tex_nchannel[number]), int(model.tex_adr[number])
    pixels = np.asarray(model.tex_data[start : start + height * width * channels])
    return pixels.reshape(height, width, channels)


def cube_faces(model: Any, texid: int | str) -> Array:
    """The faces of a cube or skybox texture, (6, width, width, channels), in the order of `CUBE_FACES`. A square
    image alone is every face."""
    image = texture_image(model, texid)
    height, width, channels = image.shape
    if height == 6 * width:
        return image.reshape(6, width, width, channels)
    if height == width:
        return np.broadcast_to(image, (6, width, width, channels))
    raise ArgumentError(f"texture {texid} has {height} rows and {width} columns: it is no cube")


def skybox(model: Any) -> int:
    """The texture of the sky: the first of that type; -1: none."""
    found = np.flatnonzero(np.asarray(model.tex_type) == TextureType.SKYBOX)
    return int(found[0]) if len(found) else -1


def planar_texcoords(kind: int, size: Any, points: Any, look: Appearance) -> Array:
    """Coordinates (u, v) of a 2d texture at points (…, 3) in the frame of a shape that has none of its own: the image
    is laid along the shape's z axis over its extent in x and y, `texrepeat` times, or that often per two units of
    length if `texuniform` or if a plane has no end. `size` is an element's."""
    place = np.asarray(points, float)[..., :2]
    extent = np.asarray(size, float)[:2]
    repeat = np.asarray(look.texrepeat, float)
    scale = repeat / 2 if look.texuniform else repeat / (2 * np.where(extent > 0, extent, 1.0))
    coords: Array = place * scale * np.array([1.0, -1.0]) - 0.5
    return coords


def cube_directions(kind: int, size: Any, points: Any, look: Appearance) -> Array:
    """Directions in which a cube texture is looked up at points (…, 3) in the frame of a shape: from the shape's
    middle through the point, after the shape is scaled to size one, unless `texuniform`; without `texrepeat`."""
    place = np.asarray(points, float)
    extent = np.asarray(size, float)
    if look.texuniform or int(kind) == GeomType.PLANE:
        return place
    directions: Array = place / np.where(extent > 0, extent, 1.0)
    return directions


def cube_lookup(directions: Any) -> tuple[Array, Array]:
    """Face (…) and coordinates (…, 2) on it at which directions (…, 3) meet a cube texture: OpenGL's convention.
    Faces are counted as in `CUBE_FACES`."""
    ray = np.asarray(directions, float)
    axis = np.abs(ray).argmax(axis=-1)
    largest = np.take_along_axis(ray, axis[..., None], axis=-1)[..., 0]
    face = 2 * axis + (largest < 0)
    x, y, z = np.moveaxis(ray, -1, 0)
    across = np.choose(face, [-z, z, x, x, x, -x])
    down = np.choose(face, [-y, -y, z, -z, -y, -y])
    length = np.maximum(np.abs(largest), 1e-15)
    return face, np.stack([across / length, down / length], axis=-1) / 2 + 0.5
