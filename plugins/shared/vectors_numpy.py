"""Vectors of three numbers: single ones as tuples of floats, many as rows of an array.

A kinematic chain is walked joint by joint, a convex algorithm from one support point to the next; there Python floats
are several times quicker than arrays of three elements. Divisions follow IEEE rules (x/0 is infinite or NaN) instead
of raising, so that a degenerate shape or a NaN pose ends in a failed comparison, as in C. Functions whose names end
in `_rows` take arrays with one vector or matrix per row. In lanes: vectors_lanes.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, sqrt
from typing import Any, TypeAlias, cast

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL

Vector: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = Sequence[float]
"""Nine numbers, row by row."""


ORIGIN: Vector = (0.0, 0.0, 0.0)


def add(a: Vector, b: Vector) -> Vector:
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def sub(a: Vector, b: Vector) -> Vector:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scale(a: Vector, s: float) -> Vector:
    """a times the number s."""
    return a[0] * s, a[1] * s, a[2] * s


def along(a: Vector, s: float, b: Vector) -> Vector:
    """The point a + s·b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


def dot(a: Vector, b: Vector) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Vector product."""
    ax, ay, az = a
    bx, by, bz = b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def triple(a: Vector, b: Vector, c: Vector) -> float:
    """a · (b × c), the volume the three span."""
    bx, by, bz = b
    cx, cy, cz = c
    return a[0] * (by * cz - bz * cy) + a[1] * (bz * cx - bx * cz) + a[2] * (bx * cy - by * cx)


def norm(a: Vector) -> float:
    """Length."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def unit(a: Vector) -> Vector:
    """The unit vector along a; the x axis if a is too short to have a direction (mju_normalize3)."""
    length = norm(a)
    if length < MINVAL:
        return 1.0, 0.0, 0.0
    s = 1.0 / length
    return a[0] * s, a[1] * s, a[2] * s


def middle(a: Vector, b: Vector) -> Vector:
    """Halfway between two points."""
    return 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])


def same(a: Vector, b: Vector) -> bool:
    """Whether two points differ by less than MINVAL in each coordinate."""
    return abs(a[0] - b[0]) < MINVAL and abs(a[1] - b[1]) < MINVAL and abs(a[2] - b[2]) < MINVAL


def combine(weights: Sequence[float], points: Sequence[Vector]) -> Vector:
    """The sum of points times weights."""
    x = y = z = 0.0
    for w, p in zip(weights, points, strict=True):
        x += w * p[0]
        y += w * p[1]
        z += w * p[2]
    return x, y, z


def divide(a: float, b: float) -> float:
    """a / b by IEEE rules."""
    if b != 0.0:
        return a / b
    return nan if a == 0.0 or a != a else (inf if a > 0.0 else -inf)


def to_world(matrix: Matrix, v: Vector) -> Vector:
    """A vector of a frame with the given rotation matrix in world coordinates."""
    x, y, z = v
    m = matrix
    return m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z


def to_frame(matrix: Matrix, v: Vector) -> Vector:
    """A world vector in coordinates of the frame with the given rotation matrix."""
    x, y, z = v
    m = matrix
    return m[0] * x + m[3] * y + m[6] * z, m[1] * x + m[4] * y + m[7] * z, m[2] * x + m[5] * y + m[8] * z


# ---- rows -------------------------------------------------------------------------------------------------


def _bilinear_table(outputs: list[dict[str, float]], symbols: str) -> Array:
    """Coefficients (n², outputs) of products such as "xy" of two vectors' components, flattened."""
    n = len(symbols)
    table = np.zeros((n * n, len(outputs)))
    for column, terms in enumerate(outputs):
        for product, coefficient in terms.items():
            table[symbols.index(product[0]) * n + symbols.index(product[1]), column] = coefficient
    return table


_CROSS = _bilinear_table([{"yz": 1, "zy": -1}, {"zx": 1, "xz": -1}, {"xy": 1, "yx": -1}], "xyz")


def _bilinear(a: Array, b: Array, table: Array) -> Array:
    """Rows of a table of products; two array operations, however many terms there are."""
    n = a.shape[-1]
    return (a[:, :, None] * b[:, None, :]).reshape(-1, n * n) @ table


def to_world_rows(matrices: Array, vectors: Array) -> Array:
    """Matrices (n, 9) times vectors (n, 3), rounded as `to_world` rounds; `apply_rows` may sum in another order."""
    entries, columns = cast(Any, matrices.T), cast(Any, vectors.T)
    return np.stack(cast(Any, to_world(entries, columns)), axis=1)


def cross_rows(a: Array, b: Array) -> Array:
    """Cross products of rows (n, 3)."""
    return _bilinear(a, b, _CROSS)


def dot_rows(a: Array, b: Array) -> Array:
    """Scalar products of rows."""
    return np.einsum("ij,ij->i", a, b)


def apply_rows(matrices: Array, vectors: Array) -> Array:
    """Matrices (n, p, q) times vectors (n, q)."""
    return np.matmul(matrices, vectors[..., None])[..., 0]


def row_sums(owner: Array, rows: Array, count: int) -> Array:
    """Sums (count, p) of the rows (n, p) that each owner has, added in their order."""
    width = rows.shape[1]
    place = owner[:, None] * width + np.arange(width)
    total = np.bincount(place.ravel(), rows.ravel(), minlength=count * width)
    return total.reshape(count, width).astype(float, copy=False)  # bincount of nothing counts in integers


def norm_rows(rows: Array) -> Array:
    """Lengths (n,) of rows."""
    length: Array = np.sqrt(np.square(rows).sum(axis=1))
    return length


def unit_rows(rows: Array) -> Array:
    """Rows of length one; the x axis for rows without a direction (mju_normalize3)."""
    length = norm_rows(rows)[:, None]
    return np.where(length < MINVAL, [1.0, 0.0, 0.0], rows * (1.0 / np.maximum(length, MINVAL)))
