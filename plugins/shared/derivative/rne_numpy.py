"""How Coriolis and centrifugal forces change with velocity, in closed form.

A body with velocity v and momentum h = I·v needs the force I·a + v ×* h, a its acceleration at q̈ = 0. Dof j
changes a because its own axis s turns at ṡ, and because it carries every later axis, so that

    ∂(force)/∂q̇ⱼ = I·w + B·s,    w = ṡ + (velocity up to and including j's joint) × s,
                                 B·s = v ×* I·s − I·(v × s) + s ×* h.

I and B add up over bodies about a common point. Dof i feels what dof j does to the bodies beyond both, which
are those beyond the deeper of the two. All about the tree's centre of mass, in world axes. Compare mjd_rne_vel.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.derivative.pattern import subtree_product
from dovetail.plugins.shared.spatial_numpy import cross_motion_matrix, inertia_matrix
from dovetail.plugins.shared.tree_numpy import BALL, FREE, add_to_parents
from dovetail.plugins.shared.vectors_numpy import apply_rows


def bias_velocity(model: ModelLike, data: DataLike) -> Array:
    """∂qfrc_bias/∂qvel in the pattern D."""
    through_turning = subtree_product(model, data.cdof, inertia_matrix(data.crb), carried_axes(model, data))
    return through_turning + subtree_product(model, data.cdof, subtree_couplings(model, data), data.cdof)


def carried_axes(model: ModelLike, data: DataLike) -> Array:
    """w of every dof: how its axis turns, and how it turns what it carries. A hinge or slide does not turn its
    own axis, so both are ṡ; the three rotations of a ball turn one another."""
    turning = 2.0 * data.cdof_dot
    for joint in np.flatnonzero((model.jnt_type == BALL) | (model.jnt_type == FREE)).tolist():
        first = int(model.jnt_dofadr[joint]) + (3 if model.jnt_type[joint] == FREE else 0)
        dofs = slice(first, first + 3)
        spin = data.qvel[dofs] @ data.cdof[dofs]
        turning[dofs] += data.cdof[dofs] @ cross_motion_matrix(spin[None])[0].T
    return turning


def subtree_couplings(model: ModelLike, data: DataLike) -> Array:
    """B of every body together with all it carries (nbody, 6, 6)."""
    inertia, carry = inertia_matrix(data.cinert), cross_motion_matrix(data.cvel)
    carried = inertia @ carry
    coupling = crossed_with_force(apply_rows(inertia, data.cvel)) - carried - carried.transpose(0, 2, 1)
    add_to_parents(coupling, model.body_parentid)
    return coupling


def crossed_with_force(force: Array) -> Array:
    """Matrices (n, 6, 6) that take a motion s to s ×* force."""
    blocks = -cross_motion_matrix(force)
    blocks[:, :3, 3:] = blocks[:, 3:, :3]
    blocks[:, 3:, 3:] = 0.0
    return blocks
