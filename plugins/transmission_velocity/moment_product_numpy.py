"""Tendon and actuator velocities: Jacobians times joint velocities; actuators' zero where actuation is off.

Compare mj_fwdVelocity.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import jacobian_row


def transmission_velocity(model: ModelLike, data: DataLike) -> None:
    """Write ten_velocity and actuator_velocity."""
    for tendon in range(model.ntendon):
        dofs, entries = jacobian_row(model, data, tendon)
        data.ten_velocity[tendon] = entries @ data.qvel[dofs]
    data.actuator_velocity[:] = 0.0
    if not model.nu or model.opt.disableflags & DisableBit.ACTUATION:
        return
    actuator = np.repeat(np.arange(model.nu), data.moment_rownnz)
    # The rows follow one another from address 0, so the entries in use are the first ones.
    used = len(actuator)
    entries = data.actuator_moment[:used] * data.qvel[data.moment_colind[:used]]
    np.add.at(data.actuator_velocity, actuator, entries)
