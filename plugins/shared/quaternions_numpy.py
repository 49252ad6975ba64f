"""Quaternions (w, x, y, z): single ones as tuples of floats, many as rows of an array.

Functions whose names end in `_rows` take arrays with one quaternion per row and round as their namesakes do. Compare
mju_mulQuat, mju_rotVecQuat, mju_quat2Mat, mju_subQuat and mju_quatIntegrate. In lanes: quaternions_lanes.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, isfinite, nan, pi, sin, sqrt
from typing import Any, TypeAlias, cast

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_numpy import Vector

Quaternion: TypeAlias = tuple[float, float, float, float]


Matrix = tuple[float, float, float, float, float, float, float, float, float]

IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)


def quat_multiply(a: Sequence[float], b: Sequence[float]) -> Quaternion:
    """Rotation b followed by rotation a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def quat_conjugate(q: Sequence[float]) -> Quaternion:
    """The inverse rotation of a unit quaternion."""
    w, x, y, z = q
    return w, -x, -y, -z


def quat_normalize(q: Sequence[float]) -> Quaternion:
    """The unit quaternion along q; the identity if q is zero. One that is of unit length to rounding stays as it is,
    bit for bit, as in MuJoCo: a foot that just touches the floor must go on touching it."""
    w, x, y, z = q
    norm = sqrt(w * w + x * x + y * y + z * z)
    if norm < MINVAL:
        return IDENTITY
    if abs(norm - 1.0) <= MINVAL:
        return w, x, y, z
    inverse = 1.0 / norm
    return w * inverse, x * inverse, y * inverse, z * inverse


def quat_rotate(q: Sequence[float], v: Sequence[float]) -> Vector:
    """The vector v turned by the unit quaternion q: v + 2u×(wv + u×v), u the vector part."""
    w, x, y, z = q
    vx, vy, vz = v
    tx = w * vx + y * vz - z * vy
    ty = w * vy + z * vx - x * vz
    tz = w * vz + x * vy - y * vx
    return (
        vx + 2.0 * (y * tz - z * ty),
        vy + 2.0 * (z * tx - x * tz),
        vz + 2.0 * (x * ty - y * tx),
    )


def quat_matrix(q: Sequence[float]) -> Matrix:
    """Entries of the rotation matrix of a unit quaternion, row by row."""
    w, x, y, z = q
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    wx, wy, wz, xy, xz, yz = w * x, w * y, w * z, x * y, x * z, y * z
    return (
        *(ww + xx - yy - zz, 2.0 * (xy - wz), 2.0 * (xz + wy)),
        *(2.0 * (xy + wz), ww - xx + yy - zz, 2.0 * (yz - wx)),
        *(2.0 * (xz - wy), 2.0 * (yz + wx), ww - xx - yy + zz),
    )


def quat_from_axis_angle(axis: Sequence[float], angle: float) -> Quaternion:
    """Rotation by `angle` about the unit vector `axis`; NaN for an infinite angle, as in C."""
    half = 0.5 * angle if isfinite(angle) else nan
    s = sin(half)
    return cos(half), axis[0] * s, axis[1] * s, axis[2] * s


def quat_to_rotation_vector(q: Sequence[float]) -> Vector:
    """Axis times angle of a unit quaternion, the angle in (−π, π]."""
    w, x, y, z = q
    s = sqrt(x * x + y * y + z * z)
    angle = 2.0 * atan2(s, w)
    if angle > pi:
        angle -= 2.0 * pi
    if s < MINVAL:
        # MuJoCo gives a vanishing axis the direction x and keeps the angle, which a stiff spring feels
        return angle, 0.0, 0.0
    scale = angle / s
    return x * scale, y * scale, z * scale


def quat_difference(a: Sequence[float], b: Sequence[float]) -> Vector:
    """The rotation vector that, applied in b's frame, turns b into a."""
    return quat_to_rotation_vector(quat_multiply(quat_conjugate(b), a))


def quat_integrate(q: Sequence[float], velocity: Sequence[float], duration: float) -> Quaternion:
    """q after turning for `duration` at the angular velocity given in q's own frame."""
    x, y, z = velocity
    speed = sqrt(x * x + y * y + z * z)
    if speed < MINVAL:
        return quat_normalize(q)
    inverse = 1.0 / speed
    turn = quat_from_axis_angle((x * inverse, y * inverse, z * inverse), duration * speed)
    return quat_normalize(quat_multiply(q, turn))


# ---- rows -------------------------------------------------------------------------------------------------


def quat_matrix_rows(q: Array) -> Array:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4), rounded as `quat_matrix` rounds."""
    return np.stack(cast(Any, quat_matrix(cast(Any, q.T))), axis=1).reshape(-1, 3, 3)


def quat_multiply_rows(a: Array, b: Array) -> Array:
    """Products (n, 4) of quaternions, rounded as `quat_multiply` rounds."""
    first, second = cast(Any, a.T), cast(Any, b.T)
    return np.stack(cast(Any, quat_multiply(first, second)), axis=1)


def quat_normalize_rows(q: Array) -> Array:
    """Unit quaternions (n, 4), rounded as `quat_normalize` rounds; near-unit ones stay as they are."""
    w, x, y, z = q.T
    norm = np.sqrt(w * w + x * x + y * y + z * z)[:, None]
    short, unit = norm < MINVAL, np.abs(norm - 1.0) <= MINVAL
    inverse = 1.0 / np.where(short, 1.0, norm)
    return np.where(short, IDENTITY, np.where(unit, q, q * inverse))


def quat_rotate_rows(q: Array, v: Array) -> Array:
    """Vectors (n, 3) turned by unit quaternions (n, 4), rounded as `quat_rotate` rounds."""
    return np.stack(cast(Any, quat_rotate(cast(Any, q.T), cast(Any, v.T))), axis=1)
