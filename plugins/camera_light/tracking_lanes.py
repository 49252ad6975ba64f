"""World poses of cameras and lights in the five tracking modes, in lanes.

A fixed one moves with its body. A tracking one keeps its orientation at qpos0 and follows its body (or the centre of
mass of the subtree). A targeting one moves with its body and turns towards a target body (or the target's subtree).
A camera looks along −z with x to the right. Compare mj_camlight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import CamLight
from dovetail.plugins.shared.quaternions_lanes import quat_matrix
from dovetail.plugins.shared.tendons.wrapping_lanes import direction_of
from dovetail.plugins.shared.vectors_lanes import Vector, cross, vector

UP = vector(0.0, 0.0, 1.0)


def camera_light(k: Kernel) -> None:
    """Write the pose of every camera and light."""
    if k.model.ncam:
        place_cameras(k)
    if k.model.nlight:
        place_lights(k)


def place_cameras(k: Kernel) -> None:
    m, d = k.model, k.data
    with k.loop(0, m.ncam) as camera:
        mode, body, target = m.cam_mode[camera], m.cam_bodyid[camera], m.cam_targetbodyid[camera]
        rotation = d.xmat[body].reshape(3, 3)
        d.cam_xpos[camera] = d.xpos[body] + rotation @ m.cam_pos[camera]
        d.cam_xmat[camera] = (rotation @ quat_matrix(m.cam_quat[camera])).ravel()
        with k.when(tracks(mode)):
            offset = k.select(mode == CamLight.TRACKCOM, m.cam_poscom0[camera], m.cam_pos0[camera])
            d.cam_xpos[camera] = followed(k, mode, body) + offset
            d.cam_xmat[camera] = m.cam_mat0[camera]
        with k.when(targets(mode) & (target >= 0)):
            d.cam_xmat[camera] = looking_along(k, followed(k, mode, target) - d.cam_xpos[camera]).ravel()


def place_lights(k: Kernel) -> None:
    m, d = k.model, k.data
    with k.loop(0, m.nlight) as light:
        mode, body, target = m.light_mode[light], m.light_bodyid[light], m.light_targetbodyid[light]
        rotation = d.xmat[body].reshape(3, 3)
        place = k.local(d.xpos[body] + rotation @ m.light_pos[light])
        direction = k.local(rotation @ m.light_dir[light])
        with k.when(tracks(mode)):
            offset = k.select(mode == CamLight.TRACKCOM, m.light_poscom0[light], m.light_pos0[light])
            place.set(followed(k, mode, body) + offset)
            direction.set(m.light_dir0[light])
        with k.when(targets(mode) & (target >= 0)):
            direction.set(followed(k, mode, target) - place.value)
        d.light_xpos[light] = place.value
        d.light_xdir[light] = direction_of(k, direction.value)


def tracks(mode: Any) -> Any:
    return (mode == CamLight.TRACK) | (mode == CamLight.TRACKCOM)


def targets(mode: Any) -> Any:
    return (mode == CamLight.TARGETBODY) | (mode == CamLight.TARGETBODYCOM)


def followed(k: Kernel, mode: Any, body: Any) -> Vector:
    """The point of a body that a mode refers to: its frame's origin, or its subtree's centre of mass."""
    about_com = (mode == CamLight.TRACKCOM) | (mode == CamLight.TARGETBODYCOM)
    return k.select(about_com, k.data.subtree_com[body], k.data.xpos[body])


def looking_along(k: Kernel, direction: Vector) -> Vector:
    """Rotation matrix of a camera that looks along a direction with the world's z axis up in its image."""
    backward = direction_of(k, -direction)
    right = direction_of(k, cross(UP, backward))
    up = direction_of(k, cross(backward, right))
    return np.stack([right, up, backward], axis=1)
