"""Pulling at a body by hand: a spring between the point that is held and the pointer, or the pose itself.

While the simulation runs, a damped spring pulls (mjv_applyPerturbForce): its stiffness is that of the model's
`visual/map`, in units of the inertia at the held point, and it also slows turning about itself. While it stands, a
body that floats freely is moved (mjv_applyPerturbPose); mocap bodies are moved in any case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import JointType, ObjType
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data, Model
from dovetail.viewer.poses import rotation
from dovetail.visual import Perturb, PerturbBit

LEAST = 1e-15
"""mjMINVAL."""


def grab(model: Model, data: Data, body: int, point: Any) -> Perturb:
    """Hold a body at a point of the world; nothing pulls yet (mjv_initPerturb)."""
    turn = np.asarray(data.xmat[body], float).reshape(3, 3)
    local = turn.T @ (np.asarray(point, float) - data.xpos[body])
    made = Perturb(select=int(body), localpos=local)
    made.refpos = np.array(data.xipos[body], float)
    made.refquat = times(np.asarray(data.xquat[body], float), np.asarray(model.body_iquat[body], float))
    made.refselpos = np.asarray(point, float)
    made.localmass = held_mass(model, data, body, np.asarray(point, float))
    return made


def held_mass(model: Model, data: Data, body: int, point: Array) -> float:
    """The inertia that a hand feels at a point: three over the sum of its mobilities; 1 of what cannot move."""
    from dovetail import jac_point, solve_m

    if model.nv == 0:
        return 1.0
    jacobian = np.asarray(jac_point(model, data, point, body)[0], float).reshape(3, -1)
    mobility = sum(float(row @ np.asarray(solve_m(model, data, row)).reshape(-1)) for row in jacobian)
    return 3.0 / mobility if mobility > LEAST else 1.0


def held_point(data: Data, hand: Perturb) -> Array:
    """Where the held point of the body is now."""
    turn = np.asarray(data.xmat[hand.select], float).reshape(3, 3)
    place: Array = np.asarray(data.xpos[hand.select], float) + turn @ hand.localpos
    return place


def drag_to(hand: Perturb, data: Data, point: Any) -> None:
    """Pull the held point towards a place; the body's centre goes along."""
    hand.refselpos = np.asarray(point, float)
    hand.refpos = np.asarray(data.xipos[hand.select], float) + hand.refselpos - held_point(data, hand)
    hand.active |= int(PerturbBit.TRANSLATE)


def turn_to(hand: Perturb, quat: Any) -> None:
    """Turn the body's inertial frame towards an orientation."""
    hand.refquat = np.asarray(quat, float) / (np.linalg.norm(quat) or 1.0)
    hand.active |= int(PerturbBit.ROTATE)


def release(hand: Perturb, data: Data | None) -> None:
    """Let go: no force is left."""
    hand.active = 0
    if data is not None and hand.select > 0:
        data.xfrc_applied[hand.select] = 0.0


def apply_force(model: Model, data: Data, hand: Perturb) -> None:
    """The spring's force and torque on the body, in xfrc_applied."""
    body = hand.select
    if body <= 0 or not hand.active or model.body_mocapid[body] >= 0:
        return
    from dovetail import object_velocity

    velocity = np.asarray(object_velocity(model, data, ObjType.BODY, body, False), float).reshape(6)
    force, torque = np.zeros(3), np.zeros(3)
    inertia = 1.0 / max(float(model.body_invweight0[body, 1]), LEAST)
    stiffness, turning = float(model.vis.map.stiffness), float(model.vis.map.stiffnessrot)
    if hand.active & PerturbBit.TRANSLATE:
        held = held_point(data, hand)
        arm = held - np.asarray(data.xipos[body], float)
        stretch = hand.refselpos - held
        moving = velocity[3:] + np.cross(velocity[:3], arm)
        force = hand.localmass * (stiffness * stretch - np.sqrt(stiffness) * moving)
        twist = float(velocity[:3] @ unit(stretch)) * unit(stretch)
        torque = np.cross(arm, force) - inertia * np.sqrt(turning) * twist
    if hand.active & PerturbBit.ROTATE:
        now = times(np.asarray(data.xquat[body], float), np.asarray(model.body_iquat[body], float))
        away = rotation_between(now, hand.refquat)
        torque = inertia * (turning * away - np.sqrt(turning) * velocity[:3])
    data.xfrc_applied[body] = np.concatenate([force, torque])


def apply_pose(model: Model, data: Data, hand: Perturb, *, paused: bool) -> bool:
    """Put a body where the hand is: a mocap body always, what floats freely while paused; whether anything moved."""
    body = hand.select
    if body <= 0 or not hand.active:
        return False
    turn = times(hand.refquat, conjugate(np.asarray(model.body_iquat[body], float)))
    place = hand.refpos - rotation(turn) @ np.asarray(model.body_ipos[body], float)
    mocap = int(model.body_mocapid[body])
    if mocap >= 0:
        data.mocap_pos[mocap], data.mocap_quat[mocap] = place, turn
        return True
    root = int(model.body_rootid[body])
    joint = int(model.body_jntadr[root])
    if not paused or joint < 0 or model.jnt_type[joint] != JointType.FREE:
        return False
    # The whole tree goes along as one piece: the root's pose relative to the body stays.
    body_quat = np.asarray(data.xquat[body], float)
    between = times(conjugate(body_quat), np.asarray(data.xquat[root], float))
    apart = rotation(body_quat).T @ (np.asarray(data.xpos[root], float) - data.xpos[body])
    first = int(model.jnt_qposadr[joint])
    data.qpos[first : first + 3] = place + rotation(turn) @ apart
    data.qpos[first + 3 : first + 7] = times(turn, between)
    return True


def unit(vector: Array) -> Array:
    """Of length one; along x if there is no direction (mju_normalize3)."""
    length = float(np.linalg.norm(vector))
    return vector / length if length > LEAST else np.array([1.0, 0.0, 0.0])


def times(a: Array, b: Array) -> Array:
    """The product of two quaternions wxyz."""
    w, x, y, z = a
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]) @ b


def conjugate(quat: Array) -> Array:
    """The opposite turn."""
    return np.asarray(quat, float) * np.array([1.0, -1.0, -1.0, -1.0])


def rotation_between(now: Array, wanted: Array) -> Array:
    """The turn in the world from one orientation to another, as axis times angle."""
    w, *vector = times(wanted, conjugate(now))
    axis = np.array(vector)
    sine = float(np.linalg.norm(axis))
    if sine < LEAST:
        return np.zeros(3)
    angle = 2 * np.arctan2(sine, w)
    return axis / sine * (angle - 2 * np.pi if angle > np.pi else angle)
