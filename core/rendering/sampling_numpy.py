"""Colours of textures at coordinates and in directions."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.rendering.textures import Textures

_BYTE = np.float32(1 / 255)

CUBE_AXES = (
    (0, 2, 1, -1, -1),
    (0, 2, 1, 1, -1),
    (1, 0, 2, 1, 1),
    (1, 0, 2, 1, -1),
    (2, 0, 1, 1, -1),
    (2, 0, 1, -1, -1),
)
"""Of each face of a cube: its axis, the axes along which columns and rows run, and their signs (OpenGL 1.3,
3.8.6)."""


def on_plane(textures: Textures, texture: int, coordinates: Array, detail: Array) -> Array:
    """Colours (n, 3) at coordinates (n, 2) of a 2d texture, which repeats; `detail` is how much of the coordinates
    one pixel spans."""
    return _sampled(
        textures, texture, np.zeros(len(coordinates), np.int64), coordinates, detail, repeats=True
    )


def in_direction(textures: Textures, texture: int, direction: Array, detail: Array) -> Array:
    """Colours (n, 3) of a cube texture in directions (n, 3) of its own frame; `detail` as share of a face."""
    size = np.abs(direction)
    axis = np.where(
        (size[:, 0] >= size[:, 1]) & (size[:, 0] >= size[:, 2]), 0, np.where(size[:, 1] >= size[:, 2], 1, 2)
    )
    rows = np.arange(len(direction))
    face = 2 * axis + (direction[rows, axis] < 0)
    table = np.array(CUBE_AXES)[face]
    longest = np.maximum(size[rows, axis], np.float32(1e-20))
    across = direction[rows, table[:, 1]] * table[:, 3].astype(np.float32) / longest
    down = direction[rows, table[:, 2]] * table[:, 4].astype(np.float32) / longest
    coordinates = (np.stack([across, down], axis=1) + np.float32(1)) * np.float32(0.5)
    return _sampled(textures, texture, face, coordinates, detail, repeats=False)


def _sampled(
    textures: Textures, texture: int, face: Array, coordinates: Array, detail: Array, *, repeats: bool
) -> Array:
    """Between the two levels whose texels are nearest in size to a pixel."""
    first, last = textures.first_level[texture], textures.first_level[texture + 1] - 1
    size = textures.levels[first, 1:].max()
    level = np.clip(np.log2(np.maximum(detail * np.float32(size), np.float32(1))), 0, last - first)
    lower = np.floor(level)
    share = (level - lower).astype(np.float32)[:, None]
    lower = lower.astype(np.int64)
    colours = [
        _between_texels(textures, first + np.minimum(lower + above, last - first), face, coordinates, repeats)
        for above in (0, 1)
    ]
    mixed: Array = colours[0] + (colours[1] - colours[0]) * share
    return mixed


def _between_texels(
    textures: Textures, level: Array, face: Array, coordinates: Array, repeats: bool
) -> Array:
    """Between the four texels around a place."""
    start, width, height = textures.levels[level].T.astype(np.int64)
    place = coordinates - np.floor(coordinates) if repeats else coordinates
    x = place[:, 0] * width.astype(np.float32) - np.float32(0.5)
    y = place[:, 1] * height.astype(np.float32) - np.float32(0.5)
    left, top = np.floor(x), np.floor(y)
    right_share, bottom_share = (x - left)[:, None], (y - top)[:, None]
    total = np.zeros((len(place), 3), np.float32)
    for below, row_share in ((0, 1 - bottom_share), (1, bottom_share)):
        for beside, column_share in ((0, 1 - right_share), (1, right_share)):
            column, row = left.astype(np.int64) + beside, top.astype(np.int64) + below
            if repeats:
                column, row = column % width, row % height
            else:
                column, row = np.clip(column, 0, width - 1), np.clip(row, 0, height - 1)
            texel = textures.texels[start + (face * height + row) * width + column]
            total += _unpacked(texel) * (row_share * column_share)
    return total


def _unpacked(texel: Array) -> Array:
    colour: Array = (
        np.stack([texel & 255, texel >> 8 & 255, texel >> 16 & 255], axis=1).astype(np.float32) * _BYTE
    )
    return colour
