"""How far joints and tendons are from where their springs are at rest. In lanes: springs_lanes.py."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.quaternions_numpy import quat_difference, quat_normalize
from dovetail.plugins.shared.tree_numpy import FREE, single_dof


def spring_displacement(model: ModelLike, qpos: Array) -> Array:
    """How far each dof of the joints with springs is from rest."""
    displacement = np.zeros(model.nv)
    single = single_dof(model.jnt_type) & (model.jnt_stiffness != 0.0)
    at = model.jnt_qposadr[single]
    displacement[model.jnt_dofadr[single]] = qpos[at] - model.qpos_spring[at]

    for joint in np.flatnonzero(~single_dof(model.jnt_type) & (model.jnt_stiffness != 0.0)).tolist():
        at, dof = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
        if model.jnt_type[joint] == FREE:
            displacement[dof : dof + 3] = qpos[at : at + 3] - model.qpos_spring[at : at + 3]
            at, dof = at + 3, dof + 3
        orientation = quat_normalize(qpos[at : at + 4].tolist())
        rest = model.qpos_spring[at : at + 4].tolist()
        displacement[dof : dof + 3] = quat_difference(orientation, rest)
    return displacement


def stretch(model: ModelLike, length: Array) -> Array:
    """How far each tendon is outside its spring's dead band: positive above, negative below."""
    low, high = model.tendon_lengthspring.T
    return np.where(length > high, length - high, np.where(length < low, length - low, 0.0))
