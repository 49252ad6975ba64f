"""Poses of bodies, inertial frames, joints, geoms and sites in the world frame, from qpos, in lanes.

The tree is walked from the world outwards. A body starts at its fixed pose in the parent (or at its mocap
pose), then each of its joints moves it in turn; `xanchor` and `xaxis` are where a joint is before it moves
the body. Quaternions of qpos and mocap_quat are normalised on a copy. Sums and products are in the reference's order:
poses have its bits, but where a sine or cosine is rounded otherwise than the C library's. Compare mj_kinematics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Int, Kernel, LaneField, ModelField, Variable
from dovetail.contracts.enums import JointType, SameFrame
from dovetail.plugins.shared.quaternions_lanes import (
    quat_from_axis_angle,
    quat_matrix,
    quat_multiply,
    quat_normalize,
    quat_rotate,
)


def kinematics(k: Kernel) -> None:
    """Write the pose of everything that is attached to a body."""
    m, d = k.model, k.data
    world_pose(k)
    with k.loop(1, m.nbody) as body:
        pos, quat = start_pose(k, body)
        first = m.body_jntadr[body]
        with k.loop(first, first + m.body_jntnum[body]) as joint:
            move(k, joint, pos, quat)
        xpos, xquat = pos.value, quat_normalize(k, quat.value)
        d.xpos[body] = xpos
        d.xquat[body] = xquat
        d.xmat[body] = quat_matrix(xquat).ravel()
        copy_or_place(k, m.body_sameframe[body], (body, m.body_ipos, m.body_iquat), (d.xipos, d.ximat), body)
    if m.ngeom:
        place(k, "geom", m.ngeom, d.geom_xpos, d.geom_xmat)
    if m.nsite:
        place(k, "site", m.nsite, d.site_xpos, d.site_xmat)


def world_pose(k: Kernel) -> None:
    """The world body is at the origin."""
    d = k.data
    d.xpos[0] = d.xipos[0] = 0.0
    d.xquat[0] = [1.0, 0.0, 0.0, 0.0]
    d.xmat[0] = d.ximat[0] = np.eye(3).ravel()


def place(k: Kernel, kind: str, count: int, xpos_out: LaneField, xmat_out: LaneField) -> None:
    """World poses of geoms or sites, which are fixed in bodies."""
    bodies, pos, quat, sameframe = (
        getattr(k.model, f"{kind}_{name}") for name in ("bodyid", "pos", "quat", "sameframe")
    )
    with k.loop(0, count) as i:
        copy_or_place(k, sameframe[i], (bodies[i], pos, quat), (xpos_out, xmat_out), i)


def copy_or_place(
    k: Kernel, same: Int, frame: tuple[Int, ModelField, ModelField], out: tuple[LaneField, LaneField], i: Int
) -> None:
    """Pose of an inertial frame, a geom or a site, which are fixed in bodies.

    A frame that differs from the body's (or the inertial one) by less than 1e-6 is marked as the same when the model
    is compiled, and then takes its pose exactly, also if it was edited since.
    """
    d = k.data
    (body, pos, quat), (xpos_out, xmat_out) = frame, out
    with k.when(same == SameFrame.BODY):
        xpos_out[i] = d.xpos[body]
    with k.otherwise():
        with k.when(same == SameFrame.INERTIA):
            xpos_out[i] = d.xipos[body]
        with k.otherwise():
            xpos_out[i] = position_in(k, body, pos[i])
    with k.when((same == SameFrame.BODY) | (same == SameFrame.BODYROT)):
        xmat_out[i] = d.xmat[body]
    with k.otherwise():
        with k.when((same == SameFrame.INERTIA) | (same == SameFrame.INERTIAROT)):
            xmat_out[i] = d.ximat[body]
        with k.otherwise():
            xmat_out[i] = rotation_in(k, body, quat[i])


def position_in(k: Kernel, body: Int, pos: Any) -> Any:
    """A point of a body in the world."""
    return k.data.xmat[body].reshape(3, 3) @ pos + k.data.xpos[body]


def rotation_in(k: Kernel, body: Int, quat: Any) -> Any:
    """An orientation in a body as the nine entries of its matrix in the world."""
    return quat_matrix(quat_multiply(k.data.xquat[body], quat)).ravel()


def start_pose(k: Kernel, body: Int) -> tuple[Variable, Variable]:
    """Pose before joints move the body: fixed in the parent, or the user's for mocap bodies."""
    m, d = k.model, k.data
    parent = m.body_parentid[body]
    if not m.nmocap:
        pos, quat = m.body_pos[body], m.body_quat[body]
    else:
        pos, quat = mocap_pose(k, body)
    xpos = d.xpos[parent] + d.xmat[parent].reshape(3, 3) @ pos
    return k.local(xpos), k.local(quat_multiply(d.xquat[parent], quat))


