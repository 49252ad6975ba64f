"""Actuator lengths and moment arms: how an actuator's target moves with the degrees of freedom.

`actuator_moment` is the derivative of `actuator_length` with respect to motion, stored by rows: each
actuator on a joint has entries for all its joint's dofs, zero or not; actuators on other targets (`arms`) for
the dofs that they move. Three-dimensional gears of ball and free joints act in the body's frame (`joint`) or in
the parent's (`jointinparent`). Compare mj_transmission.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.contracts.enums import TrnType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.quaternions_numpy import (
    Quaternion,
    quat_conjugate,
    quat_normalize,
    quat_rotate,
    quat_to_rotation_vector,
)
from dovetail.plugins.shared.tree_numpy import BALL, single_dof
from dovetail.plugins.shared.vectors_numpy import Vector
from dovetail.plugins.transmission.arms_numpy import Arm, body_arm, crank_arm, site_arm, tendon_arm


def transmission(model: ModelLike, data: DataLike) -> None:
    """Write actuator_length and the sparse actuator_moment."""
    if not model.nu:
        return
    if (model.actuator_trntype > TrnType.JOINTINPARENT).any():
        mixed_targets(model, data)
    else:
        joint_targets(model, data)


def joint_targets(model: ModelLike, data: DataLike) -> None:
    """All actuators act on joints, as in most models: no loop over hinges and slides."""
    joint = model.actuator_trnid[:, 0]
    kind = model.jnt_type[joint]
    lay_out_rows(data, _DOFS[kind], model.jnt_dofadr[joint])

    single = single_dof(kind)
    gear = model.actuator_gear[single, 0]
    data.actuator_length[single] = data.qpos[model.jnt_qposadr[joint[single]]] * gear
    data.actuator_moment[data.moment_rowadr[single]] = gear
    for actuator in np.flatnonzero(~single):
        arm = ball_arm if kind[actuator] == BALL else free_arm
        length, moment = arm(model, data.qpos, int(actuator), int(joint[actuator]))
        start = data.moment_rowadr[actuator]
        data.actuator_length[actuator] = length
        data.actuator_moment[start : start + len(moment)] = moment


_DOFS = np.array([6, 3, 1, 1])
"""Degrees of freedom of a free, ball, slide and hinge joint, in the order of JointType."""


def mixed_targets(model: ModelLike, data: DataLike) -> None:
    """Actuators one by one, their rows one after another."""
    end = 0
    for actuator in range(model.nu):
        arm = _ARMS[TrnType(int(model.actuator_trntype[actuator]))]
        length, dofs, moment = arm(model, data, actuator)
        start, end = end, end + len(dofs)
        data.actuator_length[actuator] = length
        data.moment_rownnz[actuator] = len(dofs)
        data.moment_rowadr[actuator] = start
        data.moment_colind[start:end] = dofs
        data.actuator_moment[start:end] = moment


def joint_arm(model: ModelLike, data: DataLike, actuator: int) -> Arm:
    """A joint of any type."""
    joint = int(model.actuator_trnid[actuator, 0])
    kind, first = int(model.jnt_type[joint]), int(model.jnt_dofadr[joint])
    dofs = first + np.arange(_DOFS[kind])
    if _DOFS[kind] == 1:
        gear = float(model.actuator_gear[actuator, 0])
        return float(data.qpos[model.jnt_qposadr[joint]]) * gear, dofs, np.array([gear])
    length, moment = (ball_arm if kind == BALL else free_arm)(model, data.qpos, actuator, joint)
    return length, dofs, np.array(moment)


def lay_out_rows(data: DataLike, count: Array, first_dof: Array) -> None:
    """Write the sparse structure: `count` dofs from `first_dof` for each actuator, rows one after another."""
    end = np.cumsum(count)
    data.moment_rownnz[:] = count
    data.moment_rowadr[:] = end - count
    within = np.arange(end[-1]) - np.repeat(end - count, count)
    data.moment_colind[: end[-1]] = np.repeat(first_dof, count) + within


def ball_arm(model: ModelLike, qpos: Array, actuator: int, joint: int) -> tuple[float, Vector]:
    """Ball: the rotation vector along the gear; it has the same components in parent and child."""
    at = model.jnt_qposadr[joint]
    orientation = quat_normalize(qpos[at : at + 4].tolist())
    gx, gy, gz = gear = model.actuator_gear[actuator, :3].tolist()
    x, y, z = quat_to_rotation_vector(orientation)
    return x * gx + y * gy + z * gz, torque_in_body(model, actuator, gear, orientation)


def free_arm(model: ModelLike, qpos: Array, actuator: int, joint: int) -> tuple[float, tuple[float, ...]]:
    """Free: a force in the world and a torque; it has no length."""
    at = model.jnt_qposadr[joint] + 3
    orientation = quat_normalize(qpos[at : at + 4].tolist())
    gear = model.actuator_gear[actuator].tolist()
    return 0.0, (*gear[:3], *torque_in_body(model, actuator, gear[3:], orientation))


def torque_in_body(model: ModelLike, actuator: int, gear: list[float], orientation: Quaternion) -> Vector:
    """The rotational gear in the body's frame, where ball and free joints have their rotational dofs."""
    if model.actuator_trntype[actuator] == TrnType.JOINTINPARENT:
        return quat_rotate(quat_conjugate(orientation), gear)
    x, y, z = gear
    return x, y, z


_ARMS: dict[TrnType, Callable[[Any, Any, int], Arm]] = {
    TrnType.JOINT: joint_arm,
    TrnType.JOINTINPARENT: joint_arm,
    TrnType.TENDON: tendon_arm,
    TrnType.SITE: site_arm,
    TrnType.SLIDERCRANK: crank_arm,
    TrnType.BODY: body_arm,
}
