"""Quaternions (w, x, y, z) and frames as plain tuples, and the ways MJCF has of writing an orientation.

Conventions are MuJoCo's (`mjuu_` functions and `ResolveOrientation`): a quaternion rotates a vector from the
local frame to the parent frame, and `accumulate` expresses a child's pose in its frame's parent.
"""

from __future__ import annotations

import math

from dovetail.plugins.shared.constants import EPS, MINVAL
from dovetail.plugins.shared.quaternions_numpy import quat_conjugate, quat_multiply

Vec = tuple[float, ...]
"""A short vector of model numbers; plain floats are quicker than arrays at this length."""
Pose = tuple[Vec, Vec]
"""Position and quaternion."""
IDENTITY: Vec = (1.0, 0.0, 0.0, 0.0)
ORIGIN: Vec = (0.0, 0.0, 0.0)


class OrientationError(ValueError):
    """An orientation that has no direction, such as a zero axis."""


def squared(v: Vec) -> float:
    """Square of a vector's length, summed from left to right (Python's `sum` compensates rounding since 3.12)."""
    total = 0.0
    for x in v:
        total += x * x
    return total


def norm(v: Vec) -> float:
    return math.sqrt(squared(v))


def too_short(v: Vec) -> bool:
    """Whether a vector has practically no length, and so no direction (mjuu_normvec)."""
    return squared(v) < EPS


def normalized(v: Vec) -> Vec:
    """Unit vector; what has practically no length, or unit length already, is returned unchanged (mjuu_normvec)."""
    length = norm(v)
    return v if too_short(v) or abs(length - 1.0) <= EPS else tuple(x / length for x in v)


def unit_quat(q: Vec) -> Vec:
    """Unit quaternion as run-time functions make it: what has no length is no rotation (mju_normalize4)."""
    length = norm(q)
    return IDENTITY if length < MINVAL else tuple(x / length for x in q)


def add(a: Vec, b: Vec) -> Vec:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def subtract(a: Vec, b: Vec) -> Vec:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def scaled(v: Vec, factor: float) -> Vec:
    return tuple(x * factor for x in v)


def dot(a: Vec, b: Vec) -> float:
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += x * y
    return total


def cross(a: Vec, b: Vec) -> Vec:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def rotate(q: Vec, v: Vec) -> Vec:
    """The vector v, given in the local frame of q, in the parent frame."""
    w, x, y, z = q
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    wx, wy, wz, xy, xz, yz = w * x, w * y, w * z, x * y, x * z, y * z
    a, b, c = v
    return (
        (ww + xx - yy - zz) * a + 2.0 * (xy - wz) * b + 2.0 * (xz + wy) * c,
        2.0 * (xy + wz) * a + (ww - xx + yy - zz) * b + 2.0 * (yz - wx) * c,
        2.0 * (xz - wy) * a + 2.0 * (yz + wx) * b + (ww - xx - yy + zz) * c,
    )


def accumulate(pos: Vec, quat: Vec, child_pos: Vec, child_quat: Vec) -> tuple[Vec, Vec]:
    """Pose of a child in the frame in which (pos, quat) is given (mjuu_frameaccumChild)."""
    return add(pos, rotate(quat, child_pos)), quat_multiply(quat, child_quat)


def point(pose: Pose, local: Vec) -> Vec:
    """A point given in the frame `pose`, in the frame in which the pose is given."""
    return add(pose[0], rotate(pose[1], local))


def inverse(pos: Vec, quat: Vec) -> tuple[Vec, Vec]:
    """The pose that undoes (pos, quat)."""
    back = quat_conjugate(quat)
    return scaled(rotate(back, pos), -1.0), back


def from_axis_angle(axis: Vec, angle: float) -> Vec:
    half = angle / 2
    if math.isinf(half):  # C has no number for that, Python an exception
        half = math.nan
    return (math.cos(half), *scaled(axis, math.sin(half)))


def from_z_axis(direction: Vec) -> Vec:
    """Shortest rotation that takes z to the unit vector `direction` (mjuu_z2quat).

    Almost along z there is nothing to turn, almost against it any half turn will do.
    """
    axis = cross((0.0, 0.0, 1.0), direction)
    sine, axis = (0.0, (1.0, 0.0, 0.0)) if too_short(axis) else (norm(axis), normalized(axis))
    return from_axis_angle(axis, math.atan2(sine, direction[2]))


def from_matrix_columns(x: Vec, y: Vec, z: Vec) -> Vec:
    """Quaternion of the rotation matrix with columns x, y, z, by its largest component (mjuu_frame2quat)."""
    if x[0] + y[1] + z[2] > 0:
        w = 0.5 * math.sqrt(1 + x[0] + y[1] + z[2])
        return (w, 0.25 * (y[2] - z[1]) / w, 0.25 * (z[0] - x[2]) / w, 0.25 * (x[1] - y[0]) / w)
    if x[0] > y[1] and x[0] > z[2]:
        a = 0.5 * math.sqrt(1 + x[0] - y[1] - z[2])
        return (0.25 * (y[2] - z[1]) / a, a, 0.25 * (y[0] + x[1]) / a, 0.25 * (z[0] + x[2]) / a)
    if y[1] > z[2]:
        b = 0.5 * math.sqrt(1 - x[0] + y[1] - z[2])
        return (0.25 * (z[0] - x[2]) / b, 0.25 * (y[0] + x[1]) / b, b, 0.25 * (z[1] + y[2]) / b)
    c = 0.5 * math.sqrt(1 - x[0] - y[1] + z[2])
    return (0.25 * (x[1] - y[0]) / c, 0.25 * (z[0] + x[2]) / c, 0.25 * (z[1] + y[2]) / c, c)


def from_xy_axes(axes: Vec) -> Vec:
    """Orientation whose x axis is the first vector and whose y axis lies towards the second."""
    x = _direction(axes[:3], "the x axis")
    y = _direction(subtract(axes[3:], scaled(x, dot(x, axes[3:]))), "the y axis")
    return from_matrix_columns(x, y, _direction(cross(x, y), "the z axis, the others' cross product,"))


def from_euler(angles: Vec, sequence: str) -> Vec:
    """Euler angles in radians about the axes of `sequence`; lower case axes move along, upper case stay."""
    quat = IDENTITY
    for letter, angle in zip(sequence, angles, strict=True):
        axis = tuple(float(letter.lower() == name) for name in "xyz")
        turn = from_axis_angle(axis, angle)
        quat = quat_multiply(quat, turn) if letter.islower() else quat_multiply(turn, quat)
    return quat


def _direction(v: Vec, what: str) -> Vec:
    if too_short(v):
        raise OrientationError(f"{what} has no direction; make it longer than 1e-7")
    return normalized(v)


def radians(angle: float, degrees: bool) -> float:
    """An angle as written, in radians."""
    return angle / 180 * math.pi if degrees else angle


def resolve(kind: str, numbers: Vec, degrees: bool, sequence: str) -> Vec:
    """The quaternion of one of MJCF's alternatives: axisangle, xyaxes, zaxis or euler."""
    if kind == "axisangle":
        axis = _direction(numbers[:3], "the axis")
        return from_axis_angle(axis, radians(numbers[3], degrees))
    if kind == "xyaxes":
        return from_xy_axes(numbers)
    if kind == "zaxis":
        return from_z_axis(_direction(numbers, "the z axis"))
    return from_euler(tuple(radians(x, degrees) for x in numbers), sequence)
