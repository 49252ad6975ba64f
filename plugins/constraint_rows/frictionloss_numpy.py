"""Rows of friction loss: dofs first, then tendons.

Each row is the velocity of the dof or of the tendon's length; the solver opposes it with a force of at most
the friction loss. There is no position to restore: pos, margin and stiffness are zero. Compare
mj_instantiateFriction.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.constraint_rows.describe_numpy import named
from dovetail.plugins.constraint_rows.lengths_numpy import tendon_rows
from dovetail.plugins.shared.rows.append_numpy import (
    FRICTION_DOF,
    FRICTION_TENDON,
    acting,
    begin,
    soft_rows,
    store,
    write_tendon_addresses,
)
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows


def frictionloss(model: ModelLike, data: DataLike) -> None:
    """Append a row for each dof and tendon with friction loss."""
    if not begin(model, data, DisableBit.FRICTIONLOSS):
        return
    dof_friction(model, data)
    tendon_friction(model, data)


def dof_friction(model: ModelLike, data: DataLike) -> None:
    dofs = np.flatnonzero(model.dof_frictionloss)  # negative ones too, as in MuJoCo
    if not len(dofs):
        return
    rows = soft_rows(
        model,
        FRICTION_DOF,
        dofs,
        SparseRows(np.ones_like(dofs), dofs, np.ones(len(dofs))),
        pos=np.zeros(len(dofs)),
        frictionloss=model.dof_frictionloss[dofs],
        solref=model.dof_solref[dofs],
        solimp=model.dof_solimp[dofs],
        inverse_inertia=model.dof_invweight0[dofs],
        describe=lambda row: f"friction loss of {named(model, 'joint', model.dof_jntid[dofs[row]])}",
    )
    store(data, rows)


def tendon_friction(model: ModelLike, data: DataLike) -> None:
    tendons = np.flatnonzero(model.tendon_frictionloss > 0) if model.ntendon else np.zeros(0, int)
    if not len(tendons):
        return
    jacobian = tendon_rows(model, data, tendons)
    kept = acting(model, jacobian, np.arange(len(tendons)))
    write_tendon_addresses(data, FRICTION_TENDON, tendons, kept)
    tendons = tendons[kept]
    rows = soft_rows(
        model,
        FRICTION_TENDON,
        tendons,
        jacobian.take(np.flatnonzero(kept)),
        pos=np.zeros(len(tendons)),
        frictionloss=model.tendon_frictionloss[tendons],
        solref=model.tendon_solref_fri[tendons],
        solimp=model.tendon_solimp_fri[tendons],
        inverse_inertia=model.tendon_invweight0[tendons],
        describe=lambda row: f"friction loss of {named(model, 'tendon', tendons[row])}",
    )
    store(data, rows)
