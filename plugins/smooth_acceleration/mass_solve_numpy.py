"""All forces but those of constraints, and the acceleration they give.

qfrc_smooth = passive − bias + applied + actuator forces + what the Cartesian xfrc_applied amounts to in joint
coordinates; qacc_smooth = M⁻¹·qfrc_smooth. Trees that sleep have neither. Compare mj_fwdAcceleration and
mj_xfrcAccumulate.
"""

from __future__ import annotations

from dovetail.contracts.enums import EnableBit
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.cartesian_forces_numpy import cartesian_forces
from dovetail.plugins.shared.ldl_numpy import solve


def smooth_acceleration(model: ModelLike, data: DataLike) -> None:
    """Write qfrc_smooth and qacc_smooth."""
    if not model.nv:
        return
    data.qfrc_smooth[:] = data.qfrc_passive - data.qfrc_bias + data.qfrc_applied + data.qfrc_actuator
    if data.xfrc_applied.any():
        data.qfrc_smooth[:] += cartesian_forces(model, data)
    if model.opt.enableflags & EnableBit.SLEEP:
        data.qfrc_smooth[data.tree_asleep[model.dof_treeid] >= 0] = 0.0
    data.qacc_smooth[:] = solve(model, data.qLD, data.qLDiagInv, data.qfrc_smooth)
