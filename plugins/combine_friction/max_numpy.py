"""The larger friction coefficient counts, each of slide, spin and roll by itself (mj_contactParam)."""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.ordered_numpy import larger


def combine_friction(first: Array, second: Array) -> Array:
    """Element-wise maximum of frictions (n, 3)."""
    return larger(first, second)
