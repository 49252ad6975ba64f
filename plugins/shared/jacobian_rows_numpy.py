"""Rows of Jacobians: whether they are stored sparse, rows of tendons in either layout, and how points move with dofs.

Compare mj_isSparse and mj_jac.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from dovetail.contracts.enums import Jacobian
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import SPARSE_FROM
from dovetail.plugins.shared.vectors_numpy import cross_rows

Row: TypeAlias = dict[int, float]
"""One row of the Jacobian: dof → derivative."""


def is_sparse(model: ModelLike) -> bool:
    """Whether Jacobians are stored sparse: as the option says, or by the number of dofs."""
    choice = int(model.opt.jacobian)
    return choice == Jacobian.SPARSE or (choice == Jacobian.AUTO and model.nv >= SPARSE_FROM)


def write_dense(model: ModelLike, data: DataLike, rows: list[Row]) -> None:
    """Full rows."""
    data.ten_J[:] = 0.0
    for field in (data.ten_J_rownnz, data.ten_J_rowadr, data.ten_J_colind):
        field[:] = 0
    for index, row in enumerate(rows):
        data.ten_J[index, list(row)] = list(row.values())


def write_sparse(model: ModelLike, data: DataLike, rows: list[Row]) -> None:
    """Compressed rows, dofs ascending."""
    columns = [sorted(row) for row in rows]
    counts = np.array([len(row) for row in columns])
    flat_J = np.zeros(model.ntendon * model.nv)
    flat_colind = np.zeros(model.ntendon * model.nv, np.int32)
    used = int(counts.sum())
    flat_J[:used] = [row[dof] for row, dofs in zip(rows, columns, strict=True) for dof in dofs]
    flat_colind[:used] = [dof for dofs in columns for dof in dofs]
    data.ten_J_rownnz[:] = counts
    data.ten_J_rowadr[:] = np.cumsum(counts) - counts
    data.ten_J[:] = flat_J.reshape(model.ntendon, model.nv)
    data.ten_J_colind[:] = flat_colind.reshape(model.ntendon, model.nv)


def jacobian_row(model: ModelLike, data: DataLike, index: int) -> tuple[Array, Array]:
    """Dofs and entries of one tendon's Jacobian, whichever way it is stored."""
    if not is_sparse(model):
        return np.arange(model.nv), data.ten_J[index]
    start = int(data.ten_J_rowadr[index])
    place = np.unravel_index(np.arange(start, start + int(data.ten_J_rownnz[index])), data.ten_J.shape)
    return data.ten_J_colind[place], data.ten_J[place]


def dofs_above(model: ModelLike, body: int) -> Array:
    """The dofs that move a body, ascending."""
    while body and not model.body_dofnum[body]:
        body = int(model.body_parentid[body])
    if not body:
        return np.zeros(0, np.intp)
    dof, chain = int(model.body_dofadr[body] + model.body_dofnum[body] - 1), []
    while dof >= 0:
        chain.append(dof)
        dof = int(model.dof_parentid[dof])
    return np.array(chain[::-1], np.intp)


def point_jacobian(model: ModelLike, data: DataLike, body: int, point: Array) -> tuple[Array, Array]:
    """Dofs that move a point fixed in a body, and the point's velocity (n, 3) per unit velocity of each."""
    dofs = dofs_above(model, body)
    axes = np.array(data.cdof[dofs])
    lever = point - data.subtree_com[model.body_rootid[body]]
    return dofs, axes[:, 3:] + cross_rows(axes[:, :3], np.broadcast_to(lever, (len(dofs), 3)))
