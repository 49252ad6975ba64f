"""Linear velocity of each subtree's centre of mass, and angular momentum of each subtree about it.

The momentum of a body about its tree's centre of mass is cinert · cvel, so momenta of one tree simply add up.
A subtree's centre of mass moves at momentum / mass; its angular momentum about that centre is the one about the
tree's centre, less lever × momentum. World axes. Compare mj_subtreeVel.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.motion_numpy import force_moved_to
from dovetail.plugins.shared.spatial_numpy import inertia_times
from dovetail.plugins.shared.tree_numpy import add_to_parents


def subtree_velocity(model: ModelLike, data: DataLike) -> None:
    """Write subtree_linvel and subtree_angmom."""
    momentum = subtree_momenta(model, data)
    data.subtree_linvel[:] = momentum[:, 3:] / np.maximum(model.body_subtreemass, MINVAL)[:, None]
    data.subtree_angmom[:] = momentum[:, :3]


def subtree_momenta(model: ModelLike, data: DataLike) -> Array:
    """Momentum (angular, linear) of every subtree, about its own centre of mass."""
    momentum = inertia_times(data.cinert, data.cvel)
    add_to_parents(momentum, model.body_parentid)
    reference = data.subtree_com[model.body_rootid]
    own = force_moved_to(data.subtree_com - reference, momentum)
    own[0] = world_momentum(model, data, momentum)
    return own


def world_momentum(model: ModelLike, data: DataLike, momentum: Array) -> Array:
    """Momentum of everything, from those of the trees, each about its own centre of mass."""
    root = np.flatnonzero(model.body_parentid == 0)[1:]
    lever = data.subtree_com[0] - data.subtree_com[root]
    total: Array = force_moved_to(lever, momentum[root]).sum(axis=0)
    return total
