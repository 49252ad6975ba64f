"""How Coriolis and centrifugal forces change with velocity, in closed form, in lanes.

A body with velocity v and momentum h = I·v needs the force I·a + v ×* h, a its acceleration at q̈ = 0. Dof j with axis
s changes it by I·w + B·s, with w = ṡ + (velocity up to and including j's joint) × s and B·s = v ×* I·s − I·(v × s)
+ s ×* h. The derivation is in `rne_numpy`. All about the tree's centre of mass, in world axes. Compare mjd_rne_vel.
"""

from __future__ import annotations

import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.contracts.enums import JointType
from dovetail.plugins.shared.spatial_lanes import cross_force, cross_motion, inertia_times


def subtract_couplings(k: Kernel, coupling: LaneField) -> None:
    """coupling −= B of every body (nbody, 36)."""
    m, d = k.model, k.data
    with k.loop(1, m.nbody) as body:
        inertia, velocity = d.cinert[body], d.cvel[body]
        momentum = k.local(inertia_times(inertia, velocity)).value
        for column, axis in enumerate(np.eye(6).astype(object)):
            change = cross_force(velocity, inertia_times(inertia, axis))
            change = (
                change - inertia_times(inertia, cross_motion(velocity, axis)) + cross_force(axis, momentum)
            )
            for row in range(6):
                coupling[body, 6 * row + column] -= change[row]


def write_carried_axes(k: Kernel, carried: LaneField) -> None:
    """w of every dof (nv, 6): how its axis turns, and how it turns what it carries. A hinge or slide does not turn
    its own axis, so both are ṡ; the three rotations of a ball turn one another."""
    m, d = k.model, k.data
    with k.loop(0, m.nv) as dof:
        carried[dof] = 2.0 * d.cdof_dot[dof]
    if not (k.has("joint.ball") or k.has("joint.free")):
        return
    with k.loop(0, m.njnt) as joint:
        kind = m.jnt_type[joint]
        with k.when((kind == JointType.BALL) | (kind == JointType.FREE)):
            first = m.jnt_dofadr[joint] + k.select(kind == JointType.FREE, 3, 0)
            spin = k.local(sum(d.qvel[first + n] * d.cdof[first + n] for n in range(3))).value
            with k.loop(first, first + 3) as dof:
                carried[dof] += cross_motion(spin, d.cdof[dof])
