"""Moving positions by velocities, and the velocities between positions.

Joint positions are no vector space where there are quaternions: a free or ball joint moves by turning. Compare
mj_integratePos and mj_differentiatePos.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.positions_numpy import move
from dovetail.plugins.shared.quaternions_numpy import quat_difference
from dovetail.plugins.shared.tree_numpy import FREE, single_dof


def integrate_pos(model: ModelLike, qpos: Array, qvel: Array, duration: float) -> Array:
    """Where qpos (nq) is after moving at constant qvel (nv) for `duration`."""
    moved = np.array(qpos, dtype=float)
    move(model, moved, np.asarray(qvel, dtype=float), duration)
    return moved


def differentiate_pos(model: Any, start: Array, end: Array, duration: float) -> Array:
    """The constant velocity (nv) that takes `start` to `end` (nq) in `duration`, rotating the short way."""
    qvel = np.zeros(model.nv)
    single = single_dof(model.jnt_type)
    at = model.jnt_qposadr[single]
    qvel[model.jnt_dofadr[single]] = end[at] - start[at]
    for joint in np.flatnonzero(~single).tolist():
        at, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        if model.jnt_type[joint] == FREE:
            qvel[dof : dof + 3] = end[at : at + 3] - start[at : at + 3]
            at, dof = at + 3, dof + 3
        qvel[dof : dof + 3] = quat_difference(end[at : at + 4].tolist(), start[at : at + 4].tolist())
    return qvel / duration
