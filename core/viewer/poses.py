"""Rotations for a browser: quaternions of many matrices at once, and pieces put where their elements are."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.viewer.pieces import Pieces

FARTHEST = 1e6
"""Metres beyond which nothing is drawn: single precision ends, and so does sense."""


def quaternions(mats: Array) -> Array:
    """Unit quaternions wxyz (n, 4) of rotation matrices (n, 3, 3) or (n, 9)."""
    m = np.asarray(mats, np.float64).reshape(-1, 3, 3)
    # Twice the squared components, each from the diagonal; the largest of them says which row is exact.
    xx, yy, zz = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    squared = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=-1)
    wx, wy, wz = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    xy, xz, yz = m[:, 1, 0] + m[:, 0, 1], m[:, 0, 2] + m[:, 2, 0], m[:, 2, 1] + m[:, 1, 2]
    rows = np.stack(
        [
            np.stack([squared[:, 0], wx, wy, wz], axis=-1),
            np.stack([wx, squared[:, 1], xy, xz], axis=-1),
            np.stack([wy, xy, squared[:, 2], yz], axis=-1),
            np.stack([wz, xz, yz, squared[:, 3]], axis=-1),
        ],
        axis=1,
    )
    chosen = rows[np.arange(len(m)), np.argmax(squared, axis=-1)]
    norm = np.linalg.norm(chosen, axis=-1, keepdims=True)
    unit: Array = chosen / np.where(norm > 0, norm, 1.0)
    return unit


def flipped(quats: Array) -> Array:
    """Each turned by half a turn about its own x axis first."""
    w, x, y, z = quats.T
    return np.stack([-x, w, z, -y], axis=-1)


def placed(made: Pieces, pos: Array, mats: Array, quats: Array) -> tuple[Array, Array]:
    """Positions (n, 3) and quaternions (n, 4) of pieces whose elements are at `pos` with rotations `mats`, which are
    also given as quaternions."""
    turns = mats.reshape(-1, 3, 3)[made.element]
    where = pos[made.element] + turns[:, :, 2] * made.offset[:, 2:]
    turned = quats[made.element]
    if made.flipped.any():
        turned = np.where(made.flipped[:, None], flipped(turned), turned)
    return drawable(where), turned.astype(np.float32)


def drawable(positions: Array) -> Array:
    """Single precision, with what is no number or out of all bounds put at the edge of the world."""
    return np.clip(np.nan_to_num(positions, nan=FARTHEST), -FARTHEST, FARTHEST).astype(np.float32)


def rotation(quat: Array) -> Array:
    """The matrix (3, 3) of a quaternion wxyz."""
    w, x, y, z = np.asarray(quat, float) / (np.linalg.norm(quat) or 1.0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
