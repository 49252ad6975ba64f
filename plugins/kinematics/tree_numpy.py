"""Poses of bodies, inertial frames, joints, geoms and sites in the world frame, from qpos.

The tree is walked from the world outwards. A body starts at its fixed pose in the parent (or at its mocap
pose), then each of its joints moves it in turn; `xanchor` and `xaxis` are where a joint is before it moves
the body, which matters when a body has several. Quaternions of qpos and mocap_quat are normalised on a copy:
qpos itself is never changed. Sums are made in MuJoCo's order, so that aligned shapes stay as aligned as they are
there: whether a box that stands on another has three or four contacts is decided by the last bit. Leaves that only
slide (vertices of a cloth) come last, all together, rounded as the walk would. Compare mj_kinematics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.quaternions_numpy import (
    IDENTITY,
    Matrix,
    Quaternion,
    quat_from_axis_angle,
    quat_matrix,
    quat_matrix_rows,
    quat_multiply,
    quat_multiply_rows,
    quat_normalize,
    quat_normalize_rows,
    quat_rotate,
    quat_rotate_rows,
)
from dovetail.plugins.shared.sparse_rows_numpy import ranges
from dovetail.plugins.shared.tree_numpy import BALL, FREE, HINGE, SLIDE, slides_of, walked_and_sliding
from dovetail.plugins.shared.vectors_numpy import Vector, add, to_world, to_world_rows


def kinematics(model: ModelLike, data: DataLike) -> None:
    """Write the pose of everything that is attached to a body."""
    body_poses(model, data)
    data.xmat[:] = quat_matrix_rows(data.xquat).reshape(-1, 9)
    frames = Frames(data)
    every_body = np.arange(model.nbody)
    frames.place(every_body, model.body_ipos, model.body_iquat, model.body_sameframe, data.xipos, data.ximat)
    frames.place(
        model.geom_bodyid,
        model.geom_pos,
        model.geom_quat,
        model.geom_sameframe,
        data.geom_xpos,
        data.geom_xmat,
    )
    frames.place(
        model.site_bodyid,
        model.site_pos,
        model.site_quat,
        model.site_sameframe,
        data.site_xpos,
        data.site_xmat,
    )


# By SameFrame: the frame a position or an orientation is copied from, 0 the body's, 1 its inertial frame.
_POSITION_FROM = np.array([-1, 0, 1, -1, -1])
_ROTATION_FROM = np.array([-1, 0, 1, 0, 1])


class Frames:
    """World poses of frames that are fixed in bodies."""

    def __init__(self, data: DataLike) -> None:
        self.data = data

    def place(
        self, body: Array, pos: Array, quat: Array, sameframe: Array, xpos_out: Array, xmat_out: Array
    ) -> None:
        """Turn poses in bodies into poses in the world.

        A frame that differs from the body's (or the inertial one) by less than 1e-6 is marked as the same,
        and then takes its pose exactly.
        """
        if not len(body):
            return
        data = self.data
        xpos_out[:] = to_world_rows(data.xmat[body], pos) + data.xpos[body]
        xmat_out[:] = quat_matrix_rows(quat_multiply_rows(data.xquat[body], quat)).reshape(-1, 9)
        self.copy_same(_POSITION_FROM[sameframe], body, (self.data.xpos, self.data.xipos), xpos_out)
        self.copy_same(_ROTATION_FROM[sameframe], body, (self.data.xmat, self.data.ximat), xmat_out)

    @staticmethod
    def copy_same(source: Array, body: Array, frames: tuple[Array, Array], out: Array) -> None:
        for kind, frame in enumerate(frames):
            rows = np.flatnonzero(source == kind)
            if len(rows):
                out[rows] = frame[body[rows]]


def body_poses(model: ModelLike, data: DataLike) -> None:
    """Write xpos, xquat, xanchor and xaxis: body by body, and last of all the leaves that only slide."""
    start_pos, start_quat = poses_in_parent(model, data)
    walked, sliding = walked_and_sliding(model)
    walk(model, data, walked, start_pos, start_quat)
    if len(sliding):
        slide(model, data, sliding, start_pos[sliding], start_quat[sliding])


def walk(model: ModelLike, data: DataLike, bodies: Array, start_pos: Array, start_quat: Array) -> None:
    """Poses of bodies (ascending, with all their ancestors) one after the other, and those of their joints."""
    xpos: list[Vector] = [(0.0, 0.0, 0.0)]
    xquat: list[Quaternion] = [IDENTITY]
    xmat: list[Matrix] = [(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)]
    xanchor: list[Vector] = []
    xaxis: list[Vector] = []
    all_of_them = len(bodies) == model.nbody
    chosen: Any = slice(None) if all_of_them else bodies  # a slice is quicker, which small models feel
    ids: Any = slice(None) if all_of_them else ranges(model.body_jntadr[bodies], model.body_jntnum[bodies])
    joints = Joints(model, data, ids)
    parents = model.body_parentid[chosen]
    parent_of = (parents if all_of_them else np.searchsorted(bodies, parents)).tolist()
    pos_of, quat_of = start_pos[chosen].tolist(), start_quat[chosen].tolist()
    count_of = model.body_jntnum[chosen].tolist()

    for body in range(1, len(bodies)):
        parent = parent_of[body]
        pos = add(to_world(xmat[parent], pos_of[body]), xpos[parent])
        quat = quat_multiply(xquat[parent], quat_of[body])
        for _ in range(count_of[body]):
            pos, quat, anchor, axis = joints.move(len(xaxis), pos, quat)
            xanchor.append(anchor)
            xaxis.append(axis)
        xpos.append(pos)
        quat = quat_normalize(quat)
        xquat.append(quat)
        xmat.append(quat_matrix(quat))

    data.xpos[chosen] = xpos
    data.xquat[chosen] = xquat
    if xaxis:
        data.xanchor[ids] = xanchor
        data.xaxis[ids] = xaxis


def slide(model: ModelLike, data: DataLike, bodies: Array, start_pos: Array, start_quat: Array) -> None:
    """Poses of bodies that no joint turns, whose parents' are known, and those of their slides: what `walk` does,
    with the same operations, as rows."""
    parent = model.body_parentid[bodies]
    pos = to_world_rows(quat_matrix_rows(data.xquat[parent]).reshape(-1, 9), start_pos) + data.xpos[parent]
    quat = quat_multiply_rows(data.xquat[parent], start_quat)
    distance = data.qpos[model.jnt_qposadr] - model.qpos0[model.jnt_qposadr]
    for place, joint in slides_of(model, bodies):
        turn = quat[place]
        axis = quat_rotate_rows(turn, model.jnt_axis[joint])
        data.xaxis[joint] = axis
        data.xanchor[joint] = quat_rotate_rows(turn, model.jnt_pos[joint]) + pos[place]
        pos[place] += axis * distance[joint, None]
    data.xpos[bodies] = pos
    data.xquat[bodies] = quat_normalize_rows(quat)


def poses_in_parent(model: ModelLike, data: DataLike) -> tuple[Array, Array]:
    """Pose of every body in its parent before joints move it: the model's, or the user's for mocap bodies."""
    if not model.nmocap:
        return model.body_pos, model.body_quat
    pos, quat = np.array(model.body_pos), np.array(model.body_quat)
    moved = np.flatnonzero(model.body_mocapid >= 0)
    mocap = model.body_mocapid[moved]
    pos[moved] = data.mocap_pos[mocap]
    quat[moved] = quat_normalize_rows(data.mocap_quat[mocap])
    return pos, quat


class Joints:
    """What the walk reads of the joints it meets, as plain numbers in their order, and how each type moves a body."""

    def __init__(self, model: ModelLike, data: DataLike, ids: Any) -> None:
        self.qpos = data.qpos.tolist()
        self.qpos0 = model.qpos0.tolist()
        self.pos = model.jnt_pos[ids].tolist()
        self.axis = model.jnt_axis[ids].tolist()
        self.address = model.jnt_qposadr[ids].tolist()
        self.moves = [_MOVE[kind] for kind in model.jnt_type[ids].tolist()]

    def move(self, joint: int, pos: Vector, quat: Quaternion) -> tuple[Vector, Quaternion, Vector, Vector]:
        """The body's pose after the joint, and the joint's anchor and axis in the world before it."""
        return self.moves[joint](self, joint, pos, quat)

    def free(self, joint: int, pos: Vector, quat: Quaternion) -> tuple[Vector, Quaternion, Vector, Vector]:
        """A free joint's coordinates are the pose in the world; wherever the body was does not matter."""
        at = self.address[joint]
        x, y, z, *orientation = self.qpos[at : at + 7]
        return (x, y, z), quat_normalize(orientation), (x, y, z), self.axis[joint]

    def ball(self, joint: int, pos: Vector, quat: Quaternion) -> tuple[Vector, Quaternion, Vector, Vector]:
        at = self.address[joint]
        return self.turn(joint, pos, quat, quat_normalize(self.qpos[at : at + 4]))

    def hinge(self, joint: int, pos: Vector, quat: Quaternion) -> tuple[Vector, Quaternion, Vector, Vector]:
        at = self.address[joint]
        angle = self.qpos[at] - self.qpos0[at]
        return self.turn(joint, pos, quat, quat_from_axis_angle(self.axis[joint], angle))

    def slide(self, joint: int, pos: Vector, quat: Quaternion) -> tuple[Vector, Quaternion, Vector, Vector]:
        at = self.address[joint]
        axis = quat_rotate(quat, self.axis[joint])
        anchor = add(quat_rotate(quat, self.pos[joint]), pos)
        distance = self.qpos[at] - self.qpos0[at]
        moved = (pos[0] + axis[0] * distance, pos[1] + axis[1] * distance, pos[2] + axis[2] * distance)
        return moved, quat, anchor, axis

    def turn(
        self, joint: int, pos: Vector, quat: Quaternion, turn: Quaternion
    ) -> tuple[Vector, Quaternion, Vector, Vector]:
        """Rotate the body in its own frame about the joint's anchor, which stays where it is."""
        axis = quat_rotate(quat, self.axis[joint])
        anchor = add(quat_rotate(quat, self.pos[joint]), pos)
        turned = quat_multiply(quat, turn)
        ax, ay, az = quat_rotate(turned, self.pos[joint])
        return (anchor[0] - ax, anchor[1] - ay, anchor[2] - az), turned, anchor, axis


_MOVE = {
    FREE: Joints.free,
    BALL: Joints.ball,
    SLIDE: Joints.slide,
    HINGE: Joints.hinge,
}
