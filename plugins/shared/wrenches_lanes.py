"""Joint forces of forces and torques on bodies, and when there are no passive forces at all, in lanes.

Compare mj_applyFT and mj_passive; see `flags` for the latter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel, LaneField
from dovetail.plugins.shared.tree_lanes import add_to_parents
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, vector


def wrench(k: Kernel, body: Any, point: Vector, force: Vector, torque: Vector | float = 0.0) -> Vector:
    """A force at a point of a body and a torque, in world axes, about the centre of mass of the body's tree."""
    lever = point - k.data.subtree_com[k.model.body_rootid[body]]
    return vector(torque + cross(lever, force), force)


@contextmanager
def joint_forces(k: Kernel, wrenches: LaneField) -> Iterator[tuple[Int, Any]]:
    """Repeat for each dof: what wrenches (nbody, 6), which are summed over subtrees in place, amount to there."""
    m, d = k.model, k.data
    add_to_parents(k, wrenches)
    with k.loop(0, m.nv) as dof:
        yield dof, dot(d.cdof[dof], wrenches[m.dof_bodyid[dof]])
