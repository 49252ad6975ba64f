"""What only affects how a model looks: `<visual>`, materials, cameras and lights; and the sections of `<asset>`.

Cameras and lights are placed in body frames like sites.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import LightType, TextureRole
from dovetail.mjcf.elements.hfield import read_hfield
from dovetail.mjcf.elements.mesh import read_mesh
from dovetail.mjcf.elements.skin import read_skin
from dovetail.mjcf.elements.texture import read_texture
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.tree import Camera, Geom, Light, Material, Site, overlay

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

DEFAULT_ZNEAR = 0.01
"""Near clipping plane relative to the model's extent (visual.map.znear)."""
_INTRINSICS = ("focal", "focalpixel", "principal", "principalpixel")


def read_visual(context: Context, section: Node) -> None:
    """Read `<visual>`; later sections override."""
    for node in section.children:
        for name in ("znear", "realtime"):
            if node.values.get(name, 1.0) <= 0:
                raise node.error(f"{name} must be positive", name)
        context.visual.setdefault(node.tag, {}).update(node.values)


def read_asset(context: Context, section: Node) -> None:
    """Read an `<asset>` section."""
    for node in section.children:
        if node.tag in _ASSETS:
            _ASSETS[node.tag](context, node)


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
        if node.values["texture"]:  # an empty name says nothing
            layers = {int(TextureRole.RGB): node.values["texture"]}
    for layer in node.children:
        layers[layer.values["role"]] = layer.values["texture"]
    material.layers = layers


_ASSETS: dict[str, Callable[[Context, Node], None]] = {
    "texture": read_texture,
    "material": _material,
    "mesh": read_mesh,
    "hfield": read_hfield,
    "skin": read_skin,
}


def compile_materials(context: Context) -> None:
    """Resolve the textures of materials, and the materials of geoms and sites."""
    for material in context.objects["material"]:
        ids = [-1] * len(TextureRole)
        for role, name in material.layers.items():
            ids[role] = -1 if not name else context.find("texture", name, material.place, "texture")
        material.texid = tuple(ids)
    items: list[Geom | Site] = [*context.geoms, *context.sites]
    for item in items:
        if item.material:
            if isinstance(item, Site) and "material" not in item.place.values:
                # as in MuJoCo 3.4, both names of the material that an attached site takes from its class must exist
                context.find(
                    "material", item.material.removeprefix(item.place.prefix), item.place, "material"
                )
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