def mocap_pose(k: Kernel, body: Int) -> tuple[Any, Any]:
    """Pose in the parent in a model where some bodies follow mocap_pos and mocap_quat."""
    m, d = k.model, k.data
    pos, quat = k.local(np.zeros(3)), k.local(np.zeros(4))
    mocap = m.body_mocapid[body]
    with k.when(mocap >= 0):
        pos.set(d.mocap_pos[mocap])
        quat.set(quat_normalize(k, d.mocap_quat[mocap]))
    with k.otherwise():
        pos.set(m.body_pos[body])
        quat.set(m.body_quat[body])
    return pos.value, quat.value


def move(k: Kernel, joint: Int, pos: Variable, quat: Variable) -> None:
    """Let a joint move the body, and write where the joint is."""
    m = k.model
    kind = m.jnt_type[joint]
    if not k.has("joint.free"):
        move_joint(k, joint, kind, pos, quat)
        return
    with k.when(kind == JointType.FREE):
        free(k, joint, pos, quat)
    with k.otherwise():
        move_joint(k, joint, kind, pos, quat)


def free(k: Kernel, joint: Int, pos: Variable, quat: Variable) -> None:
    """A free joint's coordinates are the pose in the world; wherever the body was does not matter."""
    m, d = k.model, k.data
    at = m.jnt_qposadr[joint]
    pos.set(d.qpos[at : at + 3])
    quat.set(quat_normalize(k, d.qpos[at + 3 : at + 7]))
    d.xanchor[joint] = d.qpos[at : at + 3]
    d.xaxis[joint] = m.jnt_axis[joint]


def move_joint(k: Kernel, joint: Int, kind: Int, pos: Variable, quat: Variable) -> None:
    """Slide along the axis, or turn about the anchor."""
    m, d = k.model, k.data
    before = quat.value
    axis = quat_rotate(before, m.jnt_axis[joint])
    anchor = pos.value + quat_rotate(before, m.jnt_pos[joint])
    d.xaxis[joint] = axis
    d.xanchor[joint] = anchor
    at = m.jnt_qposadr[joint]
    if k.has("joint.slide"):
        with k.when(kind == JointType.SLIDE):
            pos += axis * (d.qpos[at] - m.qpos0[at])
    for turning, turn in _TURN.items():
        if k.has(f"joint.{turning.keyword}"):
            with k.when(kind == turning):
                turned = quat_multiply(before, turn(k, joint, at))
                quat.set(turned)
                pos.set(anchor - quat_rotate(turned, m.jnt_pos[joint]))


def ball_turn(k: Kernel, joint: Int, at: Int) -> Any:
    return quat_normalize(k, k.data.qpos[at : at + 4])


def hinge_turn(k: Kernel, joint: Int, at: Int) -> Any:
    return quat_from_axis_angle(k, k.model.jnt_axis[joint], k.data.qpos[at] - k.model.qpos0[at])


_TURN = {JointType.BALL: ball_turn, JointType.HINGE: hinge_turn}
