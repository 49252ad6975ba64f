"""Coriolis, centrifugal and gravitational forces, by recursive Newton-Euler with zero joint acceleration, in lanes.

Gravity enters as an upward acceleration of the world. Every body then has the acceleration its ancestors'
velocities give it, the force that needs is I·a + v ×* I·v, and a joint carries the forces of everything beyond it.
About the tree's centre of mass, in world axes. A tendon with armature resists the acceleration that velocities
alone give its length. Compare mj_rne with flg_acc = 0, and mj_tendonBias.
"""

from __future__ import annotations

import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.spatial_lanes import cross_force, inertia_times
from dovetail.plugins.shared.tendons.drift_lanes import tendon_drifts
from dovetail.plugins.shared.tendons.rows_lanes import add_along
from dovetail.plugins.shared.tree_lanes import add_to_parents
from dovetail.plugins.shared.vectors_lanes import dot, vector


def bias_force(k: Kernel) -> None:
    """Write qfrc_bias."""
    m, d = k.model, k.data
    if not m.nv:
        return
    acceleration = k.scratch("acceleration", m.nbody, 6)
    force = k.scratch("force", m.nbody, 6)
    on = k.select(k.disabled(DisableBit.GRAVITY), 0.0, 1.0)
    acceleration[0] = vector(np.zeros(3), -m.opt.gravity[:] * on)
    body_forces(k, acceleration, force)
    add_to_parents(k, force)
    with k.loop(0, m.nv) as dof:
        d.qfrc_bias[dof] = dot(d.cdof[dof], force[m.dof_bodyid[dof]])
    if k.has("tendon.armature"):
        drift = tendon_drifts(k, acceleration)
        with k.loop(0, m.ntendon) as tendon, k.when(m.tendon_armature[tendon] != 0.0):
            add_along(k, tendon, m.tendon_armature[tendon] * drift[tendon], d.qfrc_bias)


def body_forces(k: Kernel, acceleration: LaneField, force: LaneField) -> None:
    """Acceleration of every body from velocities and gravity alone, and the force and torque it needs."""
    m, d = k.model, k.data
    with k.loop(1, m.nbody) as body:
        total = k.local(acceleration[m.body_parentid[body]])
        first = m.body_dofadr[body]
        with k.loop(first, first + m.body_dofnum[body]) as dof:
            total += d.cdof_dot[dof] * d.qvel[dof]
        acceleration[body] = total.value
        inertia, velocity = d.cinert[body], d.cvel[body]
        force[body] = inertia_times(inertia, total.value) + cross_force(
            velocity, inertia_times(inertia, velocity)
        )
