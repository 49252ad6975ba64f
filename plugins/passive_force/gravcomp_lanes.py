"""Gravity compensation: a force against gravity at the centre of mass of every body with gravcomp, in lanes.

qfrc_gravcomp holds the whole. Of it, MuJoCo 3.4 makes passive only what falls on the joints of bodies that have
gravcomp themselves; joints with actuatorgravcomp leave theirs to the actuators (see actuation). Compare mj_gravcomp
and mj_passive.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.shared.passive_flags_lanes import all_off
from dovetail.plugins.shared.wrenches_lanes import joint_forces, wrench


def gravcomp(k: Kernel) -> None:
    """Write qfrc_gravcomp and add the passive part of it to qfrc_passive."""
    m, d = k.model, k.data
    if not m.nv:
        return
    wrenches = k.scratch("wrenches", m.nbody, 6)
    with k.when(all_off(k) | k.disabled(DisableBit.GRAVITY)), k.loop(0, m.nv) as dof:
        d.qfrc_gravcomp[dof] = 0.0
    with k.otherwise():
        with k.loop(1, m.nbody) as body:
            weight = m.body_mass[body] * m.body_gravcomp[body]
            wrenches[body] = wrench(k, body, d.xipos[body], -weight * m.opt.gravity[:])
        with joint_forces(k, wrenches) as (dof, force):
            d.qfrc_gravcomp[dof] = force
            held = m.body_gravcomp[m.dof_bodyid[dof]] != 0.0
            with k.when(held & (m.jnt_actgravcomp[m.dof_jntid[dof]] == 0)):
                d.qfrc_passive[dof] += force
