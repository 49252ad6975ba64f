"""Wind in lanes: the drag of the air on each body's centre of mass, as a passive force.

Velocities and moments are about the tree's centre of mass, in world axes, as in cvel and cdof; forces are summed
from the leaves to the roots, then projected on the dofs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.vectors_lanes import cross, dot, norm, vector
from dovetail_windmill.drag import HALF_DENSITY_DRAG


def wind(k: Kernel) -> None:
    """Add the drag to qfrc_passive."""
    m, d = k.model, k.data
    if not m.nv:
        return
    wrench = k.scratch("wrench", m.nbody, 6)
    with k.loop(0, m.nbody) as body:
        arm = d.xipos[body] - d.subtree_com[m.body_rootid[body]]
        force = drag(k, body, arm)
        wrench[body] = vector(cross(arm, force), force)
    with k.loop(1, m.nbody, reverse=True) as body:
        parent = m.body_parentid[body]
        with k.when(parent > 0):
            wrench[parent] += wrench[body]
    with k.loop(0, m.nv) as dof:
        d.qfrc_passive[dof] += dot(d.cdof[dof], wrench[m.dof_bodyid[dof]])


def drag(k: Kernel, body: Any, arm: Any) -> Any:
    """The force of the air on one body."""
    m, d = k.model, k.data
    squares = k.local(0.0)
    first = m.body_geomadr[body]
    with k.loop(first, first + m.body_geomnum[body]) as geom:
        squares += m.geom_rbound[geom] * m.geom_rbound[geom]
    spin = d.cvel[body][:3]
    velocity = d.cvel[body][3:] + cross(spin, arm) - m.opt.wind[:]
    resistance = HALF_DENSITY_DRAG * np.pi * squares.value
    return -resistance * norm(k, velocity) * velocity
