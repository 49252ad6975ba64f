"""Actuator lengths and moment arms, in lanes.

`actuator_moment` is stored by rows: each actuator on a joint has entries for all its joint's dofs, zero or not;
actuators on other targets (`arms_lanes`) for the dofs that can move them. Three-dimensional gears of ball and free
joints act in the body's frame (`joint`) or in the parent's (`jointinparent`). The rows' addresses are tables of the
plan, so no integer Data is needed. Compare mj_transmission.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.contracts.enums import JointType, TrnType
from dovetail.plugins.shared.moments.rows_lanes import row_addresses
from dovetail.plugins.shared.quaternions_lanes import (
    quat_conjugate,
    quat_normalize,
    quat_rotate,
    quat_to_rotation_vector,
)
from dovetail.plugins.shared.vectors_lanes import dot
from dovetail.plugins.transmission.arms_lanes import body_arm, crank_arm, site_arm, tendon_arm


def transmission(k: Kernel) -> None:
    """Write actuator_length and the sparse actuator_moment."""
    m = k.model
    if not m.nu:
        return
    k.leaves("actuator_moment", "there are places for as many entries as a full matrix has")
    with k.loop(0, m.nu) as actuator:
        kind = m.actuator_trntype[actuator]
        if k.has("trn.joint") or k.has("trn.jointinparent"):
            with k.when((kind == TrnType.JOINT) | (kind == TrnType.JOINTINPARENT)):
                joint_arm(k, actuator)
        for other, write in _OTHER_ARMS.items():
            if k.has(f"trn.{other.name.lower()}"):
                with k.when(kind == other):
                    write(k, actuator)


_OTHER_ARMS: dict[TrnType, Callable[[Kernel, Int], None]] = {
    TrnType.TENDON: tendon_arm,
    TrnType.SITE: site_arm,
    TrnType.SLIDERCRANK: crank_arm,
    TrnType.BODY: body_arm,
}


def joint_arm(k: Kernel, actuator: Int) -> None:
    """Length and moments of an actuator on a joint, by joint type."""
    m, d = k.model, k.data
    joint, address = m.actuator_trnid[actuator, 0], row_addresses(k)[actuator]
    for kind, arm_of in _ARM.items():
        if k.has(f"joint.{kind.keyword}"):
            with k.when(m.jnt_type[joint] == kind):
                in_parent = m.actuator_trntype[actuator] == TrnType.JOINTINPARENT
                length, moment = arm_of(k, m.jnt_qposadr[joint], m.actuator_gear[actuator], in_parent)
                d.actuator_length[actuator] = length
                for n, entry in enumerate(moment):
                    d.actuator_moment[address + n] = entry


def single_dof_arm(k: Kernel, at: Any, gear: Any, in_parent: Any) -> tuple[Any, list[Any]]:
    """Hinge or slide: the coordinate, geared; parent and child agree on the axis."""
    return k.data.qpos[at] * gear[0], [gear[0]]


def ball_arm(k: Kernel, at: Any, gear: Any, in_parent: Any) -> tuple[Any, list[Any]]:
    """Ball: the rotation vector along the gear, which has the same components in parent and child."""
    orientation = quat_normalize(k, k.data.qpos[at : at + 4])
    length = dot(quat_to_rotation_vector(k, orientation), gear[:3])
    return length, list(turn_into_body(k, gear[:3], orientation, in_parent))


def free_arm(k: Kernel, at: Any, gear: Any, in_parent: Any) -> tuple[Any, list[Any]]:
    """Free: a force in the world and a torque; it has no length."""
    orientation = quat_normalize(k, k.data.qpos[at + 3 : at + 7])
    return 0.0, [*gear[:3], *turn_into_body(k, gear[3:], orientation, in_parent)]


def turn_into_body(k: Kernel, vector: Any, orientation: Any, in_parent: Any) -> Any:
    """Components in the body's frame of a vector given in the parent's, if it is."""
    return k.select(in_parent, quat_rotate(quat_conjugate(orientation), vector), vector)


_ARM: dict[JointType, Callable[[Kernel, Any, Any, Any], tuple[Any, list[Any]]]] = {
    JointType.FREE: free_arm,
    JointType.BALL: ball_arm,
    JointType.SLIDE: single_dof_arm,
    JointType.HINGE: single_dof_arm,
}
