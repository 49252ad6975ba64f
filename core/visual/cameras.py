"""Cameras: where a picture is taken from, how points fall on it, and the rays of its pixels.

A camera of the model looks along −z of its frame with x to the right and y up. A free camera looks at a point from a
distance; at azimuth 0 and elevation 0 it looks along the world's x axis, with z up. Pixels are counted from the upper
left corner of the picture, and the middle of the first one is at (0.5, 0.5). Compare mjv_updateCamera and the
frustum of mjr_render.
"""

from __future__ import annotations

from enum import IntEnum
from math import cos, radians, sin, tan
from typing import Any

import attrs
import numpy as np

from dovetail.arguments import as_whole, whole
from dovetail.contracts.fields import Array
from dovetail.errors import ArgumentError, UnknownIndexError, UnknownNameError, nearest, shown
from dovetail.visual.worlds import one_world

FREE_DISTANCE = 1.5
"""Distance of the default free camera in extents of the model (mjv_defaultFreeCamera)."""


class CameraType(IntEnum):
    """Kinds of cameras (mjtCamera)."""

    FREE = 0
    TRACKING = 1
    FIXED = 2
    USER = 3


def _point(value: Any) -> Array:
    point = np.array(value, float)
    if point.shape != (3,):
        raise ArgumentError(f"lookat is a point of three numbers, not {shown(value)}")
    return point


@attrs.define(eq=False)
class FreeCamera:
    """A camera that looks at a point: from `distance` [m], at `azimuth` and `elevation` [deg]."""

    lookat: Array = attrs.field(default=(0.0, 0.0, 0.0), converter=_point)
    distance: float = attrs.field(default=2.0, converter=float)
    azimuth: float = attrs.field(default=90.0, converter=float)
    elevation: float = attrs.field(default=-45.0, converter=float)
    orthographic: bool | None = None
    """Whether it projects in parallel; None: as `<visual><global>` says."""


@attrs.define(eq=False)
class TrackingCamera:
    """A camera that looks at the centre of mass of a body and all that hangs on it."""

    body: int | str
    distance: float = attrs.field(default=2.0, converter=float)
    azimuth: float = attrs.field(default=90.0, converter=float)
    elevation: float = attrs.field(default=-45.0, converter=float)
    orthographic: bool | None = None
    """Whether it projects in parallel; None: as `<visual><global>` says."""


