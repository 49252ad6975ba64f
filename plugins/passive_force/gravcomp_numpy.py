"""Gravity compensation: a force against gravity at the centre of mass of every body with gravcomp.

qfrc_gravcomp holds the whole. Of it, MuJoCo 3.4 makes passive only what falls on the joints of bodies that have
gravcomp themselves, so a body is fully held up only if all its ancestors have some too; joints with
actuatorgravcomp leave theirs to the actuators (see actuation). Compare mj_gravcomp and mj_passive.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.passive_flags_numpy import all_off
from dovetail.plugins.shared.wrenches_numpy import joint_forces


def gravcomp(model: ModelLike, data: DataLike) -> None:
    """Write qfrc_gravcomp and add the passive part of it to qfrc_passive."""
    data.qfrc_gravcomp[:] = 0.0
    if all_off(model) or model.opt.disableflags & DisableBit.GRAVITY or not (model.nv and model.ngravcomp):
        return
    body = np.flatnonzero(model.body_gravcomp)
    weight = (model.body_mass * model.body_gravcomp)[body]
    force = -weight[:, None] * model.opt.gravity
    data.qfrc_gravcomp[:] = joint_forces(model, data, body, data.xipos[body], force, np.zeros_like(force))
    passive = (model.jnt_actgravcomp[model.dof_jntid] == 0) & (model.body_gravcomp[model.dof_bodyid] != 0.0)
    data.qfrc_passive[:] += np.where(passive, data.qfrc_gravcomp, 0.0)
