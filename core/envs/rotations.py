"""Rotations of many worlds at once: unit quaternions (…, 4), w first, as in `qpos`, and rotation vectors (…, 3)."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array


def conjugate(quat: Array) -> Array:
    """The rotations back."""
    return quat * np.array([1.0, -1.0, -1.0, -1.0])


def product(first: Array, second: Array) -> Array:
    """`first` after `second`."""
    w, x, y, z = np.moveaxis(first, -1, 0)
    a, b, c, d = np.moveaxis(second, -1, 0)
    parts = (
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    )
    return np.stack(parts, axis=-1)


def rotate(quat: Array, vector: Array) -> Array:
    """Vectors of a body's frame as the world sees them."""
    w, axis = quat[..., :1], quat[..., 1:]
    turn = 2.0 * np.cross(axis, vector)
    return np.asarray(vector + w * turn + np.cross(axis, turn))


def rotate_back(quat: Array, vector: Array) -> Array:
    """Vectors of the world as a body with this orientation sees them."""
    return rotate(conjugate(quat), vector)


def from_vector(vector: Array) -> Array:
    """The rotation about a vector by its length."""
    half = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate((np.cos(half), 0.5 * vector * np.sinc(half / np.pi)), axis=-1)


def to_vector(quat: Array) -> Array:
    """Axis times angle, the short way round."""
    quat = np.where(quat[..., :1] < 0.0, -quat, quat)
    sine = np.linalg.norm(quat[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, quat[..., :1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(sine > 1e-12, angle / sine, 2.0) * quat[..., 1:])


def difference(to: Array, start: Array) -> Array:
    """The rotation from `start` to `to` as a vector in the frame of `start`: what `mj_subQuat` gives, and, over a
    time, the angular velocity of a free or ball joint in `qvel`."""
    return to_vector(product(conjugate(start), to))
