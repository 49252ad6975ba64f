"""Positions that move at constant velocity. Compare mj_integratePos."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.quaternions_numpy import quat_integrate
from dovetail.plugins.shared.tree_numpy import FREE, single_dof


def move(model: ModelLike, qpos: Array, qvel: Array, duration: float) -> None:
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
