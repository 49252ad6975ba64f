"""Mass and inertia of bodies: the sum over geoms, and its principal axes.

Tensors are about the centre of mass in the body frame (`mjCBody::InertiaFromGeom`). The principal frame of a
symmetric body is not unique, so rounding decides which one comes out: `diagonalize` and the sums before it are
plain arithmetic in the order of MuJoCo's `mjuu_eig3`, which almost always gives the same frame.
"""

from __future__ import annotations

from typing import NamedTuple

from dovetail.mjcf.geometry.rotation import Vec, add, normalized, scaled, subtract
from dovetail.plugins.shared import principal_axes_numpy
from dovetail.plugins.shared.constants import EPS
from dovetail.plugins.shared.principal_axes_numpy import Symmetric, rotation_matrix, transposed

__all__ = ("RigidPart", "combine", "diagonalize", "rotation_matrix")


def diagonalize(tensor: Symmetric) -> tuple[Vec, Vec]:
    """Principal moments in descending order and the quaternion of their axes (mjuu_eig3)."""
    return principal_axes_numpy.diagonalize(tensor, normalized)


def _rotated_diagonal(moments: Vec, quat: Vec) -> Symmetric:
    """Principal moments given along the axes of `quat`, as a tensor in the parent frame."""
    axes = rotation_matrix(quat)
    a, b, c = (scaled(column, moment) for column, moment in zip(transposed(axes), moments, strict=True))

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
