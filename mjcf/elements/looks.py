"""What only affects how a model looks: `<visual>`, textures, materials, cameras and lights.

Built-in textures are drawn here, as MuJoCo draws them (`mjCTexture::Builtin2D`, `BuiltinCube`); reading image
files is not supported yet. Cameras and lights are placed in body frames like sites.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import LightType, TextureBuiltin, TextureRole, TextureType

from ..kinds import Vec
from ..source import Node
from ..tree import Camera, Geom, Light, Material, Site, Texture, overlay
from .mesh import read_mesh

if TYPE_CHECKING:
    from ..context import Context

Pixels = np.ndarray
"""Rows × columns × 3 bytes."""

_MAX_PIXELS = 1 << 27
"""Most pixels of one texture: 400 MB of memory."""
DEFAULT_ZNEAR = 0.01
"""Near clipping plane relative to the model's extent (visual.map.znear)."""
_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_INTRINSICS = ("focal", "focalpixel", "principal", "principalpixel")


def read_visual(context: Context, section: Node) -> None:
    """Read `<visual>`; later sections override."""
    for node in section.children:
        if node.values.get("znear", 1.0) <= 0:
            raise node.error("znear must be positive", "znear")
        context.visual.setdefault(node.tag, {}).update(node.values)


def read_asset(context: Context, section: Node) -> None:
    """Read an `<asset>` section."""
    for node in section.children:
        if node.tag in _ASSETS:
            _ASSETS[node.tag](context, node)


# textures


def _texture(context: Context, node: Node) -> None:
    texture = Texture(node=node)
    overlay(texture, {name: value for name, value in node.values.items() if name not in _FILES})
    context.add("texture", texture)
    written = [name for name in _FILES if name in node.values]
    if texture.builtin == TextureBuiltin.NONE:
        if written:
            raise node.unsupported("a texture from a file", written[0])
        raise node.error("says neither builtin nor file; write builtin=…", "name")
    if not texture.name and texture.type != TextureType.SKYBOX:
        raise node.error("a texture needs a name; add name=…")
    if texture.mark == "random" and texture.random > 0:
        raise node.unsupported('mark="random"', "mark")
    if texture.nchannel != 3:
        raise node.unsupported(f"a built-in texture of {texture.nchannel} channels", "nchannel")
    _check_texture_size(texture)
    texture.data = _flat_image(texture) if texture.type == TextureType.TWO_D else _cube_images(texture)
    texture.height = texture.data.shape[0]


def _check_texture_size(texture: Texture) -> None:
    node, flat = texture.place, texture.type == TextureType.TWO_D
    for attribute in ("width", "height") if flat else ("width",):
        if getattr(texture, attribute) < 1:
            raise node.error(f"a built-in texture needs a positive {attribute}", attribute)
    if texture.width * (texture.height if flat else 6 * texture.width) > _MAX_PIXELS:
        raise node.error("the texture is absurdly large; make it smaller", "width")


def _bytes(color: Vec) -> np.ndarray:
    """A colour as bytes, as a C cast does it: towards zero, then modulo 256."""
    return (255 * np.array(color)).astype(np.int64).astype(np.uint8)


def _blend(first: Vec, second: Vec, position: np.ndarray) -> Pixels:
    """Between two colours by a sigmoid of a position in −1…1: +1 is the first colour."""
    weight = np.clip(0.5 * (1 + position / np.sqrt(1 + position**2) * math.sqrt(2)), 0.0, 1.0)[..., None]
    return (255 * (weight * np.array(first) + (1 - weight) * np.array(second))).astype(np.uint8)


