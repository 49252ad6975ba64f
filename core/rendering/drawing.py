"""What a picture is made of, as plain arrays: elements, surfaces, lights, views.

Elements of all worlds of a batch lie one behind the other, sorted by world; `first` says where each world begins.
Both ray casters, the NumPy one and the one in C, read these arrays and nothing else.
"""

from __future__ import annotations

from enum import IntEnum

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.rendering.textures import Textures
from dovetail.rendering.trees import Forest


class Kind(IntEnum):
    """Shapes that rays are cast at; everything else is a surface of triangles. Numbers are those of `GeomType`."""

    PLANE = 0
    SPHERE = 2
    CAPSULE = 3
    ELLIPSOID = 4
    CYLINDER = 5
    BOX = 6
    SURFACE = 7


class TextureUse(IntEnum):
    """How a texture is laid on an element."""

    NONE = 0
    ALONG_Z = 1
    """The image lies in the element's x-y plane."""
    OWN = 2
    """The triangles have coordinates."""
    CUBE = 3
    """Looked up by direction from the element's centre."""


OPAQUE = 0.999
"""From this opacity on an element hides what is behind it."""


@attrs.define(eq=False)
class Elements:
    """Everything that is drawn, n of them; numbers are double where a camera far away would cost digits."""

    first: Array
    """Of each world (nworld + 1): its elements are first[w]:first[w + 1]."""
    kind: Array
    size: Array
    """(n, 3) as a geom's; for surfaces the factors by which they are stretched."""
    pos: Array
    """(n, 3)"""
    mat: Array
    """(n, 3, 3) rotations."""
    surface: Array
    """Number in the forest; -1 for shapes."""
    two_sided: Array
    """Whether surfaces are seen from behind."""
    rgba: Array
    """(n, 4) single precision."""
    gloss: Array
    """(n, 4): emission, specular, shininess, reflectance."""
    texture: Array
    texture_use: Array
    texture_scale: Array
    """(n, 3): texture coordinates per length, or per coordinate of their own."""
    object: Array
    """(n, 2): number and type of the object; -1, -1 for marks that segmentation leaves out."""
    segmented: Array
    """Whether depth and segmentation show it."""

    @property
    def world(self) -> Array:
        """The world of each element."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def take(self, order: Array) -> Elements:
        """Elements in another order, or some of them, with the same beginnings."""
        columns = {f.name: getattr(self, f.name)[order] for f in attrs.fields(Elements) if f.name != "first"}
        return Elements(first=self.first, **columns)


@attrs.define(eq=False)
class Views:
    """The camera of each world."""

    pos: Array
    """(nworld, 3), double."""
    axes: Array
    """(nworld, 3, 3): rows are right, up, forward."""
    window: Array
    """(nworld, 4): left, right, bottom, top of the picture one length in front of the camera; of an orthographic
    camera, at any distance."""
    orthographic: Array
    near: Array
    far: Array


@attrs.define(eq=False)
class Lights:
    """Lights of all worlds, `first` as with elements."""

    first: Array
    directional: Array
    pos: Array
    """(n, 3), double."""
    dir: Array
    """(n, 3) unit vectors away from the light."""
    ambient: Array
    diffuse: Array
    specular: Array
    attenuation: Array
    cutoff: Array
    """Cosine of the half angle of the cone; -1 shines everywhere."""
    exponent: Array
    castshadow: Array


@attrs.define(eq=False)
class Background:
    """What is seen where nothing is."""

    skybox: int = -1
    """Texture, or -1."""


@attrs.define(eq=False)
class Drawing:
    """All that a ray caster needs to know of a batch of worlds."""

    elements: Elements
    forest: Forest
    textures: Textures
    lights: Lights
    views: Views
    background: Background
    samples: int
    """Rays through a pixel where neighbours differ; 1: never more than one."""

    @property
    def nworld(self) -> int:
        return len(self.elements.first) - 1