@attrs.frozen(eq=False)
class View:
    """A camera in the world: pose, and the frustum on the plane at `znear`. Frustum numbers are lengths on that plane
    [m]: `frustum_width` is half its width, 0 if it follows from the shape of the picture."""

    pos: Array
    forward: Array
    up: Array
    frustum_center: float
    frustum_width: float
    frustum_bottom: float
    frustum_top: float
    znear: float
    zfar: float
    orthographic: bool
    cameraid: int = -1
    """The model's camera; -1: none of them."""

    @property
    def right(self) -> Array:
        """Unit vector to the right of the picture."""
        return np.cross(self.forward, self.up)

    @property
    def xmat(self) -> Array:
        """Rotation matrix world←camera (3, 3): right, up, backward in columns."""
        return np.stack([self.right, self.up, -self.forward], axis=1)

    @property
    def fovy(self) -> float:
        """Vertical angle of view [deg]; the height of the picture [m] if orthographic."""
        if self.orthographic:
            return self.frustum_top - self.frustum_bottom
        below, above = np.arctan2([-self.frustum_bottom, self.frustum_top], self.znear)
        return float(np.degrees(below + above))

    def window(self, width: int, height: int) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the picture on the plane at `znear` [m]."""
        half = self.frustum_width or (self.frustum_top - self.frustum_bottom) / 2 * width / height
        center = self.frustum_center
        return center - half, center + half, self.frustum_bottom, self.frustum_top

    def intrinsics(self, width: int, height: int) -> Array:
        """The matrix (3, 3) that takes points (right, down, ahead) of the camera's frame to pixels."""
        left, right, bottom, top = self.window(width, height)
        per_x, per_y = width / (right - left), height / (top - bottom)
        if self.orthographic:
            return np.array([[per_x, 0, -left * per_x], [0, per_y, top * per_y], [0, 0, 1.0]])
        return np.array(
            [[self.znear * per_x, 0, -left * per_x], [0, self.znear * per_y, top * per_y], [0, 0, 1.0]]
        )

    def project(self, points: Any, width: int, height: int) -> Array:
        """Where points (…, 3) of the world fall in a picture: column and row in pixels from the upper left corner,
        and the depth along the line of sight [m]. What is behind a perspective camera has NaN for pixels."""
        away = np.asarray(points, float) - self.pos
        depth = away @ self.forward
        x, y = away @ self.right, away @ self.up
        left, right, bottom, top = self.window(width, height)
        if not self.orthographic:
            ahead = np.where(depth > 0, depth, np.nan)
            x, y = x * self.znear / ahead, y * self.znear / ahead
        column = (x - left) / (right - left) * width
        row = (top - y) / (top - bottom) * height
        return np.stack([column, row, depth], axis=-1)

    def rays(self, width: int, height: int) -> tuple[Array, Array]:
        """Origins and unit directions (height, width, 3) of the rays through the middles of the pixels. Rays start at
        the camera, of an orthographic one on the plane through it."""
        whole("width", width, 1)
        whole("height", height, 1)
        left, right, bottom, top = self.window(width, height)
        x = left + (np.arange(width) + 0.5) / width * (right - left)
        y = top - (np.arange(height) + 0.5) / height * (top - bottom)
        plane = x[None, :, None] * self.right + y[:, None, None] * self.up
        if self.orthographic:
            return self.pos + plane, np.broadcast_to(self.forward, plane.shape).copy()
        directions = plane + self.znear * self.forward
        directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
        return np.broadcast_to(self.pos, plane.shape).copy(), directions

    def projection(self, width: int, height: int) -> Array:
        """OpenGL's projection matrix (4, 4) of this frustum."""
        left, right, bottom, top = self.window(width, height)
        near, far = self.znear, self.zfar
        across, tall, deep = right - left, top - bottom, far - near
        if self.orthographic:
            return np.array(
                [
                    [2 / across, 0, 0, -(right + left) / across],
                    [0, 2 / tall, 0, -(top + bottom) / tall],
                    [0, 0, -2 / deep, -(far + near) / deep],
                    [0, 0, 0, 1],
                ]
            )
        return np.array(
            [
                [2 * near / across, 0, (right + left) / across, 0],
                [0, 2 * near / tall, (top + bottom) / tall, 0],
                [0, 0, -(far + near) / deep, -2 * far * near / deep],
                [0, 0, -1, 0],
            ]
        )


def default_free_camera(model: Any) -> FreeCamera:
    """The camera that sees the whole model, as `<visual><global>` and `<statistic>` say (mjv_defaultFreeCamera)."""
    return FreeCamera(
        lookat=model.stat.center,
        distance=FREE_DISTANCE * float(model.stat.extent),
        azimuth=float(model.vis.global_.azimuth),
        elevation=float(model.vis.global_.elevation),
    )


def view(model: Any, data: Any, camera: Any = -1, world: int | None = None) -> View:
    """What a camera sees: one of the model by name or number, -1 for the default free camera, a FreeCamera, a
    TrackingCamera, a View, or an object like MuJoCo's MjvCamera."""
    if isinstance(camera, View):
        return camera
    if isinstance(camera, FreeCamera):
        return _free_view(model, camera, camera.lookat)
    data = one_world(data, world)
    if isinstance(camera, TrackingCamera):
        body = _numbered(model, "body", model.nbody, camera.body)
        return _free_view(model, camera, np.array(data.subtree_com[body], float))
    if hasattr(camera, "fixedcamid") and hasattr(camera, "trackbodyid"):
        return _of_mujoco(model, data, camera)
    if as_whole(camera) == -1:
        return _free_view(model, free := default_free_camera(model), free.lookat)
    return _fixed_view(model, data, _numbered(model, "camera", model.ncam, camera))


