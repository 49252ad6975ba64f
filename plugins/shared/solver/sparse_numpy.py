"""Matrices stored by row (rownnz, rowadr, colind, values, as MuJoCo has them) to ones that solvers multiply with.

Few columns give a dense array, many a SciPy sparse matrix, so that a scene of hundreds of bodies does not need
room for rows × dofs numbers. Both take part in `A @ x` and `A.T @ y`. Compare mju_sparse2dense.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.ldl_numpy import coupled

DENSE = 200
"""Dofs up to which dense matrices are quicker. Measured on piles of boxes with one thread of BLAS: Newton's method
with dense Cholesky takes 60 % of the time at 120 dofs, as long as with sparse factors at 250, seven times as long at
600, where it needs 30 MB instead of 1.5."""


def entries(rownnz: Array, rowadr: Array) -> tuple[Array, Array]:
    """Row of each entry, and its address in colind and values, row after row."""
    row = np.repeat(np.arange(len(rownnz)), rownnz)
    first = np.cumsum(rownnz) - rownnz
    return row, np.arange(len(row)) + (rowadr - first)[row]


def matrix(rownnz: Array, rowadr: Array, colind: Array, values: Array, ncol: int) -> Any:
    """The matrix (len(rownnz), ncol), dense if it has few columns, else sparse."""
    if ncol > DENSE:
        return sparse_matrix(rownnz, rowadr, colind, values, ncol)
    row, at = entries(rownnz, rowadr)
    dense = np.zeros((len(rownnz), ncol))
    dense[row, colind[at]] = values[at]
    return dense


def sparse_matrix(rownnz: Array, rowadr: Array, colind: Array, values: Array, ncol: int) -> Any:
    """The matrix (len(rownnz), ncol) as a sparse one."""
    from scipy.sparse import csr_array

    _, at = entries(rownnz, rowadr)
    starts = np.concatenate([[0], np.cumsum(rownnz)])
    return csr_array((values[at], colind[at], starts), shape=(len(rownnz), ncol))


def symmetric(rownnz: Array, rowadr: Array, colind: Array, values: Array) -> Any:
    """The symmetric matrix whose lower triangle is given, each row ending with its diagonal."""
    n = len(rownnz)
    if n > DENSE:
        return sparse_symmetric(rownnz, rowadr, colind, values)
    lower = matrix(rownnz, rowadr, colind, values, n)
    return lower + lower.T - np.diag(values[rowadr + rownnz - 1])


def sparse_symmetric(rownnz: Array, rowadr: Array, colind: Array, values: Array) -> Any:
    """The same as a sparse matrix."""
    from scipy.sparse import diags_array

    lower = sparse_matrix(rownnz, rowadr, colind, values, len(rownnz))
    diagonal = values[rowadr + rownnz - 1]
    if len(lower.data) == len(diagonal):
        return lower
    return (lower + lower.T - diags_array(diagonal)).tocsr()


def jacobian(model: ModelLike, data: DataLike) -> Any:
    """All constraint rows by all dofs."""
    nefc = data.nefc
    return matrix(data.efc_J_rownnz[:nefc], data.efc_J_rowadr[:nefc], data.efc_J_colind, data.efc_J, model.nv)


def joint_forces(J: Any, force: Array) -> Array:
    """Jᵀ·force, row after row with each product rounded: forces of stiff rows that cancel do so exactly, as in
    mju_mulMatTVec. BLAS adds products it has not rounded, and leaves the rounding of numbers that may be large."""
    if isinstance(J, np.ndarray):
        total: Array = (J * force[:, None]).sum(axis=0)
        return total
    return np.asarray(J.T @ force)


def mass_matrix(model: ModelLike, data: DataLike) -> Any:
    """M with both triangles."""
    return symmetric(model.M_rownnz, model.M_rowadr, model.M_colind, data.M)


def solve_columns(model: ModelLike, data: DataLike, columns: Array) -> Array:
    """M⁻¹ times several vectors, the columns (nv, n), from the factors of M."""
    start, end = model.M_rowadr.tolist(), (model.M_rowadr + model.M_rownnz - 1).tolist()
    lower, solved = data.qLD, columns.copy()
    rows = [(k, slice(start[k], end[k]), model.M_colind[start[k] : end[k]]) for k in coupled(model).tolist()]
    for k, at, ancestors in reversed(rows):
        solved[ancestors] -= lower[at, None] * solved[k]
    solved *= data.qLDiagInv[:, None]
    for k, at, ancestors in rows:
        solved[k] -= lower[at] @ solved[ancestors]
    return solved


def inverse_mass(model: ModelLike, data: DataLike) -> Any:
    """M⁻¹: a block per kinematic tree, of which the columns of all trees are solved for at once."""
    nv = model.nv
    dof = np.arange(nv)
    first = model.tree_dofadr[model.dof_treeid]
    count = model.tree_dofnum[model.dof_treeid]
    unit = np.zeros((nv, int(count.max())))
    unit[dof, dof - first] = 1.0
    blocks = solve_columns(model, data, unit)
    row, within = np.nonzero(np.arange(unit.shape[1]) < count[:, None])
    if nv <= DENSE:
        inverse = np.zeros((nv, nv))
        inverse[row, first[row] + within] = blocks[row, within]
        return inverse
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(count)])
    return csr_array((blocks[row, within], first[row] + within, starts), shape=(nv, nv))
