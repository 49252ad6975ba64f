"""How points fixed in bodies move with the dofs: the part of a Jacobian that bodies, sites and contacts share.

A body moves with the dofs of its chain. Per unit velocity of a dof with motion axis (ω, v) about the tree's centre
of mass c, a point p of the body moves at v + ω × (p − c) and turns at ω, world axes. Constraints weigh such motions
of a few bodies (−1 and +1 for the two sides of a contact) and then look at them along directions, one per row.
Compare mj_jac, mj_jacDifPair, mj_jacSum.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows, merged, ranges
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows


def dof_chains(model: ModelLike, bodies: Array) -> tuple[Array, Array]:
    """The dofs that move each body, ascending: how many per body, and all of them one after the other."""
    mover = model.body_weldid[bodies]
    last = np.maximum(model.body_dofadr[mover] + model.body_dofnum[mover] - 1, 0)
    # a row of D lists a dof's ancestors, the dof itself, then its descendants
    count = np.where(mover > 0, model.D_diag[last] + 1, 0)
    return count, model.D_colind[ranges(model.D_rowadr[last], count)]


def relative_motion(
    model: ModelLike, data: DataLike, owner: Array, body: Array, point: Array, weight: Array, nowner: int
) -> SparseRows:
    """Weighted sums of the motions of points (n, 3) fixed in bodies, one sum per owner: linear, then angular
    velocity (nnz, 6) per unit velocity of each dof. `owner` says which sum each term belongs to."""
    count, dof = dof_chains(model, body)
    term = np.repeat(np.arange(len(body)), count)
    axis = data.cdof[dof]
    lever = (point - data.subtree_com[model.body_rootid[body]])[term]
    motion = np.hstack([axis[:, 3:] + cross_rows(axis[:, :3], lever), axis[:, :3]])
    return merged(owner[term], dof, motion * weight[term, None], nowner, model.nv)


def along(motion: SparseRows, owner: Array, direction: Array) -> SparseRows:
    """One row per direction (n, 6): how fast its owner's motion goes along it."""
    rows = motion.take(owner)
    return rows._replace(values=dot_rows(rows.values, direction[rows.row_of_entry]))
