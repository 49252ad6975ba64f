"""Coriolis, centrifugal and gravitational forces, by recursive Newton-Euler with zero joint acceleration.

Gravity enters as an upward acceleration of the world. Every body then has the acceleration its ancestors'
velocities give it, the force that needs is I·a + v ×* I·v, and a joint carries the forces of everything
beyond it. About the tree's centre of mass, in world axes. A tendon with armature resists the acceleration that
velocities alone give its length. Compare mj_rne with flg_acc = 0, and mj_tendonBias.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.spatial_numpy import cross_motion_matrix, inertia_matrix
from dovetail.plugins.shared.tree_numpy import add_from_parents, add_to_parents
from dovetail.plugins.shared.vectors_numpy import apply_rows, dot_rows
from dovetail.plugins.tendon.drift import body_drifts, tendon_drift
from dovetail.plugins.tendon.paths_numpy import jacobian_row


def bias_force(model: Any, data: Any) -> None:
    """Write qfrc_bias."""
    if not model.nv:
        return
    force = body_forces(model, data, bias_accelerations(model, data))
    add_to_parents(force, model.body_parentid)
    data.qfrc_bias[:] = dot_rows(data.cdof, force[model.dof_bodyid])
    if model.tendon_armature.any():
        data.qfrc_bias[:] += tendon_bias(model, data)


def bias_accelerations(model: Any, data: Any) -> Array:
    """Acceleration of every body from velocities and gravity alone."""
    acceleration = np.zeros((model.nbody, 6))
    if not model.opt.disableflags & DisableBit.GRAVITY:
        acceleration[0, 3:] = -model.opt.gravity
    np.add.at(acceleration, model.dof_bodyid, data.cdof_dot * data.qvel[:, None])
    add_from_parents(acceleration, model.body_parentid)
    return acceleration


def body_forces(model: Any, data: Any, acceleration: Array) -> Array:
    """Force and torque each body needs for its acceleration; none for the world."""
    inertia = inertia_matrix(data.cinert)
    momentum = apply_rows(inertia, data.cvel)
    carried = apply_rows(cross_motion_matrix(data.cvel).transpose(0, 2, 1), momentum)
    force = apply_rows(inertia, acceleration) - carried
    force[0] = 0.0
    return force


def tendon_bias(model: Any, data: Any) -> Array:
    """Jᵀ·armature·J̇·qvel over the tendons with armature."""
    bias = np.zeros(model.nv)
    drifts = body_drifts(model, data)
    for tendon in np.flatnonzero(model.tendon_armature).tolist():
        dofs, entries = jacobian_row(model, data, tendon)
        force = float(model.tendon_armature[tendon]) * tendon_drift(model, data, tendon, drifts)
        np.add.at(bias, dofs, force * entries)
    return bias
