"""Bias forces by projection: what each body needs for its motion at zero joint acceleration, on each dof moving it.

No recursion over forces: with J the motion of a body's centre of mass and orientation per dof, qfrc_bias is
Σ Jᵥᵀ m (a − g) + J_ωᵀ (I α + ω × I ω), the sum over bodies. World axes; moments about the tree's centre of mass.
The result is that of the recursive Newton-Euler method (Kane's equations, Kane and Levinson 1985, chapter 6).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.plugin import Array, DisableBit


def bias_force(model: Any, data: Any) -> None:
    """Write qfrc_bias."""
    data.qfrc_bias[:] = 0.0
    for body in range(1, model.nbody):
        dofs = moving_dofs(model, body)
        data.qfrc_bias[dofs] += data.cdof[dofs] @ needed_wrench(model, data, body, dofs)


def moving_dofs(model: Any, body: int) -> list[int]:
    """The dofs that move a body, from its own to the root's."""
    while body and not model.body_dofnum[body]:
        body = int(model.body_parentid[body])
    dofs = []
    dof = int(model.body_dofadr[body] + model.body_dofnum[body]) - 1 if body else -1
    while dof >= 0:
        dofs.append(dof)
        dof = int(model.dof_parentid[dof])
    return dofs


def needed_wrench(model: Any, data: Any, body: int, dofs: list[int]) -> Array:
    """Moment and force that one body's motion needs, were all joint accelerations zero."""
    arm = data.xipos[body] - data.subtree_com[model.body_rootid[body]]
    spin, shift = data.cvel[body, :3], data.cvel[body, 3:]
    bias = data.qvel[dofs] @ data.cdof_dot[dofs]
    turning = bias[:3]
    # The spatial acceleration becomes the centre's own by its turning with the velocity.
    centre = bias[3:] + np.cross(turning, arm) + np.cross(spin, shift + np.cross(spin, arm))
    force = model.body_mass[body] * (centre - gravity(model))
    frame = data.ximat[body].reshape(3, 3)
    inertia = (frame * model.body_inertia[body]) @ frame.T
    moment = inertia @ turning + np.cross(spin, inertia @ spin)
    return np.concatenate([moment + np.cross(arm, force), force])


def gravity(model: Any) -> Array:
    off = model.opt.disableflags & DisableBit.GRAVITY
    return np.zeros(3) if off else np.asarray(model.opt.gravity)
