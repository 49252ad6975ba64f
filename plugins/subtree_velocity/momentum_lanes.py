"""Linear velocity of each subtree's centre of mass, and angular momentum of each subtree about it, in lanes.

A subtree's centre of mass moves at momentum / mass. Its angular momentum about that centre is what its bodies have
about their own centres, and what each body, and the subtree of each child, has by its motion relative to the whole.
Masses of subtrees are those that the Model says, also if bodies were edited since. World axes. Compare mj_subtreeVel.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_lanes import cross, to_frame, to_world


def subtree_velocity(k: Kernel) -> None:
    """Write subtree_linvel and subtree_angmom."""
    m, d = k.model, k.data
    velocity, momentum = k.scratch("velocity", m.nbody, 3), k.scratch("momentum", m.nbody, 3)
    write_of_bodies(k, velocity, momentum)
    with k.loop(1, m.nbody, reverse=True) as body:
        momentum[m.body_parentid[body]] += momentum[body]
    with k.loop(0, m.nbody) as body:
        d.subtree_linvel[body] = momentum[body] / k.max(MINVAL, m.body_subtreemass[body])
    with k.loop(1, m.nbody, reverse=True) as body:
        parent = m.body_parentid[body]
        own = m.body_mass[body] * (velocity[body] - d.subtree_linvel[body])
        d.subtree_angmom[body] += cross(d.xipos[body] - d.subtree_com[body], own)
        relative = m.body_subtreemass[body] * (d.subtree_linvel[body] - d.subtree_linvel[parent])
        lever = d.subtree_com[body] - d.subtree_com[parent]
        d.subtree_angmom[parent] += d.subtree_angmom[body] + cross(lever, relative)


def write_of_bodies(k: Kernel, velocity: LaneField, momentum: LaneField) -> None:
    """Velocity and momentum of each body's centre of mass, and to subtree_angmom each body's spin about it."""
    m, d = k.model, k.data
    with k.loop(0, m.nbody) as body:
        turning, moving = d.cvel[body][:3], d.cvel[body][3:]
        lever = d.xipos[body] - d.subtree_com[m.body_rootid[body]]
        velocity[body] = moving + cross(turning, lever)
        momentum[body] = m.body_mass[body] * velocity[body]
        axes = d.ximat[body].reshape(3, 3)
        d.subtree_angmom[body] = to_world(axes, m.body_inertia[body] * to_frame(axes, turning))
