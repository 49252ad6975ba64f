"""Spatial vectors and inertias, one per row.

A spatial vector is (angular, linear). A spatial inertia is ten numbers (Ixx, Iyy, Izz, Ixy, Ixz, Iyz, m·cx, m·cy,
m·cz, m), c from the reference point to the centre of mass. Compare mju_mulInertVec, mju_crossMotion and
mju_crossForce. In lanes: spatial_lanes.py.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.vectors_numpy import apply_rows


def _signed_table(text: str, symbols: str) -> tuple[Array, Array]:
    """Index and sign tables of a matrix written with one symbol per entry; '.' is zero."""
    rows = [line.split() for line in text.strip().splitlines()]
    index = np.array([[max(symbols.find(entry[-1]), 0) for entry in row] for row in rows])
    sign = np.array([[{".": 0.0, "-": -1.0}.get(entry[0], 1.0) for entry in row] for row in rows])
    return index, sign


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


def inertia_times(inertia: Array, v: Array) -> Array:
    """Spatial inertias (n, 10) times motion vectors (n, 6)."""
    return apply_rows(inertia_matrix(inertia), v)


def cross_motion(v: Array, s: Array) -> Array:
    """Rates of change of motion vectors s that move with velocities v."""
    return apply_rows(cross_motion_matrix(v), s)


def cross_force(v: Array, f: Array) -> Array:
    """Rates of change of force vectors f that move with velocities v."""
    return -apply_rows(cross_motion_matrix(v).transpose(0, 2, 1), f)
