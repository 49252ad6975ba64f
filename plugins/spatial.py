"""Small-vector maths the reference stages share: quaternions, spatial algebra, sums along the tree.

Two styles, chosen by where they are used. Functions on single quaternions and vectors take and return tuples
of floats: a kinematic chain is walked joint by joint, where Python floats are several times quicker than
three-element arrays. Functions on rows take arrays with one row per body or degree of freedom.

Conventions are MuJoCo's. A quaternion is (w, x, y, z). A spatial vector is (angular, linear). A spatial
inertia is ten numbers (Ixx, Iyy, Izz, Ixy, Ixz, Iyz, m·cx, m·cy, m·cz, m), c from the reference point to the
centre of mass. Look at mju_mulQuat, mju_subQuat, mju_mulInertVec, mju_crossMotion and mju_crossForce.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, isfinite, nan, pi, sin, sqrt
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.contracts.enums import JointType

Array: TypeAlias = NDArray[Any]
Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]

MINVAL = 1e-15
"""Below this MuJoCo takes a length, mass or time constant as zero (mjMINVAL, MuJoCo 3.4)."""

Matrix = tuple[float, float, float, float, float, float, float, float, float]

IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)

# As plain integers, because comparing an array with a member of an enum takes five times as long.
FREE, BALL, SLIDE, HINGE = map(int, (JointType.FREE, JointType.BALL, JointType.SLIDE, JointType.HINGE))


# ---- one vector, one quaternion ---------------------------------------------------------------------------


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


def matrix_times(m: Sequence[float], v: Sequence[float]) -> Vector:
    """A matrix, row by row, times a vector."""
    x, y, z = v
    return (
        m[0] * x + m[1] * y + m[2] * z,
        m[3] * x + m[4] * y + m[5] * z,
        m[6] * x + m[7] * y + m[8] * z,
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
    if s < MINVAL:
        # The axis is undefined; MuJoCo takes x, and the angle is 0 or 2π, which wraps to 0.
        return 0.0, 0.0, 0.0
    angle = 2.0 * atan2(s, w)
    if angle > pi:
        angle -= 2.0 * pi
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


def _signed_table(text: str, symbols: str) -> tuple[Array, Array]:
    """Index and sign tables of a matrix written with one symbol per entry; '.' is zero."""
    rows = [line.split() for line in text.strip().splitlines()]
    index = np.array([[max(symbols.find(entry[-1]), 0) for entry in row] for row in rows])
    sign = np.array([[{".": 0.0, "-": -1.0}.get(entry[0], 1.0) for entry in row] for row in rows])
    return index, sign


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


def quat_to_matrix(q: Array) -> Array:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4), rounded as `quat_matrix` rounds."""
    return np.stack(cast(Any, quat_matrix(cast(Any, q.T))), axis=1).reshape(-1, 3, 3)


def quat_products(a: Array, b: Array) -> Array:
    """Products (n, 4) of quaternions, rounded as `quat_multiply` rounds."""
    first, second = cast(Any, a.T), cast(Any, b.T)
    return np.stack(cast(Any, quat_multiply(first, second)), axis=1)


def turned(matrices: Array, vectors: Array) -> Array:
    """Matrices (n, 9) times vectors (n, 3), rounded as `matrix_times` rounds; `apply` may sum in another order."""
    entries, columns = cast(Any, matrices.T), cast(Any, vectors.T)
    return np.stack(cast(Any, matrix_times(entries, columns)), axis=1)


def cross(a: Array, b: Array) -> Array:
    """Cross products of rows (n, 3)."""
    return _bilinear(a, b, _CROSS)


def dot(a: Array, b: Array) -> Array:
    """Scalar products of rows."""
    return np.einsum("ij,ij->i", a, b)


def apply(matrices: Array, vectors: Array) -> Array:
    """Matrices (n, p, q) times vectors (n, q)."""
    return np.matmul(matrices, vectors[..., None])[..., 0]


# Angular momentum I·w + h×v and momentum m·v − h×w as one symmetric matrix. The letters are the ten
# numbers in order: a b c = Ixx Iyy Izz, d e f = Ixy Ixz Iyz, x y z = h, m = mass.
_INERTIA_INDEX, _INERTIA_SIGN = _signed_table(
    """
    a  d  e  .  -z  y
    d  b  f  z  .  -x
    e  f  c  -y  x  .
    .  z  -y  m  .  .
    -z  .  x  .  m  .
    y  -x  .  .  .  m
    """,
    "abcdefxyzm",
)

# Motion cross product: (w, v) × (a, l) = (w×a, w×l + v×a), w = x y z, v = p q r.
_CROSS_INDEX, _CROSS_SIGN = _signed_table(
    """
    .  -z  y  .  .  .
    z  .  -x  .  .  .
    -y  x  .  .  .  .
    .  -r  q  .  -z  y
    r  .  -p  z  .  -x
    -q  p  .  -y  x  .
    """,
    "xyzpqr",
)


def inertia_matrix(inertia: Array) -> Array:
    """Spatial inertias (n, 10) as symmetric matrices (n, 6, 6)."""
    return inertia[:, _INERTIA_INDEX] * _INERTIA_SIGN


def cross_motion_matrix(velocity: Array) -> Array:
    """Matrices X (n, 6, 6) with X·m the rate of change of a motion vector m carried at `velocity`.

    A force vector carried along changes at −Xᵀ·f.
    """
    return velocity[:, _CROSS_INDEX] * _CROSS_SIGN


# ---- the kinematic tree -----------------------------------------------------------------------------------


def single_dof(jnt_type: Array) -> Array:
    """Which joints are hinges or slides, with one coordinate and one velocity."""
    return (jnt_type == HINGE) | (jnt_type == SLIDE)


def add_from_parents(rows: Array, parents: Array) -> None:
    """Add to each body's row its ancestors' rows, in place; bodies come after their parents."""
    for body, parent in enumerate(parents.tolist()):
        if body:
            rows[body] += rows[parent]


def add_to_parents(rows: Array, parents: Array) -> None:
    """Add to each body's row its descendants' rows, in place."""
    parent_of = parents.tolist()
    for body in range(len(parent_of) - 1, 0, -1):
        rows[parent_of[body]] += rows[body]
