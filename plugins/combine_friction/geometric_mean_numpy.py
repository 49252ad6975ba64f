"""The geometric mean of the friction coefficients: √(μ₁ μ₂), each of slide, spin and roll by itself.

A common rule of other engines; where one surface has no friction, neither has the contact. Compare
mj_contactParam, which takes the maximum.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def combine_friction(first: Array, second: Array) -> Array:
    """Element-wise geometric mean of frictions (n, 3)."""
    return np.sqrt(first * second)
