"""Moving the state forward in time, in lanes, shared by the integrators. Compare mj_advance and mj_integratePos."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.contracts.enums import DisableBit, JointType
from dovetail.plugins.shared.activation_lanes import disabled_actuators, next_activation
from dovetail.plugins.shared.quaternions_lanes import quat_integrate


def advance(k: Kernel, qacc: LaneField, act_dot: LaneField, qvel: LaneField | None = None) -> None:
    """Take act, qvel, qpos and time one step on; positions move with `qvel`, or with the new velocity."""
    m, d = k.model, k.data
    timestep = m.opt.timestep
    if m.na:
        with k.when(~k.disabled(DisableBit.ACTUATION)):
            advance_activations(k, act_dot)
    with k.loop(0, m.nv) as dof:
        d.qvel[dof] += timestep * qacc[dof]
    move(k, d.qvel if qvel is None else qvel, timestep)
    d.time = d.time + timestep
    with k.loop(0, m.nv) as dof:
        d.qacc_warmstart[dof] = d.qacc[dof]


def advance_activations(k: Kernel, act_dot: LaneField) -> None:
    """Disabled actuators do not drive their activation, but actrange still holds for it."""
    m, d = k.model, k.data
    with k.loop(0, m.nu) as actuator:
        first = m.actuator_actadr[actuator]
        with k.when(first >= 0):
            driven = k.select(disabled_actuators(k, actuator), 0.0, 1.0)
            with k.loop(first, first + m.actuator_actnum[actuator]) as at:
                d.act[at] = next_activation(k, actuator, d.act[at], driven * act_dot[at])


def move(k: Kernel, qvel: LaneField, duration: Any) -> None:
    """Let qpos move at constant qvel for a while; rotations stay unit quaternions."""
    m = k.model
    with k.loop(0, m.njnt) as joint:
        kind, at, dof = m.jnt_type[joint], m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        if k.has("joint.free"):
            with k.when(kind == JointType.FREE):
                for axis in range(3):
                    k.data.qpos[at + axis] += duration * qvel[dof + axis]
                turn(k, at + 3, qvel, dof + 3, duration)
        if k.has("joint.ball"):
            with k.when(kind == JointType.BALL):
                turn(k, at, qvel, dof, duration)
        with k.when(kind >= JointType.SLIDE):
            k.data.qpos[at] += duration * qvel[dof]


def turn(k: Kernel, at: Any, qvel: LaneField, dof: Any, duration: Any) -> None:
    """Rotate the quaternion at qpos[at] by the angular velocity at qvel[dof]."""
    qpos = k.data.qpos
    qpos[at : at + 4] = quat_integrate(k, qpos[at : at + 4], qvel[dof : dof + 3], duration)
