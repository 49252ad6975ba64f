"""mju_* and mjd_*: quaternions, rotation matrices, poses, spatial vectors, and derivatives of quaternions."""

from __future__ import annotations

from math import atan2, cos, sin, sqrt
from typing import Any

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.mj.errors import FatalError
from dovetail.mj.functions.binding import function, need
from dovetail.mj.functions.vectors import MINVAL, normalize
from dovetail.plugins.shared.quaternions_numpy import (
    quat_conjugate,
    quat_from_axis_angle,
    quat_integrate,
    quat_matrix,
    quat_multiply,
    quat_normalize,
    quat_rotate,
    quat_to_rotation_vector,
)

IDENTITY = (1.0, 0.0, 0.0, 0.0)

Spatial = tuple[Array, Array]
"""The rotational and the translational half."""


@function("res: w3, vec: v3, quat: v4")
def mju_rotVecQuat(res: Array, vec: Array, quat: Array) -> None:
    """Turn a vector by a quaternion."""
    res[:] = quat_rotate(quat.tolist(), vec.tolist())


@function("res: w4, quat: v4")
def mju_negQuat(res: Array, quat: Array) -> None:
    """The inverse rotation."""
    res[:] = quat_conjugate(quat.tolist())


@function("res: w4, quat1: v4, quat2: v4")
def mju_mulQuat(res: Array, quat1: Array, quat2: Array) -> None:
    """The rotation quat2, then quat1."""
    res[:] = quat_multiply(quat1.tolist(), quat2.tolist())


@function("res: w4, quat: v4, axis: v3")
def mju_mulQuatAxis(res: Array, quat: Array, axis: Array) -> None:
    """The product of a quaternion and one without real part."""
    res[:] = quat_multiply(quat.tolist(), (0.0, *axis.tolist()))


@function("res: w4, axis: v3, angle: float")
def mju_axisAngle2Quat(res: Array, axis: Array, angle: float) -> None:
    """The rotation by an angle about a unit vector."""
    res[:] = quat_from_axis_angle(axis.tolist(), angle)


@function("res: w3, quat: v4, dt: float")
def mju_quat2Vel(res: Array, quat: Array, dt: float) -> None:
    """The angular velocity that makes this rotation in a time dt."""
    res[:] = np.array(quat_to_rotation_vector(quat.tolist())) / dt


@function("res: w3, qa: v4, qb: v4")
def mju_subQuat(res: Array, qa: Array, qb: Array) -> None:
    """The rotation vector that turns qb into qa, in qb's frame."""
    res[:] = quat_to_rotation_vector(quat_multiply(quat_conjugate(qb.tolist()), qa.tolist()))


@function("res: w9, quat: v4")
def mju_quat2Mat(res: Array, quat: Array) -> None:
    """The rotation matrix of a quaternion, row by row."""
    res[:] = quat_matrix(quat.tolist())


@function("quat: w4, mat: v9")
def mju_mat2Quat(quat: Array, mat: Array) -> None:
    """The quaternion of a rotation matrix that is given row by row."""
    a, b, c, d, e, f, g, h, i = mat.tolist()
    # The largest of the four squares is divided by.
    if a + e + i > 0.0:
        w = 0.5 * sqrt(1.0 + a + e + i)
        found = w, 0.25 * (h - f) / w, 0.25 * (c - g) / w, 0.25 * (d - b) / w
    elif a > e and a > i:
        x = 0.5 * sqrt(1.0 + a - e - i)
        found = 0.25 * (h - f) / x, x, 0.25 * (b + d) / x, 0.25 * (c + g) / x
    elif e > i:
        y = 0.5 * sqrt(1.0 - a + e - i)
        found = 0.25 * (c - g) / y, 0.25 * (b + d) / y, y, 0.25 * (f + h) / y
    else:
        z = 0.5 * sqrt(1.0 - a - e + i)
        found = 0.25 * (d - b) / z, 0.25 * (c + g) / z, 0.25 * (f + h) / z, z
    quat[:] = quat_normalize(found)


@function("quat: w4, mat: v9", "int")
def mju_mat2Rot(quat: Array, mat: Array) -> int:
    """The rotation nearest to any 3 × 3 matrix, found from the quaternion given; tells after how many turns.

    Each turn is about the sum of cross products of the axes with the matrix's columns (Müller et al. 2016)."""
    columns = mat.reshape(3, 3).T
    for count in range(500):
        axes = np.array(quat_matrix(quat.tolist())).reshape(3, 3).T
        turn = np.cross(axes, columns).sum(axis=0) / (abs(float((axes * columns).sum())) + MINVAL)
        angle = sqrt(float(turn @ turn))
        if angle < 1e-9:
            return count
        step = quat_from_axis_angle((turn / angle).tolist(), angle)
        quat[:] = quat_normalize(quat_multiply(step, quat.tolist()))
    return 500


