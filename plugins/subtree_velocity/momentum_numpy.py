"""Linear velocity of each subtree's centre of mass, and angular momentum of each subtree about it.

A subtree's centre of mass moves at momentum / mass. Its angular momentum about that centre is what its bodies have
about their own centres, and what each body, and the subtree of each child, has by its motion relative to the whole.
Masses of subtrees are those that the Model says, also if bodies were edited since. World axes. Compare mj_subtreeVel.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.tree_numpy import add_to_parents
from dovetail.plugins.shared.vectors_numpy import apply_rows, cross_rows


def subtree_velocity(model: ModelLike, data: DataLike) -> None:
    """Write subtree_linvel and subtree_angmom."""
    velocity = body_velocities(model, data)
    momentum = model.body_mass[:, None] * velocity
    add_to_parents(momentum, model.body_parentid)
    linvel = momentum / np.maximum(model.body_subtreemass, MINVAL)[:, None]
    angmom = spins(model, data)
    by_motion = cross_rows(data.xipos - data.subtree_com, model.body_mass[:, None] * (velocity - linvel))
    angmom[1:] += by_motion[1:]
    parent = model.body_parentid
    np.add.at(angmom, parent[1:], relative_to_parents(model, data, linvel)[1:])
    add_to_parents(angmom, parent)
    data.subtree_linvel[:] = linvel
    data.subtree_angmom[:] = angmom


def body_velocities(model: ModelLike, data: DataLike) -> Array:
    """How fast each body's centre of mass moves."""
    lever = data.xipos - data.subtree_com[model.body_rootid]
    velocity: Array = data.cvel[:, 3:] + cross_rows(data.cvel[:, :3], lever)
    return velocity


def spins(model: ModelLike, data: DataLike) -> Array:
    """Angular momentum of each body about its own centre of mass."""
    axes = data.ximat.reshape(-1, 3, 3)
    turning = model.body_inertia * apply_rows(axes.transpose(0, 2, 1), data.cvel[:, :3])
    return apply_rows(axes, turning)


def relative_to_parents(model: ModelLike, data: DataLike, linvel: Array) -> Array:
    """Angular momentum of each subtree's centre of mass about that of the parent's subtree."""
    parent = model.body_parentid
    relative = model.body_subtreemass[:, None] * (linvel - linvel[parent])
    return cross_rows(data.subtree_com - data.subtree_com[parent], relative)
