"""A small quadratic problem inside an ellipsoid: friction forces at a given normal force.

min ½·xᵀ·A·x + xᵀ·b subject to Σ(x_i/d_i)² ≤ r². Scaled by d the ellipsoid becomes a ball; on its surface
x = −(A + λ)⁻¹·b with the λ ≥ 0 at which ‖x‖ = r, found by Newton's method from 0. Compare mju_QCQP, mju_QCQP2 and
mju_QCQP3, whose thresholds these are.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL

SMALL = 1e-10
"""Determinants (up to 3 unknowns) or pivots below this mean no curvature; also where λ counts as found."""
ITERATIONS = 20


def minimise_in_ellipsoid(A: Array, b: Array, d: Array, r: float) -> Array:
    """The minimiser (n); zero where A has no curvature to speak of."""
    A, b = A * (d[:, None] * d), b * d
    multiplier = 0.0
    unit = np.eye(len(b))
    x = np.zeros(len(b))
    for _ in range(ITERATIONS):
        inverse = _inverse(A + multiplier * unit)
        if inverse is None:
            return np.zeros(len(b))
        x = -inverse @ b
        excess = float(x @ x) - r * r
        if excess < SMALL:
            break
        step = 0.5 * excess / float(x @ inverse @ x)
        if step < SMALL:
            break
        multiplier += step
    if multiplier:  # the iteration stops near the surface: put it there
        x *= r / np.sqrt(max(MINVAL, float(x @ x)))
    return x * d


def _inverse(A: Array) -> Array | None:
    """A⁻¹, or None if A is not safely positive definite."""
    if len(A) == 2:  # the usual case, and several times quicker written out
        (a, c), (_, b) = A.tolist()
        determinant = a * b - c * c
        return np.array([[b, -c], [-c, a]]) / determinant if determinant >= SMALL else None
    if len(A) == 3:
        return np.linalg.inv(A) if np.linalg.det(A) >= SMALL else None
    try:
        factor = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return None
    return np.linalg.inv(A) if factor.diagonal().min() ** 2 >= SMALL else None
