"""Joint forces of forces on vertices of flexes and on points of bodies.

A body that only slides along the world's axes takes a force as it is, number by number; on any other one it acts
through the motion of its point with the dofs, those of parents included. Compare the end of mj_springdamper's part
for flexes, and mj_applyFT.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.flex.edge_rows import dofs_that_move
from dovetail.plugins.shared.vectors_numpy import cross_rows, dot_rows

SLIDES_ONLY = 2
"""body_simple of a body that only slides along world axes."""


def forces_on_vertices(model: ModelLike, data: DataLike, force: Array) -> Array:
    """Joint forces (nv,) of forces (nflexvert, 3) on vertices that are fixed in bodies; others take none."""
    body = model.flex_vertbodyid
    slides = (model.body_simple[body] == SLIDES_ONLY) & (body >= 0)
    total = forces_on_own_dofs(model, body[slides], force[slides])
    other = np.flatnonzero(~slides & (model.body_weldid[body] > 0) & (body >= 0))
    if len(other):
        total += forces_at_points(model, data, body[other], data.flexvert_xpos[other], force[other])
    return total


def forces_on_own_dofs(model: ModelLike, body: Array, force: Array) -> Array:
    """Joint forces (nv,) that are the forces (n, 3) themselves, for as many dofs as each body has of its own."""
    total = np.zeros(int(model.nv))
    for axis, component in enumerate(force.T):
        has = model.body_dofnum[body] > axis
        dof = model.body_dofadr[body[has]] + axis
        total += np.bincount(dof, component[has], minlength=len(total))
    return total


def forces_at_points(model: ModelLike, data: DataLike, body: Array, point: Array, force: Array) -> Array:
    """Joint forces (nv,) of forces (n, 3) at points (n, 3) of bodies (n,), world frame."""
    which, dof = dofs_that_move(model, body)
    axis = data.cdof[dof]
    lever = (point - data.subtree_com[model.body_rootid[body]])[which]
    motion = axis[:, 3:] + cross_rows(axis[:, :3], lever)
    return np.bincount(dof, dot_rows(motion, force[which]), minlength=int(model.nv))


def sums_at(place: Array, rows: Array, count: int) -> Array:
    """Sums (count, k) of rows (n, k) that belong to the same place."""
    return np.stack([np.bincount(place, column, minlength=count) for column in rows.T], axis=1)
