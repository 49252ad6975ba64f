"""Vectors, quaternions and spatial vectors as object arrays of lane values.

The same formulas as the NumPy reference, over small arrays of symbols (or numbers). Quaternions are (w, x, y, z);
spatial vectors put the rotational part first; a body inertia is MuJoCo's ten numbers: six of the rotational inertia
(xx yy zz xy xz yz), mass times offset, mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.functions import atan_half_plane, sincos
from dovetail.backends.lanes.kernel import Kernel

MINVAL = 1e-15
"""mjMINVAL: norms below it count as zero."""

Vector = np.ndarray


def vector(*items: Any) -> Vector:
    """An object array; arguments may be numbers or arrays, which are joined."""
    parts = [np.atleast_1d(np.asarray(x, dtype=object)) for x in items]
    return np.concatenate(parts)


def dot(a: Any, b: Any) -> Any:
    total: Any = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def cross(a: Any, b: Any) -> Vector:
    return vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def norm(k: Kernel, a: Any) -> Any:
    return k.sqrt(dot(a, a))


def mul_quat(a: Any, b: Any) -> Vector:
    return vector(
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def neg_quat(q: Any) -> Vector:
    return vector(q[0], -q[1], -q[2], -q[3])


def normalize_quat(k: Kernel, q: Any) -> Vector:
    """Unit quaternion; a vanishing one becomes the identity, one of unit length to rounding stays as it is, bit for
    bit (mju_normalize4)."""
    length = norm(k, q)
    tiny = length < MINVAL
    inverse = k.select(k.abs(length - 1.0) <= MINVAL, 1.0, 1.0 / k.max(length, MINVAL))
    scale = k.select(tiny, 0.0, inverse)
    return vector(k.select(tiny, 1.0, q[0] * scale), q[1] * scale, q[2] * scale, q[3] * scale)


def rotate(v: Any, q: Any) -> Vector:
    """v turned by the unit quaternion q: v + 2u×(wv + u×v), u the vector part, summed as in mju_rotVecQuat."""
    w, x, y, z = q
    t = vector(
        w * v[0] + y * v[2] - z * v[1],
        w * v[1] + z * v[0] - x * v[2],
        w * v[2] + x * v[1] - y * v[0],
    )
    return v + 2.0 * cross(q[1:], t)


def quat_to_mat(q: Any) -> Vector:
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


def axis_angle_quat(k: Kernel, axis: Any, angle: Any) -> Vector:
    s, c = sincos(k, 0.5 * angle)
    return vector(c, axis * s)


def quat_to_velocity(k: Kernel, q: Any) -> Vector:
    """Rotation vector of a unit quaternion, the short way round (mju_quat2Vel with dt = 1)."""
    s = norm(k, q[1:])
    angle = 2.0 * atan_half_plane(k, s, q[0])
    angle = k.select(angle > np.pi, angle - 2.0 * np.pi, angle)
    tiny = s < MINVAL
    scale = angle / k.max(s, MINVAL)
    # mju_normalize3 gives a vanishing axis the direction x
    return vector(k.select(tiny, angle, q[1] * scale), q[2] * scale, q[3] * scale)


def sub_quat(k: Kernel, a: Any, b: Any) -> Vector:
    """Rotation vector from b to a, in b's frame (mju_subQuat)."""
    return quat_to_velocity(k, mul_quat(neg_quat(b), a))


def integrate_quat(k: Kernel, q: Any, velocity: Any, h: Any) -> Vector:
    """q turned by the local angular velocity for a time h (mju_quatIntegrate)."""
    speed = norm(k, velocity)
    s, c = sincos(k, 0.5 * (h * speed))
    axis = velocity * (1.0 / k.max(speed, MINVAL))
    turned = mul_quat(q, vector(c, axis * s))
    return normalize_quat(k, k.select(speed < MINVAL, q, turned))


def inertia_times(inertia: Any, v: Any) -> Vector:
    """Spatial inertia times a motion vector (mju_mulInertVec)."""
    xx, yy, zz, xy, xz, yz, hx, hy, hz, mass = inertia
    return vector(
        xx * v[0] + xy * v[1] + xz * v[2] - hz * v[4] + hy * v[5],
        xy * v[0] + yy * v[1] + yz * v[2] + hz * v[3] - hx * v[5],
        xz * v[0] + yz * v[1] + zz * v[2] - hy * v[3] + hx * v[4],
        hz * v[1] - hy * v[2] + mass * v[3],
        hx * v[2] - hz * v[0] + mass * v[4],
        hy * v[0] - hx * v[1] + mass * v[5],
    )


def cross_motion(v: Any, s: Any) -> Vector:
    """Rate of change of a motion vector s moving with velocity v (mju_crossMotion)."""
    return vector(cross(v[:3], s[:3]), cross(v[:3], s[3:]) + cross(v[3:], s[:3]))


def cross_force(v: Any, f: Any) -> Vector:
    """Rate of change of a force vector f moving with velocity v (mju_crossForce)."""
    return vector(cross(v[:3], f[:3]) + cross(v[3:], f[3:]), cross(v[:3], f[3:]))
