"""Joint forces of forces and torques on bodies. Compare mj_applyFT."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.tree_numpy import add_to_parents
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows


def joint_forces(
    model: ModelLike, data: DataLike, body: Array, point: Array, force: Array, torque: Array
) -> Array:
    """What wrenches amount to in joint coordinates: forces (n, 3) at points (n, 3) of bodies (n), and torques
    (n, 3), all in the world frame."""
    lever = point - data.subtree_com[model.body_rootid[body]]
    wrench = np.zeros((model.nbody, 6))
    np.add.at(wrench, body, np.hstack([torque + cross_rows(lever, force), force]))
    add_to_parents(wrench, model.body_parentid)
    return dot_rows(data.cdof, wrench[model.dof_bodyid])
