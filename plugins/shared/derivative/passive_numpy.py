"""How damping forces of dofs, tendons and flex edges change with velocity.

Each damper pulls with −damping × its velocity along its arm, so its derivative is −damping·armᵀ·arm. Compare
mjd_passive_vel.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.derivative.fluid_numpy import fluid_velocity
from dovetail.plugins.shared.derivative.pattern import Entries, add_along
from dovetail.plugins.shared.flex.edge_rows import of_edges, stored_rows
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.passive_flags_numpy import all_off
from dovetail.plugins.shared.sparse_rows_numpy import ranges


def add_passive(model: ModelLike, data: DataLike, deriv: Array, symmetric: bool) -> None:
    """Add ∂qfrc_passive/∂qvel to the pattern D. Like the forces, all of it is off if both flags are."""
    if all_off(model):
        return
    if model.opt.viscosity > 0.0 or model.opt.density > 0.0:
        deriv += fluid_velocity(model, data, symmetric)
    if not model.opt.disableflags & DisableBit.DAMPER:
        deriv[model.D_rowadr + model.D_diag] -= model.dof_damping
        add_flex_edges(model, data, deriv)
        add_tendons(model, data, deriv)


def add_tendons(model: ModelLike, data: DataLike, deriv: Array) -> None:
    """Dampers of tendons."""
    if model.tendon_damping.any():
        add_along(model, deriv, tendon_entries(model, data), -model.tendon_damping)


def add_flex_edges(model: ModelLike, data: DataLike, deriv: Array) -> None:
    """Dampers of the edges of flexes; neither rigid flexes nor rigid edges have any."""
    if not model.flex_edgedamping.any():
        return
    rows = stored_rows(model, data)
    damping = np.where(model.flex_rigid, 0.0, model.flex_edgedamping)
    slope = np.where(model.flexedge_rigid, 0.0, -of_edges(model, damping))
    add_along(model, deriv, (rows.row_of_entry, rows.colind, rows.values), slope)


def tendon_entries(model: ModelLike, data: DataLike) -> Entries:
    """The entries of tendons' Jacobian, which is stored by full rows, or compressed, as MuJoCo 3.4 does."""
    if not is_sparse(model):
        row, dof = np.nonzero(data.ten_J)
        return row, dof, data.ten_J[row, dof]
    rownnz = data.ten_J_rownnz
    row, at = np.repeat(np.arange(len(rownnz)), rownnz), ranges(data.ten_J_rowadr, rownnz)
    return row, data.ten_J_colind.reshape(-1)[at], data.ten_J.reshape(-1)[at]
