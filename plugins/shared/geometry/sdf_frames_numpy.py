"""Frames of geoms in one another, by way of quaternions and in MuJoCo's order of operations.

Gradients of distance fields are often forward differences over 1e-8, which magnify rounding a hundred million times;
descent along them then ends elsewhere. So these follow mju_mat2Quat, mju_negPose, mju_mulPose and mju_rotVecQuat
operation by operation, which the shared functions of `spatial` need not.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike
from dovetail.plugins.shared.quaternions_numpy import (
    Quaternion,
    quat_conjugate,
    quat_matrix_rows,
    quat_multiply,
    quat_normalize,
)
from dovetail.plugins.shared.vectors_numpy import Vector


class RelativeFrame(NamedTuple):
    """Where a frame is in another one."""

    rotation: Array
    """(3, 3)."""
    offset: Array
    """(3,)."""


def pose_in(data: DataLike, geom: int, base: int) -> RelativeFrame:
    """The frame of a geom in that of another one."""
    back = quat_conjugate(orientation(data, base))
    origin = np.array(turned(back, data.geom_xpos[base].tolist()))
    offset = np.array(turned(back, data.geom_xpos[geom].tolist())) - origin
    quat = quat_normalize(quat_multiply(back, orientation(data, geom)))
    return RelativeFrame(quat_matrix_rows(np.array([quat]))[0], offset)


def orientation(data: DataLike, geom: int) -> Quaternion:
    """The quaternion of a geom's rotation matrix: its largest component first, the others from sums or differences
    of elements mirrored at the diagonal."""
    m = data.geom_xmat[geom].reshape(3, 3).tolist()
    if m[0][0] + m[1][1] + m[2][2] > 0:
        w = 0.5 * sqrt(1 + m[0][0] + m[1][1] + m[2][2])
        x, y, z = (0.25 * (m[k][j] - m[j][k]) / w for j, k in ((1, 2), (2, 0), (0, 1)))
        return quat_normalize((w, x, y, z))
    i = largest(m[0][0], m[1][1], m[2][2])
    j, k = (i + 1) % 3, (i + 2) % 3
    signs = [1.0 if axis == i else -1.0 for axis in range(3)]
    own = 0.5 * sqrt(1 + signs[0] * m[0][0] + signs[1] * m[1][1] + signs[2] * m[2][2])
    parts = {
        i: own,
        j: 0.25 * (m[i][j] + m[j][i]) / own,
        k: 0.25 * (m[i][k] + m[k][i]) / own,
    }
    return quat_normalize((0.25 * (m[k][j] - m[j][k]) / own, parts[0], parts[1], parts[2]))


def largest(a: float, b: float, c: float) -> int:
    """Which of three is largest; the later one of equals."""
    if a > b and a > c:
        return 0
    return 1 if b > c else 2


def turned(quat: Sequence[float], vector: Sequence[float]) -> Vector:
    """A vector turned by a quaternion: v + 2u×(wv + u×v), u the vector part."""
    w, x, y, z = quat
    a, b, c = vector
    p, q, r = w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a
    return a + 2 * (y * r - z * q), b + 2 * (z * p - x * r), c + 2 * (x * q - y * p)


def carried(rows: Array, frame: RelativeFrame) -> Array:
    """Points of a frame in the one that it is given in."""
    return turned_rows(rows, frame.rotation) + frame.offset


def turned_rows(rows: Array, matrix: Array) -> Array:
    """The matrix times each row, added up from x to z."""
    x, y, z = rows.T
    return np.stack([a * x + b * y + c * z for a, b, c in matrix], axis=1)
