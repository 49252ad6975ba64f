"""All forces but those of constraints, and the acceleration they give.

qfrc_smooth = passive − bias + applied + actuator forces + what the Cartesian xfrc_applied amounts to in joint
coordinates; qacc_smooth = M⁻¹·qfrc_smooth. Compare mj_fwdAcceleration and mj_xfrcAccumulate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.plugins.factor_mass.ldl_numpy import solve
from dovetail.plugins.spatial import Array, add_to_parents, cross, dot


def smooth_acceleration(model: Any, data: Any) -> None:
    """Write qfrc_smooth and qacc_smooth."""
    if not model.nv:
        return
    data.qfrc_smooth[:] = data.qfrc_passive - data.qfrc_bias + data.qfrc_applied + data.qfrc_actuator
    if data.xfrc_applied.any():
        data.qfrc_smooth[:] += cartesian_forces(model, data)
    data.qacc_smooth[:] = solve(model, data.qLD, data.qLDiagInv, data.qfrc_smooth)


def cartesian_forces(model: Any, data: Any) -> Array:
    """Joint forces of xfrc_applied (force, torque), which acts at bodies' centres of mass in world axes."""
    force, torque = data.xfrc_applied[:, :3], data.xfrc_applied[:, 3:]
    lever = data.xipos - data.subtree_com[model.body_rootid]
    spatial = np.hstack([torque + cross(lever, force), force])
    add_to_parents(spatial, model.body_parentid)
    return dot(data.cdof, spatial[model.dof_bodyid])
