"""A small quadratic problem inside a ball, in lanes: friction forces at a given normal force.

min ½·xᵀ·A·x + xᵀ·b subject to ‖x‖ ≤ r, friction forces being in units of their coefficients. On the surface
x = −(A + λ)⁻¹·b with the λ ≥ 0 at which ‖x‖ = r, found by Newton's method from 0. The rules are those of
`qcqp_numpy`. Compare mju_QCQP, mju_QCQP2 and mju_QCQP3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.solver.qcqp_numpy import ITERATIONS, SMALL
from dovetail.plugins.shared.vectors_lanes import cross, dot

Solve = Callable[[np.ndarray], np.ndarray]
"""A⁻¹ times a vector."""


def minimise_in_ball(k: Kernel, A: np.ndarray, b: np.ndarray, r: Any, wanted: Any) -> np.ndarray:
    """The minimiser (n), in the worlds of a mask; zero where A has no curvature to speak of."""
    multiplier, x = k.local(0.0), k.local(np.full(len(b), 0.0, object))
    searching = k.local(k.select(wanted, 1.0, 0.0))
    unit = np.eye(len(b)).astype(object)
    with k.loop(0, ITERATIONS):
        curved, solve = inverse(k, A + multiplier.value * unit)
        going = searching.value > 0.0
        x.set(k.select(going, k.select(curved, -solve(b), 0.0 * x.value), x.value))
        excess = dot(x.value, x.value) - r * r
        step = 0.5 * excess / dot(x.value, solve(x.value))
        further = curved & (excess >= SMALL) & (step >= SMALL)
        searching.set(k.select(further, searching.value, 0.0))
        k.leave_when(~k.any(searching.value > 0.0))
        multiplier += k.select(searching.value > 0.0, step, 0.0)
    # The iteration stops near the surface: put it there.
    shrink = r / k.sqrt(k.max(dot(x.value, x.value), MINVAL))
    found: np.ndarray = x.value * k.select(multiplier.value > 0.0, shrink, 1.0)
    return found


def inverse(k: Kernel, A: np.ndarray) -> tuple[Any, Solve]:
    """Mask of the worlds in which A is safely positive definite, and how to solve with it there."""
    return {2: _inverse2, 3: _inverse3}.get(len(A), _factor)(k, A)


def _inverse2(k: Kernel, A: np.ndarray) -> tuple[Any, Solve]:
    (a, c), (_, b) = A
    determinant = a * b - c * c

    def solve(x: np.ndarray) -> np.ndarray:
        return np.array([b * x[0] - c * x[1], a * x[1] - c * x[0]], dtype=object) / determinant

    return determinant >= SMALL, solve


def _inverse3(k: Kernel, A: np.ndarray) -> tuple[Any, Solve]:
    columns = [cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])]
    determinant = dot(A[0], columns[0])

    def solve(x: np.ndarray) -> np.ndarray:
        # The cofactors of a symmetric matrix are symmetric.
        return np.array([dot(column, x) for column in columns], dtype=object) / determinant

    return determinant >= SMALL, solve


def _factor(k: Kernel, A: np.ndarray) -> tuple[Any, Solve]:
    """A = L·D·Lᵀ with ones on the diagonal of L."""
    size = len(A)
    L, D = np.full((size, size), 0.0, object), np.full(size, 0.0, object)
    smallest = k.local(A[0, 0])
    for j in range(size):
        D[j] = A[j, j] - sum((L[j, i] * L[j, i] * D[i] for i in range(j)), 0.0)
        smallest.set(k.min(smallest.value, D[j]))
        for i in range(j + 1, size):
            L[i, j] = (A[i, j] - sum((L[i, n] * L[j, n] * D[n] for n in range(j)), 0.0)) / D[j]

    def solve(x: np.ndarray) -> np.ndarray:
        y = list(x)
        for i in range(size):
            y[i] = y[i] - sum((L[i, n] * y[n] for n in range(i)), 0.0)
        y = [value / D[i] for i, value in enumerate(y)]
        for i in reversed(range(size)):
            y[i] = y[i] - sum((L[n, i] * y[n] for n in range(i + 1, size)), 0.0)
        return np.array(y, dtype=object)

    return smallest.value >= SMALL, solve
