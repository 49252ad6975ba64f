"""Flexes whose vertices follow nodes: how much each node moves a point.

A flex of order k has (k+1)³ nodes, a grid that spans the flex's box at qpos0, z fastest. A point with coordinates
(x, y, z) in that box, each from 0 to 1, moves with node (i, j, l) by L_i(x)·L_j(y)·L_l(z), L the polynomials of
degree k that are one at their own node and zero at the others. Compare mju_interpolate3D and mju_evalBasis.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def basis(order: int, s: Array) -> list[Array]:
    """The polynomials of one axis at coordinates s."""
    if order == 1:
        return [1.0 - s, s]
    return [2.0 * s * s - 3.0 * s + 1.0, 4.0 * s - 4.0 * s * s, 2.0 * s * s - s]


def basis_slopes(order: int, s: Array) -> list[Array]:
    """Derivatives of the polynomials of one axis at coordinates s."""
    if order == 1:
        return [np.full_like(s, -1.0), np.ones_like(s)]
    return [4.0 * s - 3.0, 4.0 - 8.0 * s, 4.0 * s - 1.0]


def node_weights(order: int, point: Array) -> Array:
    """Weights (n, nodes) of the nodes at points (n, 3) of the unit box."""
    return _products(*(basis(order, point[:, axis]) for axis in range(3)))


def node_slopes(order: int, point: Array) -> Array:
    """Gradients (n, nodes, 3) of the weights at points (n, 3) of the unit box."""
    values = [basis(order, point[:, axis]) for axis in range(3)]
    slopes = [basis_slopes(order, point[:, axis]) for axis in range(3)]
    columns = [
        _products(*(slopes[axis] if axis == along else values[axis] for axis in range(3)))
        for along in range(3)
    ]
    return np.stack(columns, axis=2)


def _products(x: list[Array], y: list[Array], z: list[Array]) -> Array:
    """Products of one function of each axis, z fastest, as columns; rounded as MuJoCo's are."""
    return np.stack([a * (b * c) for a in x for b in y for c in z], axis=1)
