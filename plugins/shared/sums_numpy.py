"""Sums of rows in the order in which MuJoCo adds them up, where their last bit decides something."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def dots(a: Array, b: Array) -> Array:
    """Dot products (n) of rows (n, 3), from left to right; `vectors_numpy.dot_rows` leaves the order to NumPy."""
    return a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + a[:, 2] * b[:, 2]


def total(terms: Array) -> Array:
    """Sum over the first axis, strictly from first to last."""
    return np.add.accumulate(terms, axis=0)[-1] if len(terms) else np.zeros(terms.shape[1:])
