"""All forces but those of constraints, and the acceleration they give.

qfrc_smooth = passive − bias + applied + actuator forces + what the Cartesian xfrc_applied amounts to in joint
coordinates; qacc_smooth = M⁻¹·qfrc_smooth. Trees that sleep have neither. Compare mj_fwdAcceleration and
mj_xfrcAccumulate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import EnableBit
from dovetail.contracts.fields import Array
from dovetail.plugins.factor_mass.ldl_numpy import solve
from dovetail.plugins.shared.tree_numpy import add_to_parents
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows
from dovetail.plugins.tendon.paths_numpy import is_sparse


def smooth_acceleration(model: Any, data: Any) -> None:
    """Write qfrc_smooth and qacc_smooth."""
    if not model.nv:
        return
    data.qfrc_smooth[:] = data.qfrc_passive - data.qfrc_bias + data.qfrc_applied + data.qfrc_actuator
    if data.xfrc_applied.any():
        data.qfrc_smooth[:] += cartesian_forces(model, data)
    if model.opt.enableflags & EnableBit.SLEEP:
        data.qfrc_smooth[data.tree_asleep[model.dof_treeid] >= 0] = 0.0
    data.qacc_smooth[:] = solve(model, data.qLD, data.qLDiagInv, data.qfrc_smooth)


def cartesian_forces(model: Any, data: Any) -> Array:
    """Joint forces of xfrc_applied (force, torque), which acts at bodies' centres of mass in world axes."""
    force, torque = data.xfrc_applied[:, :3], data.xfrc_applied[:, 3:]
    lever = data.xipos - data.subtree_com[model.body_rootid]
    spatial = np.hstack([torque + cross_rows(lever, force), force])
    add_to_parents(spatial, model.body_parentid)
    joint_forces: Array = dot_rows(data.cdof, spatial[model.dof_bodyid])
    if not is_sparse(model) and not np.isfinite(data.xfrc_applied[1:]).all():
        joint_forces[:] = np.nan  # MuJoCo multiplies dense Jacobians, whose zeros do not hide NaN
    return joint_forces
