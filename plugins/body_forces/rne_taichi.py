"""Accelerations of bodies, in lanes.

`cacc` follows from joint velocities and accelerations, with gravity as an upward acceleration of the world; about
the tree's centre of mass, in world axes. Forces on bodies (cfrc_ext, cfrc_int) are left to the reference: what
contacts do is not in Data while the constraints' stages run in lanes. Compare mj_rnePostConstraint.
"""

from __future__ import annotations

import numpy as np

from dovetail.backends.taichi.algebra import vector
from dovetail.backends.taichi.lanes import Kernel
from dovetail.contracts.enums import DisableBit


def body_forces(k: Kernel) -> None:
    """Write cacc."""
    m, d = k.model, k.data
    on = k.select(k.disabled(DisableBit.GRAVITY), 0.0, 1.0)
    d.cacc[0] = vector(np.zeros(3), -m.opt.gravity[:] * on)
    with k.loop(1, m.nbody) as body:
        total = k.local(d.cacc[m.body_parentid[body]])
        first = m.body_dofadr[body]
        with k.loop(first, first + m.body_dofnum[body]) as dof:
            total += d.cdof_dot[dof] * d.qvel[dof] + d.cdof[dof] * d.qacc[dof]
        d.cacc[body] = total.value
