"""The larger friction coefficient counts, each of slide, spin and roll by itself (mj_contactParam)."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def combine_friction(first: Array, second: Array) -> Array:
    """Element-wise maximum of frictions (n, 3)."""
    return np.maximum(first, second)
