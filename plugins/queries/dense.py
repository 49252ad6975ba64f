"""Sparse matrices as dense ones, for small models and for reading."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike


def dense_jacobian(model: ModelLike, data: DataLike) -> Array:
    """The constraint Jacobian (nefc, nv): row i maps joint velocity to the velocity of constraint row i."""
    dense = np.zeros((data.nefc, model.nv))
    row = np.repeat(np.arange(data.nefc), data.efc_J_rownnz[: data.nefc])
    dense[row, data.efc_J_colind[: len(row)]] = data.efc_J[: len(row)]
    return dense
