"""Textures of a compiled Model as MJCF: the built-in pattern that draws the same pixels, or a file with them.

A Model keeps pixels only. Patterns are drawn again with the colours that the pixels show, and count only if every
pixel is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from dovetail.contracts.enums import ColorSpace, TextureBuiltin, TextureType
from dovetail.errors import CannotWriteError
from dovetail.mjcf.elements.texture import TextureItem, _draw, first_colour_shares, uniform_numbers
from dovetail.mjcf.geometry.images import encode_png
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.write.text import number as written_number
from dovetail.mjcf.write.text import numbers

_CUBE = "RLUDFB"
_DIGITS = (1, 2, 3)
_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Shares of random dots that people write."""
_NEAR = 1.5
"""How far a pixel may be from a fitted pattern, in bytes: rounding makes half of one."""
_SAMPLES = 100_000
"""Pixels that colours are fitted to."""


def texture_attributes(model: Any, number: int, label: str, files: dict[str, bytes] | None) -> dict[str, str]:
    """Attributes that bring a texture back; `files` takes its image, if it is given and no pattern fits."""
    height, width = int(model.tex_height[number]), int(model.tex_width[number])
    channels, start = int(model.tex_nchannel[number]), int(model.tex_adr[number])
    pixels = np.array(model.tex_data[start : start + height * width * channels]).reshape(
        height, width, channels
    )
    kind = TextureType(int(model.tex_type[number]))
    raw = {"type": kind.keyword}
    space = ColorSpace(int(model.tex_colorspace[number]))
    raw |= {"colorspace": space.keyword} if space != ColorSpace.AUTO else {}
    raw |= {"nchannel": str(channels)} if channels != 3 else {}
    pattern = _pattern(kind, pixels) if channels == 3 else None
    if pattern is not None:
        return raw | pattern
    if files is None:
        raise CannotWriteError(
            f"texture {label}: MJCF has no place for the pixels of an image; give to_xml a dictionary to put files "
            "in: to_xml(model, assets={})"
        )
    return raw | _filed(kind, pixels, number, files)


def _filed(kind: TextureType, pixels: np.ndarray, number: int, files: dict[str, bytes]) -> dict[str, str]:
    height, width = pixels.shape[:2]
    name = f"texture{number}.png"
    while name in files:
        name = f"_{name}"
    files[name] = encode_png(pixels)
    found = {"file": name}
    if kind != TextureType.TWO_D and height == 6 * width:
        found |= {"gridsize": "6 1", "gridlayout": _CUBE}
    return found


def _pattern(kind: TextureType, pixels: np.ndarray) -> dict[str, str] | None:
    """The built-in pattern that draws these pixels, if there is one."""
    height, width = pixels.shape[:2]
    if kind != TextureType.TWO_D and height != 6 * width:
        return None
    for builtin in (TextureBuiltin.FLAT, TextureBuiltin.CHECKER, TextureBuiltin.GRADIENT):
        item = TextureItem(builtin=int(builtin), type=int(kind), node=Node("texture", "<Model>", 0, {}))
        item.width, item.height = width, height if kind == TextureType.TWO_D else 0
        shares = first_colour_shares(item)
        for mark, free in _marks(kind, pixels):
            for candidate in _candidates(item, pixels, shares, mark, free):
                if _draws(candidate, pixels):
                    return _said(candidate, item)
    return None


def _draws(item: TextureItem, pixels: np.ndarray) -> bool:
    drawn = attrs.evolve(item)
    _draw(drawn)
    return np.array_equal(drawn.data, pixels)


def _said(item: TextureItem, size: TextureItem) -> dict[str, str]:
    found = {"builtin": TextureBuiltin(item.builtin).keyword, "width": str(size.width)}
    found |= {"height": str(size.height)} if size.height else {}
    found |= {"rgb1": numbers(item.rgb1), "rgb2": numbers(item.rgb2)}
    if item.mark != "none":
        found |= {"mark": item.mark, "markrgb": numbers(item.markrgb)}
        found |= {"random": written_number(item.random)} if item.mark == "random" else {}
    return found


