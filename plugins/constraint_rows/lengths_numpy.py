"""Jacobian rows that earlier stages have stored: of tendons and of flex edges.

They are laid out as MuJoCo does: full rows where Jacobians are dense, compressed rows one after another where
they are sparse.
"""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.flex.edge_rows import stored_rows
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows, from_dense, ranges


def tendon_rows(model: ModelLike, data: DataLike, tendons: Array) -> SparseRows:
    """The derivatives of tendon lengths."""
    if not is_sparse(model):
        return from_dense(data.ten_J.reshape(-1, model.nv)[tendons])
    rownnz = data.ten_J_rownnz[tendons]
    entry = ranges(data.ten_J_rowadr[tendons], rownnz)
    return SparseRows(rownnz, data.ten_J_colind.reshape(-1)[entry], data.ten_J.reshape(-1)[entry])


def flex_edge_rows(model: ModelLike, data: DataLike, edges: Array) -> SparseRows:
    """The derivatives of flex edge lengths."""
    return stored_rows(model, data, edges)
