"""Mass and inertia of bodies: the sum over geoms, and its principal axes.

Tensors are about the centre of mass in the body frame (`mjCBody::InertiaFromGeom`). `diagonalize` takes the
same path as MuJoCo's `mju_eig3`, because the principal frame is unique only up to signs and permutations.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .kinds import Vec
from .rotation import EPS, add, multiply, normalized, scaled, subtract
from .tree import Geom

Matrix = NDArray[np.float64]

_CONVERGED = 1e-12
"""Off-diagonal element that counts as zero, and margin by which moments must be out of order (mju_eig3)."""
_SMALLEST_TURN = EPS
"""A rotation whose cosine is this close to one is left out (measured: MuJoCo's compiler stops here)."""
_MAX_ROTATIONS = 500


def rotation_matrix(quat: Vec) -> Matrix:
    """3×3 rotation matrix of a unit quaternion."""
    w, x, y, z = quat
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def tensor_from_full(full: Vec) -> Matrix:
    """Symmetric tensor from MJCF's six numbers xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = full
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def diagonalize(tensor: Matrix) -> tuple[Vec, Vec]:
    """Principal moments in descending order and the quaternion of their axes, by Jacobi rotations."""
    quat: Vec = (1.0, 0.0, 0.0, 0.0)
    for _ in range(_MAX_ROTATIONS):
        axes = rotation_matrix(quat)
        rotated = axes.T @ tensor @ axes
        turn = _jacobi_turn(rotated)
        if turn is None:
            break
        quat = normalized(multiply(quat, turn))
    return _descending([float(rotated[i, i]) for i in range(3)], quat)


def _jacobi_turn(matrix: Matrix) -> Vec | None:
    """Quaternion that removes the largest off-diagonal element, or None when nothing is left to remove."""
    row, column, axis = max(
        ((1, 2, 0), (0, 2, 1), (0, 1, 2)), key=lambda entry: abs(matrix[entry[0], entry[1]])
    )
    if abs(matrix[row, column]) < _CONVERGED:
        return None
    tau = (matrix[column, column] - matrix[row, row]) / (2 * matrix[row, column])
    tangent = math.copysign(1.0, tau) / (abs(tau) + math.sqrt(1 + tau * tau)) if tau else 1.0
    cosine = 1 / math.sqrt(1 + tangent * tangent)
    if cosine > 1 - _SMALLEST_TURN:
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
            quarter = [math.sqrt(0.5), 0.0, 0.0, 0.0]
            quarter[(first + 2) % 3 + 1] = math.sqrt(0.5)
            quat = normalized(multiply(quat, tuple(quarter)))
    return tuple(moments), quat


def _about_point(mass: float, offset: Vec) -> Matrix:
    """Inertia of a point mass at `offset` (parallel axis term)."""
    r = np.array(offset)
    return mass * (float(r @ r) * np.eye(3) - np.outer(r, r))


def combine(geoms: list[Geom]) -> tuple[float, Vec, Vec, Vec]:
    """Mass, centre, principal moments and principal frame of several geoms of one body."""
    heavy = [geom for geom in geoms if geom.computed_mass > EPS]
    if len(heavy) == 1:
        (geom,) = heavy
        return geom.computed_mass, geom.pos, geom.inertia, geom.quat
    mass = sum(geom.computed_mass for geom in heavy)
    centre: Vec = (0.0, 0.0, 0.0)
    for geom in heavy:
        centre = add(centre, scaled(geom.pos, geom.computed_mass))
    centre = scaled(centre, 1 / mass)
    tensor = np.zeros((3, 3))
    for geom in heavy:
        axes = rotation_matrix(geom.quat)
        tensor += axes @ np.diag(geom.inertia) @ axes.T
        tensor += _about_point(geom.computed_mass, subtract(geom.pos, centre))
    moments, quat = diagonalize(tensor)
    return mass, centre, moments, quat
