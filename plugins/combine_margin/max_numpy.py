"""The larger margin, or gap, of two geoms counts (mj_contactParam and mj_collideGeoms of MuJoCo 3.4)."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def combine_margin(first: Array, second: Array) -> Array:
    """The larger of two margins (n)."""
    return np.maximum(first, second)
