"""mju_*: vectors of three, four or any number of entries."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.mj.functions.binding import function, need

MINVAL = 1e-15
"""mjMINVAL: shorter vectors have no direction."""


def _same(res: Array, **others: Array) -> None:
    for name, other in others.items():
        need(len(res) == len(other), f"res and {name} should have the same size")


@function("res: w3")
def mju_zero3(res: Array) -> None:
    """Three zeros."""
    res[:] = 0.0


@function("res: w3, data: v3")
def mju_copy3(res: Array, data: Array) -> None:
    """res = data."""
    res[:] = data


@function("res: w3, vec: v3, scl: float")
def mju_scl3(res: Array, vec: Array, scl: float) -> None:
    """res = vec·scl."""
    res[:] = vec * scl


@function("res: w3, vec1: v3, vec2: v3")
def mju_add3(res: Array, vec1: Array, vec2: Array) -> None:
    """res = vec1 + vec2."""
    res[:] = vec1 + vec2


@function("res: w3, vec1: v3, vec2: v3")
def mju_sub3(res: Array, vec1: Array, vec2: Array) -> None:
    """res = vec1 − vec2."""
    res[:] = vec1 - vec2


@function("res: w3, vec: v3")
def mju_addTo3(res: Array, vec: Array) -> None:
    """res += vec."""
    res += vec


@function("res: w3, vec: v3")
def mju_subFrom3(res: Array, vec: Array) -> None:
    """res −= vec."""
    res -= vec


@function("res: w3, vec: v3, scl: float")
def mju_addToScl3(res: Array, vec: Array, scl: float) -> None:
    """res += vec·scl."""
    res += vec * scl


@function("res: w3, vec1: v3, vec2: v3, scl: float")
def mju_addScl3(res: Array, vec1: Array, vec2: Array, scl: float) -> None:
    """res = vec1 + vec2·scl."""
    res[:] = vec1 + vec2 * scl


@function("vec: w3", "float")
def mju_normalize3(vec: Array) -> float:
    """Make the vector one long, and give the length it had; one without direction becomes the x axis."""
    return normalize(vec)


@function("vec: v3", "float")
def mju_norm3(vec: Array) -> float:
    """The length of a vector."""
    x, y, z = vec.tolist()
    return sqrt(x * x + y * y + z * z)


@function("vec1: v3, vec2: v3", "float")
def mju_dot3(vec1: Array, vec2: Array) -> float:
    """Scalar product."""
    (a, b, c), (x, y, z) = vec1.tolist(), vec2.tolist()
    return a * x + b * y + c * z


@function("pos1: v3, pos2: v3", "float")
def mju_dist3(pos1: Array, pos2: Array) -> float:
    """The distance of two points."""
    x, y, z = (pos1 - pos2).tolist()
    return sqrt(x * x + y * y + z * z)


@function("res: w3, mat: v9, vec: v3")
def mju_mulMatVec3(res: Array, mat: Array, vec: Array) -> None:
    """res = mat·vec, with a 3 × 3 matrix given row by row."""
    res[:] = mat.reshape(3, 3) @ vec


@function("res: w3, mat: v9, vec: v3")
def mju_mulMatTVec3(res: Array, mat: Array, vec: Array) -> None:
    """res = matᵀ·vec, with a 3 × 3 matrix given row by row."""
    res[:] = vec @ mat.reshape(3, 3)


@function("res: w3, a: v3, b: v3")
def mju_cross(res: Array, a: Array, b: Array) -> None:
    """Vector product."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    res[:] = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


# ---- four numbers -----------------------------------------------------------------------------------------------


@function("res: w4")
def mju_zero4(res: Array) -> None:
    """Four zeros."""
    res[:] = 0.0


@function("res: w4")
def mju_unit4(res: Array) -> None:
    """The quaternion of no rotation."""
    res[:] = 1.0, 0.0, 0.0, 0.0


@function("res: w4, data: v4")
def mju_copy4(res: Array, data: Array) -> None:
    """res = data."""
    res[:] = data


@function("vec: w4", "float")
def mju_normalize4(vec: Array) -> float:
    """Make a quaternion one long, and give the length it had; one of length zero becomes no rotation."""
    norm = sqrt(sum(x * x for x in vec.tolist()))
    if norm < MINVAL:
        vec[:] = 1.0, 0.0, 0.0, 0.0
    elif abs(norm - 1.0) > MINVAL:
        vec *= 1.0 / norm
    return norm


