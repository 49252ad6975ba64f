"""Quaternions (w, x, y, z) as small arrays of lane values, with the names and formulas of quaternions_numpy.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.functions import atan_half_plane, sincos
from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_lanes import Vector, cross, norm, vector


def quat_multiply(a: Any, b: Any) -> Vector:
    """Rotation b followed by rotation a."""
    return vector(
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def quat_conjugate(q: Any) -> Vector:
    """The inverse rotation of a unit quaternion."""
    return vector(q[0], -q[1], -q[2], -q[3])


def quat_normalize(k: Kernel, q: Any) -> Vector:
    """Unit quaternion; a vanishing one becomes the identity, one of unit length to rounding stays as it is, bit for
    bit (mju_normalize4)."""
    length = norm(k, q)
    tiny = length < MINVAL
    inverse = k.select(k.abs(length - 1.0) <= MINVAL, 1.0, 1.0 / k.max(MINVAL, length))
    scale = k.select(tiny, 0.0, inverse)
    return vector(k.select(tiny, 1.0, q[0] * scale), q[1] * scale, q[2] * scale, q[3] * scale)


def quat_rotate(q: Any, v: Any) -> Vector:
    """v turned by the unit quaternion q: v + 2u×(wv + u×v), u the vector part, summed as in mju_rotVecQuat."""
    w, x, y, z = q
    t = vector(
        w * v[0] + y * v[2] - z * v[1],
        w * v[1] + z * v[0] - x * v[2],
        w * v[2] + x * v[1] - y * v[0],
    )
    return v + 2.0 * cross(q[1:], t)


def quat_matrix(q: Any) -> Vector:
    """Rotation matrix of a unit quaternion, (3, 3)."""
    w, x, y, z = q
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    xy, xz, yz, wx, wy, wz = x * y, x * z, y * z, w * x, w * y, w * z
    rows = [
        [ww + xx - yy - zz, 2.0 * (xy - wz), 2.0 * (xz + wy)],
        [2.0 * (xy + wz), ww - xx + yy - zz, 2.0 * (yz - wx)],
        [2.0 * (xz - wy), 2.0 * (yz + wx), ww - xx - yy + zz],
    ]
    return np.array(rows, dtype=object)


def quat_from_axis_angle(k: Kernel, axis: Any, angle: Any) -> Vector:
    """Rotation by `angle` about the unit vector `axis`."""
    s, c = sincos(k, 0.5 * angle)
    return vector(c, axis * s)


def quat_to_rotation_vector(k: Kernel, q: Any) -> Vector:
    """Rotation vector of a unit quaternion, the short way round (mju_quat2Vel with dt = 1)."""
    s = norm(k, q[1:])
    angle = 2.0 * atan_half_plane(k, s, q[0])
    angle = k.select(angle > np.pi, angle - 2.0 * np.pi, angle)
    tiny = s < MINVAL
    scale = angle / k.max(MINVAL, s)
    # mju_normalize3 gives a vanishing axis the direction x
    return vector(*(k.select(tiny, along, q[n] * scale) for n, along in ((1, angle), (2, 0.0), (3, 0.0))))


def quat_difference(k: Kernel, a: Any, b: Any) -> Vector:
    """Rotation vector from b to a, in b's frame (mju_subQuat)."""
    return quat_to_rotation_vector(k, quat_multiply(quat_conjugate(b), a))


def quat_integrate(k: Kernel, q: Any, velocity: Any, duration: Any) -> Vector:
    """q after turning for `duration` at the angular velocity given in q's own frame (mju_quatIntegrate)."""
    speed = norm(k, velocity)
    s, c = sincos(k, 0.5 * (duration * speed))
    axis = velocity * (1.0 / k.max(MINVAL, speed))
    turned = quat_multiply(q, vector(c, axis * s))
    return quat_normalize(k, k.select(speed < MINVAL, q, turned))
