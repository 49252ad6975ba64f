"""Recursive Newton-Euler: accelerations down the tree, the forces that bodies need for them. Compare mj_rne."""

from __future__ import annotations

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.spatial_numpy import cross_motion_matrix, inertia_matrix
from dovetail.plugins.shared.tree_numpy import add_from_parents
from dovetail.plugins.shared.vectors_numpy import apply_rows, row_sums


def bias_accelerations(model: ModelLike, data: DataLike) -> Array:
    """Acceleration of every body from velocities and gravity alone."""
    acceleration = row_sums(model.dof_bodyid, data.cdof_dot * data.qvel[:, None], model.nbody)
    if not model.opt.disableflags & DisableBit.GRAVITY:
        acceleration[0, 3:] = -model.opt.gravity
    add_from_parents(acceleration, model.body_parentid)
    return acceleration


def body_forces(model: ModelLike, data: DataLike, acceleration: Array) -> Array:
    """Force and torque each body needs for its acceleration; none for the world."""
    inertia = inertia_matrix(data.cinert)
    momentum = apply_rows(inertia, data.cvel)
    carried = apply_rows(cross_motion_matrix(data.cvel).transpose(0, 2, 1), momentum)
    force = apply_rows(inertia, acceleration) - carried
    force[0] = 0.0
    return force
