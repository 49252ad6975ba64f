"""The lesser and the larger of numbers, and numbers within limits, where some may be NaN.

As in MuJoCo (mju_min, mju_max, mju_clip), each is made of comparisons, and one with NaN is false. So NaN stays NaN
where it is clipped, a limit that is NaN limits nothing, and of two numbers of which one is NaN the second is taken.
In lanes: `k.min`, `k.max` and `k.clip`.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def lesser(a: Array | float, b: Array | float) -> Array:
    """`a` where a <= b, else `b`."""
    return np.where(np.less_equal(a, b), a, b)


def larger(a: Array | float, b: Array | float) -> Array:
    """`a` where a >= b, else `b`."""
    return np.where(np.greater_equal(a, b), a, b)


def clip(x: Array, low: Array | float, high: Array | float) -> Array:
    """`low` where x < low, else `high` where x > high, else `x`."""
    return np.where(np.less(x, low), low, np.where(np.greater(x, high), high, x))