def _numbered(model: Any, kind: str, count: int, which: Any) -> int:
    """The number of a camera or body given by name or number."""
    if isinstance(which, str):
        names = [getattr(model, kind)(i).name for i in range(count)]
        if which in names:
            return names.index(which)
        free = "; -1 is the free camera" if kind == "camera" else ""
        raise UnknownNameError(
            f"no {kind} is named {shown(which)}{nearest(which, filter(None, names))}{free}"
        )
    number = as_whole(which)
    if number is None:
        raise ArgumentError(
            f"{kind} = {shown(which)} should be a name or a number"
            + (", a FreeCamera or a TrackingCamera" if kind == "camera" else "")
        )
    if not 0 <= number < count:
        free = ", and -1 is the free camera" if kind == "camera" else ""
        raise UnknownIndexError(f"there is no {kind} number {number}: the model has {count}{free}")
    return number


def _of_mujoco(model: Any, data: Any, camera: Any) -> View:
    kind = int(camera.type)
    if kind == CameraType.FIXED:
        return _fixed_view(model, data, _numbered(model, "camera", model.ncam, int(camera.fixedcamid)))
    if kind == CameraType.TRACKING:
        body = _numbered(model, "body", model.nbody, int(camera.trackbodyid))
        return _free_view(model, camera, np.array(data.subtree_com[body], float))
    if kind == CameraType.FREE:
        return _free_view(model, camera, np.array(camera.lookat, float))
    raise ArgumentError(f"a camera of type {kind} says nothing of where it is: give a dovetail.visual.View")


def _free_view(model: Any, camera: Any, lookat: Array) -> View:
    azimuth, elevation = radians(camera.azimuth), radians(camera.elevation)
    forward = np.array([cos(elevation) * cos(azimuth), cos(elevation) * sin(azimuth), sin(elevation)])
    up = np.array([-sin(elevation) * cos(azimuth), -sin(elevation) * sin(azimuth), cos(elevation)])
    fovy = float(model.vis.global_.fovy)
    own = camera.orthographic if isinstance(camera, FreeCamera | TrackingCamera) else None
    orthographic = bool(model.vis.global_.orthographic if own is None else own)
    near, far = planes(model)
    half = fovy / 2 if orthographic else near * tan(radians(fovy) / 2)
    return View(
        lookat - camera.distance * forward, forward, up, 0.0, 0.0, -half, half, near, far, orthographic
    )


def _fixed_view(model: Any, data: Any, camera: int) -> View:
    turn = np.array(data.cam_xmat[camera], float).reshape(3, 3)
    near, far = planes(model)
    orthographic = bool(model.cam_orthographic[camera])
    return View(
        np.array(data.cam_xpos[camera], float),
        -turn[:, 2],
        turn[:, 1].copy(),
        *camera_frustum(model, camera, near),
        near,
        far,
        orthographic,
        camera,
    )


def camera_frustum(model: Any, camera: int, near: float) -> tuple[float, float, float, float]:
    """Centre, half width (0: as the picture is), bottom and top on the plane at a distance: from the sensor and the
    focal lengths of a camera that states them, else from its angle of view."""
    sensor = np.asarray(model.cam_sensorsize[camera], float)
    if sensor[1] and not model.cam_orthographic[camera]:
        focal_x, focal_y, center_x, center_y = (float(x) for x in model.cam_intrinsic[camera])
        across, tall = near / focal_x, near / focal_y
        return (
            center_x * across,
            sensor[0] / 2 * across,
            -(sensor[1] / 2 - center_y) * tall,
            (sensor[1] / 2 + center_y) * tall,
        )
    fovy = float(model.cam_fovy[camera])
    half = fovy / 2 if model.cam_orthographic[camera] else near * tan(radians(fovy) / 2)
    return 0.0, 0.0, -half, half


def planes(model: Any) -> tuple[float, float]:
    """Distances of the nearest and the farthest plane that are drawn [m]."""
    extent = float(model.stat.extent)
    return float(model.vis.map.znear) * extent, float(model.vis.map.zfar) * extent
