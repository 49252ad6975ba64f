"""Textures with their smaller copies, one behind the other.

A texel is one number of 32 bits, red in the lowest byte. Level 0 is the image itself and each level above is half as
wide and high, down to one texel; a ray that sees many texels in its pixel asks a high level, so that far chessboards
become grey instead of glittering. Cubes have six faces at each level.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import numpy as np

from dovetail.contracts.fields import Array


@attrs.define(eq=False)
class Textures:
    """Images of a model by number; textures that nobody draws have no level."""

    first_level: Array
    """(ntex + 1): rows of `levels`."""
    cube: Array
    levels: Array
    """(n, 3): where its texels begin, width, height (of one face)."""
    texels: Array
    """uint32"""

    @classmethod
    def of(cls, images: Iterable[tuple[Array, bool]]) -> Textures:
        """Of images (height, width, channels), each with whether it is six faces one below the other."""
        first, cubes, levels, texels = [0], [], [], [np.zeros(1, np.uint32)]
        at = 1
        for image, cube in images:
            chain = _smaller(_faces(image) if cube else image[None]) if image.size else []
            for level in chain:
                packed = _packed(level)
                levels.append((at, level.shape[2], level.shape[1]))
                texels.append(packed)
                at += packed.size
            first.append(len(levels))
            cubes.append(cube)
        return cls(
            np.array(first, np.int32),
            np.array(cubes or [False], np.int32),
            np.array(levels or [(0, 1, 1)], np.int32),
            np.concatenate(texels),
        )


def _faces(image: Array) -> Array:
    """The six faces of a cube; a square image is all of them."""
    height, width = image.shape[:2]
    if height == 6 * width:
        return image.reshape(6, width, width, -1)
    return np.broadcast_to(image[None], (6, *image.shape))


def _smaller(faces: Array) -> list[Array]:
    """An image and its smaller copies, (faces, height, width, 4) each, as averages of four."""
    levels = [_with_four_channels(faces).astype(np.float32)]
    while max(levels[-1].shape[1:3]) > 1:
        levels.append(_halved(_halved(levels[-1], 1), 2))
    return levels


def _halved(image: Array, axis: int) -> Array:
    """Half as many along an axis: averages of two, or with weights of three where the number is odd."""
    count = image.shape[axis]
    half = count // 2
    if count == 1:
        return image
    even = np.take(image, np.arange(0, 2 * half, 2), axis)
    odd = np.take(image, np.arange(1, 2 * half, 2), axis)
    if count == 2 * half:
        mean: Array = (even + odd) / 2
        return mean
    next_even = np.take(image, np.arange(2, 2 * half + 1, 2), axis)
    at = np.arange(half, dtype=np.float32).reshape([-1 if i == axis else 1 for i in range(image.ndim)])
    weighted: Array = ((half - at) * even + half * odd + (at + 1) * next_even) / count
    return weighted


def _with_four_channels(faces: Array) -> Array:
    channels = faces.shape[-1]
    if channels == 4:
        return faces
    colour = np.broadcast_to(faces[..., :1], (*faces.shape[:-1], 3)) if channels < 3 else faces[..., :3]
    opaque = faces[..., 1:2] if channels == 2 else np.full((*faces.shape[:-1], 1), 255, np.uint8)
    return np.concatenate([colour, opaque], axis=-1)


def _packed(level: Array) -> Array:
    bytes_ = np.rint(level).astype(np.uint32).reshape(-1, 4)
    packed: Array = bytes_[:, 0] | bytes_[:, 1] << 8 | bytes_[:, 2] << 16 | bytes_[:, 3] << 24
    return packed
