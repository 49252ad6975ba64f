"""Composite rigid bodies: M[i, j] = cdofⱼ · crb(body of i) · cdofᵢ for every ancestor j of i, and what tendons with
armature add. The order of sums is MuJoCo's. Compare mj_crb and mj_tendonArmature.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import jacobian_row
from dovetail.plugins.shared.tree_numpy import add_to_parents


def composite_inertias(model: ModelLike, cinert: Array) -> Array:
    """Inertia of every body together with its descendants; the world's stays zero."""
    crb = np.array(cinert)
    add_to_parents(crb, model.body_parentid)
    crb[0] = 0.0
    return crb


def mass_entries(model: ModelLike, crb: Array, cdof: Array) -> Array:
    """Stored entries of M, row by row: momentum of a unit velocity, along each ancestor's axis."""
    momentum = momenta(crb[model.dof_bodyid], cdof)
    row = np.repeat(np.arange(model.nv), model.M_rownnz)
    entries = powers(cdof[model.M_colind], momentum[row])
    diagonal = model.M_rowadr + model.M_rownnz - 1
    entries[diagonal] += model.dof_armature
    simple = model.dof_simplenum > 0
    entries[diagonal[simple]] = model.dof_M0[simple]
    return entries


_NUMBER = np.array(
    [[0, 3, 4, 8, 7], [3, 1, 5, 8, 6], [4, 5, 2, 7, 6], [8, 7, 9, 9, 9], [6, 8, 9, 9, 9], [7, 6, 9, 9, 9]]
)


_ALONG = np.array(
    [[0, 1, 2, 4, 5], [0, 1, 2, 3, 5], [0, 1, 2, 3, 4], [1, 2, 3, 3, 3], [2, 0, 4, 4, 4], [0, 1, 5, 5, 5]]
)


_SIGN = np.array(
    [
        [1, 1, 1, -1, 1],
        [1, 1, 1, 1, -1],
        [1, 1, 1, -1, 1],
        [1, -1, 1, 0, 0],
        [1, -1, 1, 0, 0],
        [1, -1, 1, 0, 0],
    ]
)
"""Angular momentum I·w + h×v and momentum m·v − h×w term by term, in the order in which MuJoCo adds them: which of
an inertia's ten numbers, times which component of a velocity (mju_mulInertVec)."""


def momenta(inertia: Array, velocity: Array) -> Array:
    """Spatial momentum (n, 6) of inertias (n, 10) at velocities (n, 6)."""
    term = inertia[:, _NUMBER] * velocity[:, _ALONG] * _SIGN
    total: Array = term[..., 0] + term[..., 1] + term[..., 2] + term[..., 3] + term[..., 4]
    return total


def powers(velocity: Array, momentum: Array) -> Array:
    """Scalar products of rows of six, the first four in two pairs, as MuJoCo's vector instructions add them."""
    a, b, c, d, e, f = (velocity * momentum).T
    total: Array = (a + c) + (b + d) + (e + f)
    return total


def tendon_inertia(model: ModelLike, data: DataLike) -> Array:
    """What tendons with armature add to the stored entries of M: armature times the square of their Jacobian."""
    added = np.zeros(len(model.M_colind))
    row = np.repeat(np.arange(model.nv), model.M_rownnz)
    for tendon in np.flatnonzero(model.tendon_armature):
        dofs, entries = jacobian_row(model, data, int(tendon))
        jacobian = np.zeros(model.nv)
        jacobian[dofs] = entries
        added += model.tendon_armature[tendon] * jacobian[row] * jacobian[model.M_colind]
    return added
