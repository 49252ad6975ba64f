"""`<light>`: placed in its body's frame like a site; only affects how a model looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.enums import CamLight, LightType
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.elements.poses import FramePose, Scope
from dovetail.mjcf.geometry import rotation
from dovetail.mjcf.geometry.rotation import ORIGIN, Vec
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.quaternions_numpy import quat_rotate

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


@attrs.define(eq=False, kw_only=True)
class LightItem(Item):
    """A `<light>`."""

    mode: int = CamLight.FIXED
    target: str = ""
    texture: str = ""
    type: int = LightType.SPOT
    castshadow: bool = True
    active: bool = True
    pos: Vec = ORIGIN
    dir: Vec = (0.0, 0.0, -1.0)
    bulbradius: float = 0.02
    intensity: float = 0.0
    range: float = 10.0
    attenuation: Vec = (1.0, 0.0, 0.0)
    cutoff: float = 45.0
    exponent: float = 10.0
    ambient: Vec = ORIGIN
    diffuse: Vec = (0.7, 0.7, 0.7)
    specular: Vec = (0.3, 0.3, 0.3)
    frame: FramePose | None = None
    bodyid: int = -1
    targetbodyid: int = -1
    texid: int = -1


COLUMNS: Columns = {
    "light_mode": "mode",
    "light_bodyid": "bodyid",
    "light_targetbodyid": "targetbodyid",
    "light_type": "type",
    "light_texid": "texid",
    "light_castshadow": "castshadow",
    "light_bulbradius": "bulbradius",
    "light_intensity": "intensity",
    "light_range": "range",
    "light_active": "active",
    "light_pos": "pos",
    "light_dir": "dir",
    "light_attenuation": "attenuation",
    "light_cutoff": "cutoff",
    "light_exponent": "exponent",
    "light_ambient": "ambient",
    "light_diffuse": "diffuse",
    "light_specular": "specular",
}


def apply_light(light: LightItem, node: Node) -> None:
    """Lay a light element over a light; `directional` is an old way of writing the type."""
    if "directional" in node.values and "type" in node.values:
        raise node.error("type and directional both give the type; write type", "directional")
    overlay(light, {name: value for name, value in node.values.items() if name != "directional"})
    if "directional" in node.values:
        light.type = int(LightType.DIRECTIONAL if node.values["directional"] else LightType.SPOT)


def read_light(context: Context, node: Node, scope: Scope) -> None:
    """Read a `<light>` into its body."""
    light = context.defaults.of(node, scope.childclass).make(LightItem)
    light.node, light.frame, light.bodyid = node, scope.frame, scope.body.id
    apply_light(light, node)
    scope.body.lights.append(light)


def compile_light(light: LightItem, back: rotation.Pose | None) -> None:
    """Place and unit direction in the body's frame; `back` as in `poses.align`."""
    frame = (light.frame.pos, light.frame.quat) if light.frame else None
    for pose in (frame, back):
        if pose:
            light.pos, light.dir = rotation.point(pose, light.pos), quat_rotate(pose[1], light.dir)
    if rotation.too_short(light.dir):
        raise light.place.error("the direction has no length; write e.g. 0 0 -1", "dir")
    light.dir = rotation.normalized(light.dir)