@function("res: w4, quat: v4, vel: v3")
def mju_derivQuat(res: Array, quat: Array, vel: Array) -> None:
    """How a quaternion changes with time at an angular velocity in world axes."""
    res[:] = 0.5 * np.array(quat_multiply((0.0, *vel.tolist()), quat.tolist()))


@function("quat: w4, vel: v3, scale: float")
def mju_quatIntegrate(quat: Array, vel: Array, scale: float) -> None:
    """Turn a quaternion for a time at an angular velocity in its own frame."""
    quat[:] = quat_integrate(quat.tolist(), vel.tolist(), scale)


@function("quat: w4, vec: v3")
def mju_quatZ2Vec(quat: Array, vec: Array) -> None:
    """The shortest rotation from the z axis to a vector."""
    unit = np.array(vec)
    if normalize(unit) < MINVAL:
        quat[:] = IDENTITY
        return
    x, y, z = unit.tolist()
    aside = sqrt(x * x + y * y)
    if aside < MINVAL:
        quat[:] = (0.0, 1.0, 0.0, 0.0) if z < 0.0 else IDENTITY
        return
    quat[:] = quat_from_axis_angle((-y / aside, x / aside, 0.0), atan2(aside, z))


@function("quat: w4, euler: v3, seq: str")
def mju_euler2Quat(quat: Array, euler: Array, seq: str) -> None:
    """Three rotations one after the other, about axes that turn along (x, y, z) or stay (X, Y, Z)."""
    if len(seq) != 3:
        raise FatalError("mju_euler2Quat: seq must contain exactly 3 characters")
    total: Any = IDENTITY
    for place, (letter, angle) in enumerate(zip(seq, euler.tolist(), strict=True)):
        if letter.lower() not in "xyz":
            raise FatalError(f"mju_euler2Quat: seq[{place}] is '{letter}', should be one of x, y, z, X, Y, Z")
        axis = [float(letter.lower() == name) for name in "xyz"]
        turn = quat_from_axis_angle(axis, angle)
        total = quat_multiply(total, turn) if letter.islower() else quat_multiply(turn, total)
    quat[:] = total


# ---- poses ------------------------------------------------------------------------------------------------------


@function("posres: w3, quatres: w4, pos1: v3, quat1: v4, pos2: v3, quat2: v4")
def mju_mulPose(posres: Array, quatres: Array, pos1: Array, quat1: Array, pos2: Array, quat2: Array) -> None:
    """The pose 2 that is given in the frame of pose 1."""
    turn = quat1.tolist()
    quat = quat_normalize(quat_multiply(turn, quat2.tolist()))
    posres[:] = pos1 + quat_rotate(turn, pos2.tolist())
    quatres[:] = quat


@function("posres: w3, quatres: w4, pos: v3, quat: v4")
def mju_negPose(posres: Array, quatres: Array, pos: Array, quat: Array) -> None:
    """The inverse of a pose."""
    back = quat_conjugate(quat.tolist())
    posres[:] = -np.array(quat_rotate(back, pos.tolist()))
    quatres[:] = back


@function("res: w3, pos: v3, quat: v4, vec: v3")
def mju_trnVecPose(res: Array, pos: Array, quat: Array, vec: Array) -> None:
    """A point that is given in the frame of a pose."""
    res[:] = pos + quat_rotate(quat.tolist(), vec.tolist())


@function("res: w6, vec: v6, flg_force: int, newpos: v3, oldpos: v3, rotnew2old: v9")
def mju_transformSpatial(
    res: Array, vec: Array, flg_force: int, newpos: Array, oldpos: Array, rotnew2old: Array
) -> None:
    """A motion, or a force, seen from another point and in another frame; the rotational half comes first."""
    angular, linear = vec[:3].copy(), vec[3:].copy()
    away = newpos - oldpos
    if flg_force:
        angular -= np.cross(away, linear)
    else:
        linear -= np.cross(away, angular)
    turn = rotnew2old.reshape(3, 3)
    res[:3], res[3:] = angular @ turn, linear @ turn


