"""Coriolis, centrifugal and gravitational forces, by recursive Newton-Euler with zero joint acceleration.

Gravity enters as an upward acceleration of the world. Every body then has the acceleration its ancestors'
velocities give it, the force that needs is I·a + v ×* I·v, and a joint carries the forces of everything
beyond it. About the tree's centre of mass, in world axes. A tendon with armature resists the acceleration that
velocities alone give its length. Compare mj_rne with flg_acc = 0, and mj_tendonBias.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import jacobian_row
from dovetail.plugins.shared.rne_numpy import bias_accelerations, body_forces
from dovetail.plugins.shared.tendons.drift_numpy import body_drifts, tendon_drift
from dovetail.plugins.shared.tree_numpy import add_to_parents
from dovetail.plugins.shared.vectors_numpy import dot_rows


def bias_force(model: ModelLike, data: DataLike) -> None:
    """Write qfrc_bias."""
    if not model.nv:
        return
    force = body_forces(model, data, bias_accelerations(model, data))
    add_to_parents(force, model.body_parentid)
    data.qfrc_bias[:] = dot_rows(data.cdof, force[model.dof_bodyid])
    if model.tendon_armature.any():
        data.qfrc_bias[:] += tendon_bias(model, data)


def tendon_bias(model: ModelLike, data: DataLike) -> Array:
    """Jᵀ·armature·J̇·qvel over the tendons with armature."""
    bias = np.zeros(model.nv)
    drifts = body_drifts(model, data)
    for tendon in np.flatnonzero(model.tendon_armature).tolist():
        dofs, entries = jacobian_row(model, data, tendon)
        force = float(model.tendon_armature[tendon]) * tendon_drift(model, data, tendon, drifts)
        np.add.at(bias, dofs, force * entries)
    return bias
