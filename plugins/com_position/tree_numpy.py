"""Subtree centres of mass, and inertias and motion axes about them.

All spatial quantities of one kinematic tree share a reference point: the centre of mass of the tree, that is
`subtree_com` of the body attached to the world; axes are the world's. That keeps numbers small far from the
origin, and lets bodies of a tree be added without shifting. `cinert` is each body's inertia and `cdof` each
degree of freedom's unit motion there. Compare mj_comPos, mju_inertCom and mju_dofCom.

Sums run in MuJoCo's order: where joints are redundant the mass matrix is singular, and its rounding is what the
acceleration is made of.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.tree_numpy import FREE, SLIDE, add_to_parents, single_dof
from dovetail.plugins.shared.vectors_numpy import cross_rows

_ROW, _COLUMN = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
"""Elements of a symmetric matrix in the order xx yy zz xy xz yz."""


def com_position(model: ModelLike, data: DataLike) -> None:
    """Write subtree_com, cinert and cdof."""
    data.subtree_com[:] = subtree_centres(model, data.xipos)
    data.cinert[:] = inertias(model, data)
    if model.nv:
        data.cdof[:] = motion_axes(model, data)


def subtree_centres(model: ModelLike, xipos: Array) -> Array:
    """Centre of mass of every body with its descendants; its own where the subtree has no mass."""
    moment = xipos * model.body_mass[:, None]
    add_to_parents(moment, model.body_parentid)
    mass = model.body_subtreemass[:, None]
    return np.where(mass < MINVAL, xipos, moment * (1.0 / np.maximum(mass, MINVAL)))


def inertias(model: ModelLike, data: DataLike) -> Array:
    """Every body's spatial inertia about its tree's centre of mass; the world has none."""
    rotation = data.ximat.reshape(-1, 3, 3)
    offset = data.xipos - data.subtree_com[model.body_rootid]
    mass = model.body_mass[:, None]
    weighed = rotation * model.body_inertia[:, None, :]
    parts = rotation[:, _ROW] * weighed[:, _COLUMN]  # (body, element, axis)
    about_own_centre = parts[..., 0] + parts[..., 1] + parts[..., 2]

    inertia = np.empty((model.nbody, 10))
    x, y, z = offset.T
    m = model.body_mass
    inertia[:, 0] = about_own_centre[:, 0] + m * (y * y + z * z)
    inertia[:, 1] = about_own_centre[:, 1] + m * (x * x + z * z)
    inertia[:, 2] = about_own_centre[:, 2] + m * (x * x + y * y)
    inertia[:, 3] = about_own_centre[:, 3] - m * x * y
    inertia[:, 4] = about_own_centre[:, 4] - m * x * z
    inertia[:, 5] = about_own_centre[:, 5] - m * y * z
    inertia[:, 6:9] = mass * offset
    inertia[:, 9] = m
    inertia[0] = 0.0
    return inertia


def motion_axes(model: ModelLike, data: DataLike) -> Array:
    """Rotation, and velocity of the tree's reference point, per unit of every dof's velocity."""
    axis, translates = dof_axes(model, data)
    lever = data.subtree_com[model.body_rootid[model.dof_bodyid]] - data.xanchor[model.dof_jntid]
    cdof = np.hstack([axis, cross_rows(axis, lever)])
    cdof[translates, :3] = 0.0
    cdof[translates, 3:] = axis[translates]
    return cdof


def dof_axes(model: ModelLike, data: DataLike) -> tuple[Array, Array]:
    """Every dof's axis in the world, and whether it translates along it rather than turning about it."""
    axis = data.xaxis[model.dof_jntid]
    translates = (model.jnt_type == SLIDE)[model.dof_jntid]
    for joint in np.flatnonzero(~single_dof(model.jnt_type)).tolist():
        dof = model.jnt_dofadr[joint]
        if model.jnt_type[joint] == FREE:
            axis[dof : dof + 3] = np.eye(3)
            translates[dof : dof + 3] = True
            dof += 3
        # Rotations are about the body's own axes, the columns of its rotation matrix.
        axis[dof : dof + 3] = data.xmat[model.jnt_bodyid[joint]].reshape(3, 3).T
    return axis, translates
