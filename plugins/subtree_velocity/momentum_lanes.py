"""Linear velocity of each subtree's centre of mass, and angular momentum of each subtree about it, in lanes.

The momentum of a body about its tree's centre of mass is cinert · cvel, so momenta of one tree simply add up. A
subtree's centre of mass moves at momentum / mass; its angular momentum about that centre is the one about the tree's
centre, less lever × momentum. World axes. Compare mj_subtreeVel.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.motion_lanes import force_moved_to
from dovetail.plugins.shared.spatial_lanes import inertia_times
from dovetail.plugins.shared.tree_lanes import add_to_parents
from dovetail.plugins.shared.vectors_lanes import Vector


def subtree_velocity(k: Kernel) -> None:
    """Write subtree_linvel and subtree_angmom."""
    m, d = k.model, k.data
    momentum = k.scratch("momentum", m.nbody, 6)
    with k.loop(1, m.nbody) as body:
        momentum[body] = inertia_times(d.cinert[body], d.cvel[body])
    add_to_parents(k, momentum)
    total = k.local([0.0] * 6)
    with k.loop(1, m.nbody) as body:
        root = m.body_rootid[body]
        write(k, body, force_moved_to(d.subtree_com[body] - d.subtree_com[root], momentum[body]))
        with k.when(m.body_parentid[body] == 0):
            total += force_moved_to(d.subtree_com[0] - d.subtree_com[body], momentum[body])
    write(k, 0, total.value)


def write(k: Kernel, body: Int | int, momentum: Vector) -> None:
    """The results for one subtree, from its momentum about its own centre of mass."""
    m, d = k.model, k.data
    d.subtree_linvel[body] = momentum[3:] / k.max(m.body_subtreemass[body], MINVAL)
    d.subtree_angmom[body] = momentum[:3]
