"""`<camera>`: placed in its body's frame like a site, with a lens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dovetail.contracts.enums import CamLight
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.items import overlay
from dovetail.mjcf.elements.poses import (
    PosedItem,
    Scope,
    check_single_orientation,
    put_in_frame,
    resolve_quat,
)
from dovetail.mjcf.elements.visual import DEFAULT_ZNEAR
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context


@attrs.define(eq=False, kw_only=True)
class CameraItem(PosedItem):
    """A `<camera>`."""

    mode: int = CamLight.FIXED
    target: str = ""
    orthographic: bool = False
    fovy: float = 45.0
    ipd: float = 0.068
    resolution: tuple[int, int] = (1, 1)
    focal: Vec = (0.0, 0.0)
    focalpixel: Vec = (0.0, 0.0)
    principal: Vec = (0.0, 0.0)
    principalpixel: Vec = (0.0, 0.0)
    sensorsize: Vec = (0.0, 0.0)
    intrinsic: Vec = (0.0,) * 4
    targetbodyid: int = -1


COLUMNS: Columns = {
    "cam_mode": "mode",
    "cam_bodyid": "bodyid",
    "cam_targetbodyid": "targetbodyid",
    "cam_pos": "pos",
    "cam_quat": "quat",
    "cam_orthographic": "orthographic",
    "cam_fovy": "fovy",
    "cam_ipd": "ipd",
    "cam_resolution": "resolution",
    "cam_sensorsize": "sensorsize",
    "cam_intrinsic": "intrinsic",
    "cam_user": "user",
}


_INTRINSICS = ("focal", "focalpixel", "principal", "principalpixel")


def apply_camera(camera: CameraItem, node: Node) -> None:
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


def _compile_lens(camera: CameraItem, znear: float) -> None:
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


def read_camera(context: Context, node: Node, scope: Scope) -> None:
    """Read a `<camera>` into its body."""
    check_single_orientation(node)
    camera = context.defaults.of(node, scope.childclass).make(CameraItem)
    camera.user = ()  # MuJoCo forgets that of defaults
    camera.node, camera.frame, camera.bodyid = node, scope.frame, scope.body.id
    apply_camera(camera, node)
    scope.body.cameras.append(camera)


def compile_camera(context: Context, camera: CameraItem) -> None:
    """Pose in the body's frame, and the lens."""
    written = camera.quat
    camera.quat = resolve_quat(context, camera)
    put_in_frame(camera, written)
    _compile_lens(camera, context.visual.get("map", {}).get("znear", DEFAULT_ZNEAR))
    camera.user = context.padded_user(camera, "nuser_cam", camera.user)
