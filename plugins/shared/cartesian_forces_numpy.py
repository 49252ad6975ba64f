"""Joint forces of forces and torques that act on bodies. Compare mj_xfrcAccumulate."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.tree_numpy import add_to_parents
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows


def cartesian_forces(model: ModelLike, data: DataLike) -> Array:
    """Joint forces of xfrc_applied (force, torque), which acts at bodies' centres of mass in world axes."""
    force, torque = data.xfrc_applied[:, :3], data.xfrc_applied[:, 3:]
    lever = data.xipos - data.subtree_com[model.body_rootid]
    spatial = np.hstack([torque + cross_rows(lever, force), force])
    add_to_parents(spatial, model.body_parentid)
    joint_forces: Array = dot_rows(data.cdof, spatial[model.dof_bodyid])
    if not is_sparse(model) and not np.isfinite(data.xfrc_applied[1:]).all():
        joint_forces[:] = np.nan  # MuJoCo multiplies dense Jacobians, whose zeros do not hide NaN
    return joint_forces
