"""Velocities of flex edges, tendons and actuators: Jacobians times joint velocities.

Edges without a Jacobian (nobody needs their velocity: `shared.flex.edge_rows`) have velocity zero, and so have
actuators where actuation is off. Compare mj_fwdVelocity.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.flex.edge_rows import full_rows, stored_rows
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse, jacobian_row


def transmission_velocity(model: ModelLike, data: DataLike) -> None:
    """Write flexedge_velocity, ten_velocity and actuator_velocity."""
    if model.nflexedge:
        data.flexedge_velocity[:] = edge_velocities(model, data)
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


def edge_velocities(model: ModelLike, data: DataLike) -> Array:
    """How fast flex edges (nflexedge,) become longer."""
    if not is_sparse(model):
        return full_rows(model, data) @ data.qvel
    rows = stored_rows(model, data)
    return np.bincount(rows.row_of_entry, rows.values * data.qvel[rows.colind], minlength=len(rows.rownnz))
