"""Polynomials that couple two joints or two tendons."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def polynomial(coefficients: Array, x: Array) -> tuple[Array, Array]:
    """Values and slopes of polynomials c₀ + c₁x + … + c₄x⁴, one per row of coefficients."""
    powers = x[:, None] ** np.arange(5)
    slope = (coefficients[:, 1:] * np.arange(1, 5) * powers[:, :4]).sum(axis=1)
    return (coefficients * powers).sum(axis=1), slope
