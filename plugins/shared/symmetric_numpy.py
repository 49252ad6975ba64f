"""Products with a symmetric matrix whose lower triangle is stored like M. Compare mju_mulSymVecSparse."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike


def multiply_symmetric(model: ModelLike, lower: Array, vector: Array) -> Array:
    """A symmetric matrix, its lower triangle stored like M, times a vector."""
    row = np.repeat(np.arange(model.nv), model.M_rownnz)
    column = model.M_colind
    product = np.bincount(row, lower * vector[column], minlength=model.nv)
    below = row != column
    return product + np.bincount(column[below], (lower * vector[row])[below], minlength=model.nv)
