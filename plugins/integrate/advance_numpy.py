"""Moving the state forward in time, shared by the integrators. Compare mj_advance and mj_integratePos."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.activation_numpy import activation_owners, disabled_actuators, next_activation
from dovetail.plugins.shared.quaternions_numpy import quat_integrate
from dovetail.plugins.shared.tree_numpy import FREE, single_dof


def advance(model: Any, data: Any, qacc: Array, act_dot: Array, qvel: Array | None = None) -> None:
    """Take act, qvel, qpos and time one step on; positions move with `qvel`, or with the new velocity."""
    timestep = model.opt.timestep
    if model.na and not model.opt.disableflags & DisableBit.ACTUATION:
        # Disabled actuators do not drive their activation, but actrange still holds for it.
        driven = ~disabled_actuators(model)[activation_owners(model)]
        data.act[:] = next_activation(model, data.act, act_dot * driven)
    data.qvel[:] += timestep * qacc
    move(model, data.qpos, data.qvel if qvel is None else qvel, timestep)
    data.time = data.time + timestep
    data.qacc_warmstart[:] = data.qacc


def move(model: Any, qpos: Array, qvel: Array, duration: float) -> None:
    """Let qpos, in place, move at constant qvel for a while; rotations stay unit quaternions."""
    single = single_dof(model.jnt_type)
    qpos[model.jnt_qposadr[single]] += duration * qvel[model.jnt_dofadr[single]]
    for joint in np.flatnonzero(~single).tolist():
        at, dof = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        if model.jnt_type[joint] == FREE:
            qpos[at : at + 3] += duration * qvel[dof : dof + 3]
            at, dof = at + 3, dof + 3
        turned = quat_integrate(qpos[at : at + 4].tolist(), qvel[dof : dof + 3].tolist(), duration)
        qpos[at : at + 4] = turned