def _marks(kind: TextureType, pixels: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Kinds of marks, with the pixels that each leaves free."""
    height, width = pixels.shape[:2]
    yield "none", np.ones((height, width), bool)
    side = height if kind == TextureType.TWO_D else width
    row, column = np.arange(height)[:, None] % side, np.arange(width)[None, :]
    yield "edge", (row > 0) & (row < side - 1) & (column > 0) & (column < width - 1)
    yield "cross", (row != side // 2) & (column != width // 2)
    yield "random", (uniform_numbers(height * width) >= _SHARES[-1]).reshape(height, width)


def _candidates(
    item: TextureItem, pixels: np.ndarray, shares: np.ndarray, mark: str, free: np.ndarray
) -> Iterator[TextureItem]:
    """The pattern with colours that fit the pixels that no mark covers, and with the marks that fit the rest."""
    if not free.any():
        return
    step = max(1, int(free.sum()) // _SAMPLES)
    share, seen = shares[free][::step], pixels[free][::step].astype(float)
    mixed = np.stack([share, 1 - share], axis=1)
    ends, *_ = np.linalg.lstsq(mixed, (seen + 0.5) / 255, rcond=None)
    if np.abs(255 * mixed @ ends - seen - 0.5).max() > _NEAR:
        return
    mark_colour, portion = _mark_of(item, pixels, shares, mark, ends)
    exact = not np.any((share > 0) & (share < 1))
    for pair in _spelled(ends, exact):
        yield attrs.evolve(item, rgb1=pair[0], rgb2=pair[1], mark=mark, markrgb=mark_colour, random=portion)


def _mark_of(
    item: TextureItem, pixels: np.ndarray, shares: np.ndarray, mark: str, ends: np.ndarray
) -> tuple[Vec, float]:
    """Colour of the marks, and of random ones their share of all pixels."""
    height, width = pixels.shape[:2]
    side = height if item.type == TextureType.TWO_D else width
    if mark == "edge":
        return _few_digits(pixels[0, 0]), 0.01
    if mark == "cross":
        return _few_digits(pixels[side // 2, width // 2]), 0.01
    if mark == "none":
        return (0.0, 0.0, 0.0), 0.01
    expected = 255 * (shares[..., None] * ends[0] + (1 - shares[..., None]) * ends[1])
    odd = np.abs(expected - pixels - 0.5).max(axis=2).reshape(-1) > _NEAR
    drawn = uniform_numbers(height * width)
    most = float(drawn[odd].max(initial=0.0))
    first = int(np.flatnonzero(odd)[0]) if odd.any() else 0
    share = next((share for share in sorted(_SHARES) if share >= most), most)
    return _few_digits(pixels.reshape(-1, 3)[first]), share


def _spelled(ends: np.ndarray, exact: bool) -> Iterator[tuple[Vec, Vec]]:
    """Two colours as people write them, near those that were found."""
    ends = np.clip(ends, 0.0, 1.0)
    if exact:  # each pixel has one of the colours: its bytes tell
        first, second = (np.floor(255 * end).astype(int) for end in ends)
        yield _few_digits(first), _few_digits(second)
        return
    for digits in _DIGITS:
        pair = np.round(ends, digits)
        if np.abs(pair - ends).max() < _NEAR / 255:
            yield tuple(pair[0].tolist()), tuple(pair[1].tolist())
    yield tuple(ends[0].tolist()), tuple(ends[1].tolist())


def _few_digits(colour: Any) -> Vec:
    """Numbers with few digits whose bytes are these."""
    found = []
    for byte in np.asarray(colour).tolist():
        plain = (-(-byte * 10**digits // 255) / 10**digits for digits in _DIGITS)
        fitting = [number for number in plain if int(255 * number) == byte]
        found.append(fitting[0] if fitting else (byte + 0.5) / 255)
    return tuple(found)
