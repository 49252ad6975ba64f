"""Spatial vectors and inertias as small arrays of lane values, with the names of spatial_numpy.py.

A spatial vector is (angular, linear). A spatial inertia is MuJoCo's ten numbers: six of the rotational inertia (xx yy
zz xy xz yz), mass times offset of the centre of mass, mass.
"""

from __future__ import annotations

from typing import Any

from dovetail.plugins.shared.vectors_lanes import Vector, cross, vector


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
