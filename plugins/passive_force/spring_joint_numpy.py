"""Joint springs: a force towards qpos_spring, in joint coordinates.

Hinges and slides pull with −k·(q − q_spring). A ball's displacement is the rotation vector from the spring
orientation, in the body's frame; a free joint is three slides in the world frame and a ball. Compare the
joint part of mj_springdamper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.quaternions_numpy import quat_difference, quat_normalize
from dovetail.plugins.shared.tree_numpy import FREE, single_dof


def spring(model: Any, data: Any) -> None:
    """Write qfrc_spring and add it to qfrc_passive."""
    data.qfrc_spring[:] = 0.0
    if model.opt.disableflags & DisableBit.SPRING or not model.jnt_stiffness.any():
        return
    stiffness = model.jnt_stiffness[model.dof_jntid]
    data.qfrc_spring[:] = -stiffness * spring_displacement(model, data.qpos)
    data.qfrc_passive[:] += data.qfrc_spring


def spring_displacement(model: Any, qpos: Array) -> Array:
    """How far each dof of the joints with springs is from rest."""
    displacement = np.zeros(model.nv)
    single = single_dof(model.jnt_type)
    at = model.jnt_qposadr[single]
    displacement[model.jnt_dofadr[single]] = qpos[at] - model.qpos_spring[at]

    for joint in np.flatnonzero(~single & (model.jnt_stiffness != 0.0)).tolist():
        at, dof = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        if model.jnt_type[joint] == FREE:
            displacement[dof : dof + 3] = qpos[at : at + 3] - model.qpos_spring[at : at + 3]
            at, dof = at + 3, dof + 3
        orientation = quat_normalize(qpos[at : at + 4].tolist())
        rest = model.qpos_spring[at : at + 4].tolist()
        displacement[dof : dof + 3] = quat_difference(orientation, rest)
    return displacement
