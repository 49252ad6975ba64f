"""The larger margin, or gap, of two geoms counts (mj_contactParam and mj_collideGeoms of MuJoCo 3.4)."""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.ordered_numpy import larger


def combine_margin(first: Array, second: Array) -> Array:
    """The larger of two margins (n)."""
    return larger(first, second)
