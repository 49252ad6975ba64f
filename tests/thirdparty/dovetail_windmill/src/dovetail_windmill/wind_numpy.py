"""Wind: the drag of the air on each body's centre of mass, as a passive force.

Velocities and moments are about the tree's centre of mass, in world axes, as in cvel and cdof; forces are summed
from the leaves to the roots, then projected on the dofs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.plugin import Array
from dovetail_windmill.drag import resistance


def wind(model: Any, data: Any) -> None:
    """Write windmill:force and add the drag to qfrc_passive."""
    arm = data.xipos - data.subtree_com[model.body_rootid]
    force = drag(model, data, arm)
    data.extra["windmill:force"][:] = force
    wrench = np.concatenate([np.cross(arm, force), force], axis=1)
    for body in range(model.nbody - 1, 0, -1):
        wrench[model.body_parentid[body]] += wrench[body]
    data.qfrc_passive[:] += np.einsum("ij,ij->i", data.cdof, wrench[model.dof_bodyid])


def drag(model: Any, data: Any, arm: Array) -> Array:
    """The force of the air on each body, none on the world."""
    velocity = data.cvel[:, 3:] + np.cross(data.cvel[:, :3], arm) - model.opt.wind
    speed = np.sqrt((velocity**2).sum(axis=1, keepdims=True))
    force: Array = -resistance(model)[:, None] * speed * velocity
    force[0] = 0.0
    return force
