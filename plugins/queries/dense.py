"""Sparse matrices as dense ones, for small models and for reading."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array


def dense_jacobian(model: Any, data: Any) -> Array:
    """The constraint Jacobian (nefc, nv): row i maps joint velocity to the velocity of constraint row i."""
    dense = np.zeros((data.nefc, model.nv))
    row = np.repeat(np.arange(data.nefc), data.efc_J_rownnz[: data.nefc])
    dense[row, data.efc_J_colind[: len(row)]] = data.efc_J[: len(row)]
    return dense