# ---- any number of them -----------------------------------------------------------------------------------------


@function("res: w")
def mju_zero(res: Array) -> None:
    """All zero."""
    res[:] = 0.0


@function("res: w, val: float")
def mju_fill(res: Array, val: float) -> None:
    """All the same."""
    res[:] = val


@function("res: w, vec: v")
def mju_copy(res: Array, vec: Array) -> None:
    """res = vec."""
    _same(res, data=vec)
    res[:] = vec


@function("vec: w", "float")
def mju_sum(vec: Array) -> float:
    """The sum of all entries."""
    return float(vec.sum())


@function("vec: w", "float")
def mju_L1(vec: Array) -> float:
    """The sum of all absolute values."""
    return float(np.abs(vec).sum())


@function("res: w, vec: v, scl: float")
def mju_scl(res: Array, vec: Array, scl: float) -> None:
    """res = vec·scl."""
    _same(res, vec=vec)
    res[:] = vec * scl


@function("res: w, vec1: v, vec2: v")
def mju_add(res: Array, vec1: Array, vec2: Array) -> None:
    """res = vec1 + vec2."""
    _same(res, vec1=vec1, vec2=vec2)
    res[:] = vec1 + vec2


@function("res: w, vec1: v, vec2: v")
def mju_sub(res: Array, vec1: Array, vec2: Array) -> None:
    """res = vec1 − vec2."""
    _same(res, vec1=vec1, vec2=vec2)
    res[:] = vec1 - vec2


@function("res: w, vec: v")
def mju_addTo(res: Array, vec: Array) -> None:
    """res += vec."""
    _same(res, vec=vec)
    res += vec


@function("res: w, vec: v")
def mju_subFrom(res: Array, vec: Array) -> None:
    """res −= vec."""
    _same(res, vec=vec)
    res -= vec


@function("res: w, vec: v, scl: float")
def mju_addToScl(res: Array, vec: Array, scl: float) -> None:
    """res += vec·scl."""
    _same(res, vec=vec)
    res += vec * scl


@function("res: w, vec1: v, vec2: v, scl: float")
def mju_addScl(res: Array, vec1: Array, vec2: Array, scl: float) -> None:
    """res = vec1 + vec2·scl."""
    _same(res, vec1=vec1, vec2=vec2)
    res[:] = vec1 + vec2 * scl


@function("res: w", "float")
def mju_normalize(res: Array) -> float:
    """Make a vector one long, and give the length it had; one without direction becomes the first axis."""
    return normalize(res)


@function("res: v", "float")
def mju_norm(res: Array) -> float:
    """The length of a vector."""
    return sqrt(float(res @ res))


@function("vec1: v, vec2: v", "float")
def mju_dot(vec1: Array, vec2: Array) -> float:
    """Scalar product."""
    need(len(vec1) == len(vec2), "vec1 and vec2 should have the same size")
    return float(vec1 @ vec2)


@function("vec: w", "int")
def mju_isZero(vec: Array) -> int:
    """1 if all entries are zero, else 0."""
    return int(not vec.any())


@function("res: w, vec: fv")
def mju_f2n(res: Array, vec: Array) -> None:
    """Numbers of single precision as doubles."""
    _same(res, vec=vec)
    res[:] = vec


@function("res: fw, vec: v")
def mju_n2f(res: Array, vec: Array) -> None:
    """Doubles as numbers of single precision."""
    _same(res, vec=vec)
    res[:] = vec


@function("res: w, vec: v")
def mju_d2n(res: Array, vec: Array) -> None:
    """res = vec."""
    _same(res, vec=vec)
    res[:] = vec


@function("res: w, vec: v")
def mju_n2d(res: Array, vec: Array) -> None:
    """res = vec."""
    _same(res, vec=vec)
    res[:] = vec


@function("list: w")
def mju_insertionSort(list: Array) -> None:
    """Sort numbers, smallest first."""
    list.sort(kind="stable")


@function("list: iw")
def mju_insertionSortInt(list: Array) -> None:
    """Sort whole numbers, smallest first."""
    list.sort(kind="stable")


def normalize(vec: Array) -> float:
    """Make a vector one long in place; one without direction becomes the first axis."""
    norm = sqrt(float(vec @ vec))
    if norm < MINVAL:
        vec[:] = 0.0
        vec[:1] = 1.0
    else:
        vec *= 1.0 / norm
    return norm


__all__ = [name for name in globals() if name.startswith(("mju_", "mjd_"))]
