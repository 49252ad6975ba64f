"""A small quadratic problem inside an ellipsoid: friction forces at a given normal force.

min ½·xᵀ·A·x + xᵀ·b subject to Σ(x_i/d_i)² ≤ r². Scaled by d the ellipsoid becomes a ball; on its surface
x = −(A + λ)⁻¹·b with the λ ≥ 0 at which ‖x‖ = r, found by Newton's method from 0. `_rows` solves many problems of one
size at once. Compare mju_QCQP, mju_QCQP2 and mju_QCQP3, whose thresholds these are.
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


# ---- many -------------------------------------------------------------------------------------------------


def minimise_in_ellipsoid_rows(A: Array, b: Array, d: Array, r: Array) -> Array:
    """The minimisers (n, k) of n problems: A (n, k, k), b and d (n, k), r (n)."""
    A, b = A * (d[:, :, None] * d[:, None, :]), b * d
    multiplier, x = np.zeros(len(b)), np.zeros_like(b)
    curved, searching = np.ones(len(b), bool), np.ones(len(b), bool)
    unit = np.eye(b.shape[1])
    for _ in range(ITERATIONS):
        here = np.flatnonzero(searching)
        if not len(here):
            break
        inverse, positive = _inverse_rows(A[here] + multiplier[here, None, None] * unit)
        found = -np.einsum("ijk,ik->ij", inverse, b[here])
        x[here], curved[here] = found, positive
        excess = np.einsum("ij,ij->i", found, found) - r[here] ** 2
        outside = positive & ~(excess < SMALL)
        slope = np.einsum("ij,ijk,ik->i", found, inverse, found)
        step = np.divide(0.5 * excess, slope, where=outside, out=np.zeros(len(here)))
        goes_on = outside & ~(step < SMALL)
        multiplier[here] += np.where(goes_on, step, 0.0)
        searching[here] = goes_on
    length = np.sqrt(np.maximum(MINVAL, np.einsum("ij,ij->i", x, x)))
    x *= np.where(multiplier != 0.0, r / length, 1.0)[:, None]
    return np.where(curved[:, None], x * d, 0.0)


def _inverse_rows(A: Array) -> tuple[Array, Array]:
    """A⁻¹ (n, k, k), and which A are safely positive definite; the others' inverses mean nothing."""
    size = A.shape[1]
    positive = np.linalg.det(A) >= SMALL if size <= 3 else _least_pivots(A) >= SMALL
    return np.linalg.inv(np.where(positive[:, None, None], A, np.eye(size))), positive


def _least_pivots(A: Array) -> Array:
    """The smallest pivot of each matrix, or the first that is not positive."""
    rest, least = A.copy(), np.full(len(A), np.inf)
    for k in range(A.shape[1]):
        pivot = rest[:, k, k]
        least = np.where(least > 0.0, np.minimum(least, pivot), least)
        column = rest[:, k + 1 :, k] / np.where(least > 0.0, pivot, 1.0)[:, None]
        rest[:, k + 1 :, k + 1 :] -= column[:, :, None] * rest[:, k, None, k + 1 :]
    return least
