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
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.passive_flags_numpy import all_off


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
        arms = entries(model, data.ten_J, data.ten_J_rownnz, data.ten_J_rowadr, data.ten_J_colind)
        add_along(model, deriv, arms, -model.tendon_damping)


def add_flex_edges(model: ModelLike, data: DataLike, deriv: Array) -> None:
    """Dampers of the edges of flexes; neither rigid flexes nor rigid edges have any."""
    if not model.flex_edgedamping.any():
        return
    arms = entries(
        model, data.flexedge_J, data.flexedge_J_rownnz, data.flexedge_J_rowadr, data.flexedge_J_colind
    )
    damping = np.where(model.flex_rigid, 0.0, model.flex_edgedamping)
    per_edge = np.repeat(damping, model.flex_edgenum)
    add_along(model, deriv, arms, np.where(model.flexedge_rigid, 0.0, -per_edge))


def entries(model: ModelLike, matrix: Array, rownnz: Array, rowadr: Array, colind: Array) -> Entries:
    """The entries of a Jacobian that is stored by full rows, or compressed, as MuJoCo 3.4 does."""
    if not is_sparse(model):
        row, dof = np.nonzero(matrix)
        return row, dof, matrix[row, dof]
    row = np.repeat(np.arange(len(rownnz)), rownnz)
    at = np.arange(len(row)) + np.repeat(rowadr - (np.cumsum(rownnz) - rownnz), rownnz)
    return row, colind.reshape(-1)[at], matrix.reshape(-1)[at]
