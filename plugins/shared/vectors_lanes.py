"""Vectors and matrices as small arrays of lane values, with the names of vectors_numpy.py.

Sums, differences and multiples are written with operators, products with matrices with `@`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL

Vector = np.ndarray


def vector(*items: Any) -> Vector:
    """An object array; arguments may be numbers or arrays, which are joined."""
    parts = [np.atleast_1d(np.asarray(x, dtype=object)) for x in items]
    return np.concatenate(parts)


def dot(a: Any, b: Any) -> Any:
    """Scalar product, summed from left to right."""
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def cross(a: Any, b: Any) -> Vector:
    """Vector product."""
    return vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def norm(k: Kernel, a: Any) -> Any:
    """Length."""
    return k.sqrt(dot(a, a))


def to_world(matrix: Vector, v: Any) -> Vector:
    """A vector of a frame with the given rotation matrix in world coordinates, summed from left to right."""
    return matrix[:, 0] * v[0] + matrix[:, 1] * v[1] + matrix[:, 2] * v[2]


def to_frame(matrix: Vector, v: Any) -> Vector:
    """A world vector in coordinates of the frame with the given rotation matrix."""
    return to_world(matrix.T, v)


def unit(k: Kernel, a: Any) -> Vector:
    """The unit vector along a; the x axis if a is too short to have a direction (mju_normalize3)."""
    length = norm(k, a)
    tiny = length < MINVAL
    scaled = a * (1.0 / k.max(MINVAL, length))
    return k.select(tiny, vector(1.0, 0.0, 0.0), scaled)
