"""Jacobian rows that earlier stages have stored: of tendons and of flex edges.

They are laid out as MuJoCo does: full rows where Jacobians are dense, compressed rows one after another where
they are sparse.
"""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.rows.sparse_rows_numpy import SparseRows, from_dense, ranges


def tendon_rows(model: ModelLike, data: DataLike, tendons: Array) -> SparseRows:
    """The derivatives of tendon lengths."""
    stored = data.ten_J, data.ten_J_rownnz, data.ten_J_rowadr, data.ten_J_colind
    return _stored_rows(model, *stored, tendons)


def flex_edge_rows(model: ModelLike, data: DataLike, edges: Array) -> SparseRows:
    """The derivatives of flex edge lengths."""
    stored = data.flexedge_J, data.flexedge_J_rownnz, data.flexedge_J_rowadr, data.flexedge_J_colind
    return _stored_rows(model, *stored, edges)


def _stored_rows(
    model: ModelLike, jacobian: Array, rownnz: Array, rowadr: Array, colind: Array, which: Array
) -> SparseRows:
    if not is_sparse(model):
        return from_dense(jacobian.reshape(-1, model.nv)[which])
    entry = ranges(rowadr[which], rownnz[which])
    return SparseRows(rownnz[which], colind.reshape(-1)[entry], jacobian.reshape(-1)[entry])
