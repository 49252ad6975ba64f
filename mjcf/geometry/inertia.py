"""Mass and inertia of bodies: the sum over geoms, and its principal axes.

Tensors are about the centre of mass in the body frame (`mjCBody::InertiaFromGeom`). The principal frame of a
symmetric body is not unique, so rounding decides which one comes out: `diagonalize` and the sums before it are
plain arithmetic in the order of MuJoCo's `mjuu_eig3`, which almost always gives the same frame.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from dovetail.mjcf.geometry.rotation import Vec, add, normalized, scaled, subtract
from dovetail.plugins.shared.constants import EPS
from dovetail.plugins.shared.quaternions_numpy import quat_multiply

if TYPE_CHECKING:
    pass

Matrix = tuple[Vec, Vec, Vec]
"""Rows of a 3×3 matrix."""
Symmetric = Vec
"""A symmetric tensor by MJCF's six numbers: xx, yy, zz, xy, xz, yz."""

_CONVERGED = 1e-12
"""Below this an off-diagonal element is zero, a rotation (one minus its cosine) is none, and moments are equal.
Measured on MuJoCo's compiler: its principal axes are only so exact, and ours must be the same."""
_MAX_ROTATIONS = 500
_QUARTER = 0.707106781186548
"""Cosine of half a right angle to MuJoCo's fifteen digits: the rest decides which corners of flat sides touch."""
_ENTRIES = ((1, 2, 0), (0, 2, 1), (0, 1, 2))
"""Row and column of each off-diagonal element, and the axis about which a rotation removes it."""


def rotation_matrix(quat: Vec) -> Matrix:
    """3×3 rotation matrix of a unit quaternion."""
    w, x, y, z = quat
    return (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )


def _transposed(a: Matrix) -> Matrix:
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


def diagonalize(tensor: Symmetric) -> tuple[Vec, Vec]:
    """Principal moments in descending order and the quaternion of their axes, by Jacobi rotations."""
    quat: Vec = (1.0, 0.0, 0.0, 0.0)
    matrix = _full(tensor)
    for _ in range(_MAX_ROTATIONS):
        axes = rotation_matrix(quat)
        rotated = _product(_product(_transposed(axes), matrix), axes)
        turn = _jacobi_turn(rotated)
        if turn is None:
            break
        quat = normalized(quat_multiply(quat, turn))
    return _descending([rotated[0][0], rotated[1][1], rotated[2][2]], quat)


def _jacobi_turn(matrix: Matrix) -> Vec | None:
    """Quaternion that removes the largest off-diagonal element, or None when nothing is left to remove."""
    row, column, axis = max(_ENTRIES, key=lambda entry: abs(matrix[entry[0]][entry[1]]))
    off_diagonal = matrix[row][column]
    if abs(off_diagonal) < _CONVERGED:
        return None
    tau = (matrix[column][column] - matrix[row][row]) / (2 * off_diagonal)
    root = math.sqrt(1 + tau * tau)
    tangent = 1 / (tau + root) if tau >= 0 else -1 / (-tau + root)
    cosine = 1 / math.sqrt(1 + tangent * tangent)
    if cosine > 1 - _CONVERGED:
        return None
    half_sine = math.sqrt(0.5 - 0.5 * cosine) * (-1.0 if tau >= 0 else 1.0) * (-1.0 if axis == 1 else 1.0)
    turn = [math.sqrt(1 - half_sine * half_sine), 0.0, 0.0, 0.0]
    turn[axis + 1] = half_sine
    return normalized(tuple(turn))


def _descending(moments: list[float], quat: Vec) -> tuple[Vec, Vec]:
    """Sort the moments, largest first, turning the frame by a right angle at each exchange."""
    for first in (0, 1, 0):
        if moments[first] + _CONVERGED < moments[first + 1]:
            moments[first], moments[first + 1] = moments[first + 1], moments[first]
            quarter = [_QUARTER, 0.0, 0.0, 0.0]
            quarter[(first + 2) % 3 + 1] = _QUARTER
            quat = normalized(quat_multiply(quat, tuple(quarter)))
    return tuple(moments), quat


def _rotated_diagonal(moments: Vec, quat: Vec) -> Symmetric:
    """Principal moments given along the axes of `quat`, as a tensor in the parent frame."""
    axes = rotation_matrix(quat)
    a, b, c = (scaled(column, moment) for column, moment in zip(_transposed(axes), moments, strict=True))

    def entry(i: int, j: int) -> float:
        return axes[i][0] * a[j] + axes[i][1] * b[j] + axes[i][2] * c[j]

    return entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)


def _point_mass(mass: float, offset: Vec) -> Symmetric:
    """Inertia of a point mass at `offset` (parallel axis term)."""
    x, y, z = offset
    return (
        mass * (y * y + z * z),
        mass * (x * x + z * z),
        mass * (x * x + y * y),
        -mass * x * y,
        -mass * x * z,
        -mass * y * z,
    )


class RigidPart(NamedTuple):
    """A part of a rigid body."""

    mass: float
    pos: Vec
    """Centre of mass."""
    quat: Vec
    """Principal axes."""
    inertia: Vec
    """Principal moments."""


def combine(parts: list[RigidPart]) -> tuple[float, Vec, Vec, Vec]:
    """Mass, centre, principal moments and principal frame of several parts of one body."""
    heavy = [part for part in parts if part.mass > EPS]
    if len(heavy) == 1:
        (part,) = heavy
        return part.mass, part.pos, part.inertia, part.quat
    mass = 0.0
    centre: Vec = (0.0, 0.0, 0.0)
    for part in heavy:
        mass += part.mass
        centre = add(centre, scaled(part.pos, part.mass))
    centre = tuple(x / mass for x in centre)
    tensor: Symmetric = (0.0,) * 6
    for part in heavy:
        own = _rotated_diagonal(part.inertia, part.quat)
        away = _point_mass(part.mass, subtract(part.pos, centre))
        tensor = add(add(tensor, own), away)
    moments, quat = diagonalize(tensor)
    return mass, centre, moments, quat
