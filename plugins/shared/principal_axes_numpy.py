"""Principal axes of a symmetric 3×3 tensor by Jacobi rotations.

The axes of a symmetric body, or of points on a line, are not unique: rounding decides which ones come out. So this is
plain arithmetic in the order of mju_eig3 and mjuu_eig3, which differ in nothing but how a quaternion is normalised.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dovetail.plugins.shared.quaternions_numpy import quat_multiply

Vec = tuple[float, ...]
"""A short vector."""
Matrix = tuple[Vec, Vec, Vec]
"""Rows of a 3×3 matrix."""
Symmetric = Vec
"""A symmetric tensor by MJCF's six numbers: xx, yy, zz, xy, xz, yz."""
Normalize = Callable[[Vec], Vec]
"""Gives a quaternion unit length."""

CONVERGED = 1e-12
"""Below this an off-diagonal element is zero, a rotation (one minus its cosine) is none, and moments are equal.
Measured on MuJoCo's compiler: its principal axes are only so exact, and ours must be the same."""
MAX_ROTATIONS = 500
QUARTER = 0.707106781186548
"""Cosine of half a right angle to MuJoCo's fifteen digits: the rest decides which corners of flat sides touch."""
ENTRIES = ((1, 2, 0), (0, 2, 1), (0, 1, 2))
"""Row and column of each off-diagonal element, and the axis about which a rotation removes it."""


def rotation_matrix(quat: Vec) -> Matrix:
    """3×3 rotation matrix of a unit quaternion."""
    w, x, y, z = quat
    return (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )


def transposed(a: Matrix) -> Matrix:
    (p, q, r), (s, t, u), (v, w, x) = a
    return (p, s, v), (q, t, w), (r, u, x)


def _product(a: Matrix, b: Matrix) -> Matrix:
    x, y, z = b
    first, second, third = (
        (
            r[0] * x[0] + r[1] * y[0] + r[2] * z[0],
            r[0] * x[1] + r[1] * y[1] + r[2] * z[1],
            r[0] * x[2] + r[1] * y[2] + r[2] * z[2],
        )
        for r in a
    )
    return first, second, third


def _full(tensor: Symmetric) -> Matrix:
    xx, yy, zz, xy, xz, yz = tensor
    return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


def diagonalize(tensor: Symmetric, normalized: Normalize) -> tuple[Vec, Vec]:
    """Principal moments in descending order and the quaternion of their axes, by Jacobi rotations."""
    quat: Vec = (1.0, 0.0, 0.0, 0.0)
    matrix = _full(tensor)
    for _ in range(MAX_ROTATIONS):
        axes = rotation_matrix(quat)
        rotated = _product(_product(transposed(axes), matrix), axes)
        turn = _jacobi_turn(rotated, normalized)
        if turn is None:
            break
        quat = normalized(quat_multiply(quat, turn))
    return _descending([rotated[0][0], rotated[1][1], rotated[2][2]], quat, normalized)


def _jacobi_turn(matrix: Matrix, normalized: Normalize) -> Vec | None:
    """Quaternion that removes the largest off-diagonal element, or None when nothing is left to remove."""
    row, column, axis = max(ENTRIES, key=lambda entry: abs(matrix[entry[0]][entry[1]]))
    off_diagonal = matrix[row][column]
    if abs(off_diagonal) < CONVERGED:
        return None
    tau = (matrix[column][column] - matrix[row][row]) / (2 * off_diagonal)
    root = math.sqrt(1 + tau * tau)
    tangent = 1 / (tau + root) if tau >= 0 else -1 / (-tau + root)
    cosine = 1 / math.sqrt(1 + tangent * tangent)
    if cosine > 1 - CONVERGED:
        return None
    half_sine = math.sqrt(0.5 - 0.5 * cosine) * (-1.0 if tau >= 0 else 1.0) * (-1.0 if axis == 1 else 1.0)
    turn = [math.sqrt(1 - half_sine * half_sine), 0.0, 0.0, 0.0]
    turn[axis + 1] = half_sine
    return normalized(tuple(turn))


def _descending(moments: list[float], quat: Vec, normalized: Normalize) -> tuple[Vec, Vec]:
    """Sort the moments, largest first, turning the frame by a right angle at each exchange."""
    for first in (0, 1, 0):
        if moments[first] + CONVERGED < moments[first + 1]:
            moments[first], moments[first + 1] = moments[first + 1], moments[first]
            quarter = [QUARTER, 0.0, 0.0, 0.0]
            quarter[(first + 2) % 3 + 1] = QUARTER
            quat = normalized(quat_multiply(quat, tuple(quarter)))
    return tuple(moments), quat