def _grid(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixel coordinates from −1 to 1, y upwards."""
    x = 2 * np.arange(width) / max(width - 1, 1) - 1
    y = 1 - 2 * np.arange(height) / max(height - 1, 1)
    return x[None, :], y[:, None]


def _checker(height: int, width: int, first: Vec, second: Vec) -> Pixels:
    below, right = np.arange(height) >= height // 2, np.arange(width) >= width // 2
    same = below[:, None] == right[None, :]
    return np.where(same[..., None], _bytes(first), _bytes(second)).astype(np.uint8)


def _flat_image(texture: Texture) -> Pixels:
    height, width = texture.height, texture.width
    if texture.builtin == TextureBuiltin.CHECKER:
        image = _checker(height, width, texture.rgb1, texture.rgb2)
    elif texture.builtin == TextureBuiltin.GRADIENT:
        x, y = _grid(height, width)
        image = _blend(texture.rgb2, texture.rgb1, 2 * np.sqrt(x * x + y * y) - 1)
    else:
        image = np.broadcast_to(_bytes(texture.rgb1), (height, width, 3)).copy()
    return _marked(image, texture)


def _cube_images(texture: Texture) -> Pixels:
    """Six square faces one below the other: right, left, up, down, front, back."""
    width, first, second = texture.width, texture.rgb1, texture.rgb2
    if texture.builtin == TextureBuiltin.CHECKER:
        plain, turned = _checker(width, width, first, second), _checker(width, width, second, first)
        faces = [plain, plain, plain, plain, turned, turned]
    elif texture.builtin == TextureBuiltin.GRADIENT:
        x, y = _grid(width, width)
        far = np.sqrt(1 + x * x + y * y)
        side = _blend(first, second, np.arcsin(y / far) / (0.5 * math.pi))
        overhead = 1 - np.arccos(1 / far) / (0.5 * math.pi)
        up, down = _blend(first, second, overhead), _blend(first, second, -overhead)
        faces = [side, side, up, down, side, side]
    else:
        face, floor = (np.broadcast_to(_bytes(color), (width, width, 3)) for color in (first, second))
        faces = [face, face, face, floor, face, face]
    return np.concatenate([_marked(face.copy(), texture) for face in faces])


def _marked(image: Pixels, texture: Texture) -> Pixels:
    color = _bytes(texture.markrgb)
    if texture.mark == "edge":
        image[[0, -1], :] = image[:, [0, -1]] = color
    elif texture.mark == "cross":
        image[:, image.shape[1] // 2] = image[image.shape[0] // 2, :] = color
    return image


# materials


def _material(context: Context, node: Node) -> None:
    material = context.defaults.of(node).make(Material)
    material.node = node
    apply_material(material, node)
    context.add("material", material)
    if not material.name:
        raise node.error("a material needs a name; add name=…")


def apply_material(material: Material, node: Node) -> None:
    """Lay a material element over a material; a plain texture is the layer with role rgb."""
    overlay(material, {name: value for name, value in node.values.items() if name != "texture"})
    layers = dict(material.layers)
    if "texture" in node.values:
        if node.children:
            raise node.children[0].error("texture and <layer> exclude each other; write one of them")
        layers = {int(TextureRole.RGB): node.values["texture"]}
    for layer in node.children:
        layers[layer.values["role"]] = layer.values["texture"]
    material.layers = layers


_ASSETS: dict[str, Callable[[Context, Node], None]] = {
    "texture": _texture,
    "material": _material,
    "mesh": read_mesh,
}


def compile_materials(context: Context) -> None:
    """Resolve the textures of materials, and the materials of geoms and sites."""
    for material in context.objects["material"]:
        ids = [-1] * len(TextureRole)
        for role, name in material.layers.items():
            ids[role] = context.find("texture", name, material.place, "texture")
        material.texid = tuple(ids)
    items: list[Geom | Site] = [*context.geoms, *context.sites]
    for item in items:
        if item.material:
            item.matid = context.find("material", item.material, item.place, "material")


# cameras and lights


def apply_camera(camera: Camera, node: Node) -> None:
    """Lay a camera element over a camera."""
    values = node.values
    lens = next((name for name in _INTRINSICS if name in values), None)
    if lens and "sensorsize" not in values:
        raise node.error(f"{lens} needs sensorsize; add it", lens)
    if "sensorsize" in values and "resolution" not in values:
        raise node.error("sensorsize needs resolution; add it", "sensorsize")
    if "sensorsize" in values and "fovy" in values:
        raise node.error("fovy and sensorsize both give the angle of view; write one", "fovy")
    if min(values.get("resolution", (0,))) < 0:
        raise node.error("the resolution cannot be negative", "resolution")
    overlay(camera, values)


def apply_light(light: Light, node: Node) -> None:
    """Lay a light element over a light; `directional` is an old way of writing the type."""
    if "directional" in node.values and "type" in node.values:
        raise node.error("type and directional both give the type; write type", "directional")
    overlay(light, {name: value for name, value in node.values.items() if name != "directional"})
    if "directional" in node.values:
        light.type = int(LightType.DIRECTIONAL if node.values["directional"] else LightType.SPOT)


def compile_lens(camera: Camera, znear: float) -> None:
    """Focal length and principal point from pixels or lengths, and the angle of view that follows.

    In single precision, like MuJoCo's (`mjCCamera::Compile`); without a sensor, the focal length is the
    distance of the near clipping plane.
    """
    if camera.fovy >= 180:
        raise camera.place.error("fovy must be below 180 degrees", "fovy")
    camera.intrinsic = (znear, znear, 0.0, 0.0)
    sensor = np.array(camera.sensorsize, np.float32)
    lengths = np.array([*camera.focal, *camera.principal], np.float32)
    pixels = np.array([*camera.focalpixel, *camera.principalpixel], np.float32)
    if not (sensor > 0).all():
        if lengths.any() or pixels.any():
            raise camera.place.error("focal and principal need a positive sensorsize", "sensorsize")
        return
    if min(camera.resolution) <= 0:
        raise camera.place.error("sensorsize needs a positive resolution", "resolution")
    density = np.tile(np.array(camera.resolution, np.float32) / sensor, 2)
    intrinsic = np.where(pixels != 0, pixels / density, lengths)
    camera.intrinsic = tuple(float(x) for x in intrinsic)
    half_angle = np.float32(math.atan2(sensor[1] / np.float32(2), intrinsic[1]))
    camera.fovy = float(half_angle) * 360 / math.pi


def find_targets(context: Context) -> None:
    """Resolve the bodies that cameras and lights look at, and the textures of lights."""
    for item in (*context.objects["camera"], *context.objects["light"]):
        if item.target:
            item.targetbodyid = context.find("body", item.target, item.place, "target")
    for light in context.objects["light"]:
        if light.texture:
            light.texid = context.find("texture", light.texture, light.place, "texture")