@function("eigval: w3, eigvec: w9, quat: w4, mat: v9", "int")
def mju_eig3(eigval: Array, eigvec: Array, quat: Array, mat: Array) -> int:
    """Eigenvalues of a symmetric 3 × 3 matrix, largest first, with eigenvectors as columns of a rotation; tells after
    how many turns. Each turn clears the largest entry beside the diagonal (Jacobi)."""
    symmetric, turned = mat.reshape(3, 3), IDENTITY
    count = 0
    for count in range(500):  # noqa: B007  given back
        axes = np.array(quat_matrix(turned)).reshape(3, 3)
        turn = _jacobi_turn(axes.T @ symmetric @ axes)
        if turn is None:
            break
        turned = quat_normalize(quat_multiply(turned, turn))
    axes = np.array(quat_matrix(turned)).reshape(3, 3)
    values = np.diag(axes.T @ symmetric @ axes).copy()
    for first, second in ((0, 1), (1, 2), (0, 1)):
        if values[first] + EIG_TIE < values[second]:
            values[[first, second]] = values[[second, first]]
            quarter = [sqrt(0.5), 0.0, 0.0, 0.0]
            quarter[(3 - first - second) + 1] = sqrt(0.5)
            turned = quat_normalize(quat_multiply(turned, quarter))
    quat[:], eigval[:], eigvec[:] = turned, values, quat_matrix(turned)
    return count


EIG_TIE = 1e-12
"""Eigenvalues nearer to each other are not put in order."""


def _jacobi_turn(matrix: Array) -> tuple[float, float, float, float] | None:
    """The quaternion that clears the largest entry beside the diagonal; None if there is nothing to clear."""
    sizes = abs(matrix[0, 1]), abs(matrix[0, 2]), abs(matrix[1, 2])
    row, column, axis = (
        (0, 1, 2)
        if sizes[0] > sizes[1] and sizes[0] > sizes[2]
        else (0, 2, 1)
        if sizes[1] > sizes[2]
        else (1, 2, 0)
    )
    entry = float(matrix[row, column])
    if abs(entry) < 1e-12:
        return None
    ratio = float(matrix[column, column] - matrix[row, row]) / (2.0 * entry)
    root = sqrt(1.0 + ratio * ratio)
    tangent = 1.0 / (ratio + root) if ratio >= 0.0 else -1.0 / (root - ratio)
    cosine = 1.0 / sqrt(1.0 + tangent * tangent)
    if cosine > 1.0 - 1e-12:
        return None
    turn = [sqrt(0.5 + 0.5 * cosine), 0.0, 0.0, 0.0]
    turn[axis + 1] = (-1.0 if (tangent >= 0.0) == (axis != 1) else 1.0) * sqrt(0.5 - 0.5 * cosine)
    w, x, y, z = quat_normalize(turn)
    return w, x, y, z


# ---- derivatives ------------------------------------------------------------------------------------------------


@function("qa: v, qb: v, Da: W?, Db: W?")
def mjd_subQuat(qa: Array, qb: Array, Da: Array | None, Db: Array | None) -> None:
    """Derivatives of mju_subQuat by rotations of qa and of qb, each in its own frame."""
    need(len(qa) == 4, "qa must have size 4")
    need(len(qb) == 4, "qb must have size 4")
    need(Da is None or Da.size == 9, "Da must have size 9")
    need(Db is None or Db.size == 9, "Db must have size 9")
    vector = np.array(quat_to_rotation_vector(quat_multiply(quat_conjugate(qb.tolist()), qa.tolist())))
    angle = normalize(vector)
    half = 0.5 * angle
    # (ψ/2)·cot(ψ/2) is 1 − ψ²/12 near zero, where the quotient loses all digits.
    factor = 1.0 - half * half / 3.0 if half < 6e-8 else half * cos(half) / sin(half)
    skew = np.cross(np.eye(3), vector)
    matrix = factor * np.eye(3) + (1.0 - factor) * np.outer(vector, vector) + half * skew
    if Da is not None:
        Da.reshape(-1)[:] = matrix.reshape(-1)
    if Db is not None:
        Db.reshape(-1)[:] = -matrix.T.reshape(-1)


@function("vel: v3, scale: float, Dquat: w9, Dvel: w9, Dscale: w3")
def mjd_quatIntegrate(vel: Array, scale: float, Dquat: Array, Dvel: Array, Dscale: Array) -> None:
    """Derivatives of mju_quatIntegrate by a rotation of the quaternion, by scale·vel and by the scale."""
    vector = scale * vel
    angle = sqrt(float(vector @ vector))
    skew = np.cross(np.eye(3), -vector)
    square = skew @ skew
    if angle < 1e-4:
        sine, cosine, rest = 1.0 - angle**2 / 6.0, 0.5 - angle**2 / 24.0, 1.0 / 6.0 - angle**2 / 120.0
    else:
        sine, cosine = sin(angle) / angle, (1.0 - cos(angle)) / angle**2
        rest = (angle - sin(angle)) / angle**3
    Dquat[:] = (np.eye(3) + sine * skew + cosine * square).reshape(-1)
    Dvel[:] = (np.eye(3) + cosine * skew + rest * square).reshape(-1)
    Dscale[:] = vel


__all__ = [name for name in globals() if name.startswith(("mju_", "mjd_"))]
