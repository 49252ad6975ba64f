"""World poses of cameras and lights in the five tracking modes.

A fixed one moves with its body. A tracking one keeps its orientation at qpos0 and follows its body (or the
centre of mass of the subtree). A targeting one moves with its body and turns towards a target body (or the
target's subtree). A camera looks along −z with x to the right. Compare mj_camlight.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import CamLight
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.quaternions_numpy import quat_matrix_rows
from dovetail.plugins.shared.vectors_numpy import apply_rows

UP = np.array([0.0, 0.0, 1.0])
TRACKING = (CamLight.TRACK, CamLight.TRACKCOM)
TARGETING = (CamLight.TARGETBODY, CamLight.TARGETBODYCOM)
ABOUT_COM = (CamLight.TRACKCOM, CamLight.TARGETBODYCOM)


def camera_light(model: ModelLike, data: DataLike) -> None:
    """Write the pose of every camera and light."""
    if model.ncam:
        place_cameras(model, data)
    if model.nlight:
        place_lights(model, data)


def place_cameras(model: ModelLike, data: DataLike) -> None:
    rotation = data.xmat.reshape(-1, 3, 3)[model.cam_bodyid]
    data.cam_xpos[:] = data.xpos[model.cam_bodyid] + apply_rows(rotation, model.cam_pos)
    data.cam_xmat[:] = (rotation @ quat_matrix_rows(model.cam_quat)).reshape(-1, 9)
    for camera, mode in enumerate(model.cam_mode.tolist()):
        if mode in TRACKING:
            offset = model.cam_poscom0 if mode in ABOUT_COM else model.cam_pos0
            data.cam_xpos[camera] = followed(data, mode, model.cam_bodyid[camera]) + offset[camera]
            data.cam_xmat[camera] = model.cam_mat0[camera]
        elif mode in TARGETING and model.cam_targetbodyid[camera] >= 0:
            target = followed(data, mode, model.cam_targetbodyid[camera])
            data.cam_xmat[camera] = looking_along(target - data.cam_xpos[camera]).ravel()


def place_lights(model: ModelLike, data: DataLike) -> None:
    rotation = data.xmat.reshape(-1, 3, 3)[model.light_bodyid]
    data.light_xpos[:] = data.xpos[model.light_bodyid] + apply_rows(rotation, model.light_pos)
    data.light_xdir[:] = apply_rows(rotation, model.light_dir)
    for light, mode in enumerate(model.light_mode.tolist()):
        if mode in TRACKING:
            offset = model.light_poscom0 if mode in ABOUT_COM else model.light_pos0
            data.light_xpos[light] = followed(data, mode, model.light_bodyid[light]) + offset[light]
            data.light_xdir[light] = model.light_dir0[light]
        elif mode in TARGETING and model.light_targetbodyid[light] >= 0:
            data.light_xdir[light] = (
                followed(data, mode, model.light_targetbodyid[light]) - data.light_xpos[light]
            )
        data.light_xdir[light] = unit(data.light_xdir[light], fallback=(1.0, 0.0, 0.0))


def followed(data: DataLike, mode: int, body: int) -> Array:
    """The point of a body that a mode refers to: its frame's origin, or its subtree's centre of mass."""
    point: Array = data.subtree_com[body] if mode in ABOUT_COM else data.xpos[body]
    return point


def looking_along(direction: Array) -> Array:
    """Rotation matrix of a camera that looks along a direction with the world's z axis up in its image."""
    backward = unit(-direction, fallback=(1.0, 0.0, 0.0))
    right = unit(np.cross(UP, backward), fallback=(1.0, 0.0, 0.0))
    up = unit(np.cross(backward, right), fallback=(1.0, 0.0, 0.0))
    return np.stack([right, up, backward], axis=1)


def unit(vector: Array, fallback: tuple[float, float, float]) -> Array:
    """The vector scaled to length one; a vector of no length becomes the fallback (mju_normalize3)."""
    length = float(np.sqrt(vector @ vector))
    return np.array(fallback) if length < MINVAL else vector / length
