"""mju_boxQP: the least value of ½·xᵀ·H·x + g·x with every x between bounds.

Projected Newton steps: numbers at a bound whose gradient holds them there are clamped, a Newton step moves the
others, and the way bends along the bounds (Tassa et al. 2014, Control-limited differential dynamic programming).
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.mj.functions.binding import function, need
from dovetail.mj.functions.matrices import factor, solve_factored

ITERATIONS = 100
SMALL_GRADIENT = 1e-16
"""Square of the largest gradient at a minimum."""
LEAST_STEP = 1e-22
ENOUGH = 0.1
"""Part of the decrease that the gradient promises which a step must bring."""
SHRINK = 0.5


@function("res: w, R: W, index: iw?, H: M, g: v, lower: v?, upper: v?", "int")
def mju_boxQP(
    res: Array, R: Array, index: Array | None, H: Array, g: Array, lower: Array | None, upper: Array | None
) -> int:
    """Minimise within bounds, beginning at res. Gives how many numbers are free, and into index which; the factor of
    H over them goes into R. −1 if H is not positive definite there or the search fails."""
    n = len(res)
    need(R.size == n * (n + 7), "size of R should be n*(n+7)")
    need(index is None or len(index) == n, "size of index should equal n")
    need(H.shape == (n, n), "H should be of shape (n, n)")
    need(len(g) == n, "size of g should equal n")
    need(lower is None or len(lower) == n, "size of lower should equal n")
    need(upper is None or len(upper) == n, "size of upper should equal n")
    low = np.full(n, -np.inf) if lower is None else lower
    high = np.full(n, np.inf) if upper is None else upper
    if n == 0 or (low >= high).any():
        return -1
    found = minimise(res, H, g, low, high)
    if found is None:
        return -1
    free, lower_factor = found
    R.reshape(-1)[: lower_factor.size] = lower_factor.reshape(-1)
    if index is not None:
        index[: len(free)] = free
    return len(free)


def minimise(x: Array, hessian: Array, g: Array, low: Array, high: Array) -> tuple[Array, Array] | None:
    """Move x to the minimum. Gives the numbers that are free and the factor of their part of H, None if it fails."""
    x[:] = np.clip(x, low, high)
    value = _value(x, hessian, g)
    clamped: Array | None = None
    lower = np.zeros((0, 0))
    free = np.arange(len(x))
    for _ in range(ITERATIONS):
        gradient = g + hessian @ x
        held = ((x <= low) & (gradient > 0.0)) | ((x >= high) & (gradient < 0.0))
        free = np.flatnonzero(~held)
        if clamped is None or (held != clamped).any():
            clamped = held
            lower = np.array(hessian[np.ix_(free, free)])
            if factor(lower) < len(free):
                return None
        if not len(free) or float(gradient[free] @ gradient[free]) < SMALL_GRADIENT:
            return free, lower
        step = np.zeros(len(x))
        step[free] = -solve_factored(lower, gradient[free])
        slope = float(gradient @ step)
        if slope >= 0.0:
            return free, lower
        length = 1.0
        while True:
            moved = np.clip(x + length * step, low, high)
            next_value = _value(moved, hessian, g)
            if value - next_value >= -ENOUGH * float(gradient @ (moved - x)):
                break
            length *= SHRINK
            if length < LEAST_STEP:
                return free, lower
        x[:], value = moved, next_value
    return None


def _value(x: Array, hessian: Array, g: Array) -> float:
    return float(0.5 * x @ hessian @ x + g @ x)


__all__ = [name for name in globals() if name.startswith(("mju_", "mjd_"))]
