"""Lines of numbers in an OBJ file, all read at once, if they are as programs write them; else None.

What is unusual (words that are no numbers, lines of different length, corners of different form) is left to the
reader that goes word by word.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array

_BLANK, _NEWLINE, _SLASH, _PLUS, _MINUS, _DOT = b" \n/+-."
_IN_NUMBERS = b"0123456789+-.eE \t\n"
_IN_CORNERS = b"0123456789+-/ \t\n"
_NO_KEYWORD = bytes.maketrans(b"vntf\t\n", b"      ")
_NO_SLASH = bytes.maketrans(b"/", b" ")
_EXACT = 15
"""Digits of an integer that a double holds exactly, whatever they are."""
_SHORT = 9
"""Digits of an integer of 32 bits, whatever they are."""


def number_table(block: bytes, keyword: bytes, count: int, width: int) -> Array | None:
    """The first `width` numbers of each of `count` lines, which all have equally many."""
    if not count or not _is_usual(block, _IN_NUMBERS, keyword, count):
        return None
    plain = block.translate(_NO_KEYWORD)
    starts, ends = _words(plain)
    sizes = _words_per_line(block, starts)
    if sizes.min() < width or sizes.min() != sizes.max():
        return None
    exponents = b"e" in plain or b"E" in plain
    numbers = None if exponents else _decimals(plain, starts, ends)
    if numbers is None:
        numbers = _numbers_by_word(plain)
    return None if numbers is None else numbers.reshape(count, -1)[:, :width]


def corner_table(block: bytes, count: int) -> tuple[Array, Array] | None:
    """Corners as they are written in `count` lines, (n, 3), 0 for what is absent, and how many each line has."""
    if not count or not _is_usual(block, _IN_CORNERS, b"f", count):
        return None
    plain = block.translate(_NO_KEYWORD)
    starts, _ = _words(plain)
    sizes = _words_per_line(block, starts)
    columns = _form(plain, starts)
    numbers = _integers(plain.translate(_NO_SLASH)) if columns else None
    if numbers is None or len(numbers) != len(starts) * len(columns) or not numbers.all():
        return None
    corners = np.zeros((len(starts), 3), np.int64)
    corners[:, columns] = numbers.reshape(len(starts), -1)
    return corners, sizes


def _is_usual(block: bytes, letters: bytes, keyword: bytes, count: int) -> bool:
    """Whether lines have no other letters than these, and their keyword only at the beginning."""
    return block.translate(None, letters) == keyword * count


def _words(plain: bytes) -> tuple[Array, Array]:
    """Where words begin and end, in a text that begins and ends with a blank."""
    solid = np.frombuffer(plain, np.uint8) != _BLANK
    edges = np.flatnonzero(solid[1:] != solid[:-1]) + 1
    return edges[::2], edges[1::2]


def _words_per_line(block: bytes, starts: Array) -> Array:
    newlines = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE)
    return np.diff(np.searchsorted(starts, newlines), prepend=0)


def _decimals(plain: bytes, starts: Array, ends: Array) -> Array | None:
    """Numbers without exponent, of few digits: the quotient of two integers that are exact is rounded only once."""
    letters = np.frombuffer(plain, np.uint8)
    dots = np.flatnonzero(letters == _DOT)
    owner = np.searchsorted(starts, dots, side="right") - 1
    decimals = np.zeros(len(starts), np.int64)
    decimals[owner] = ends[owner] - dots - 1
    dotted = np.bincount(owner, minlength=len(starts))
    signed = _is_sign(letters[starts])
    digits = ends - starts - dotted - signed
    if not len(starts) or dotted.max() > 1 or digits.min() < 1 or digits.max() > _EXACT:
        return None
    numbers = _parsed(plain.translate(None, b"."))
    if numbers is None or len(numbers) != len(starts):
        return None
    sizes = np.abs(numbers) / 10.0**decimals
    return np.where(letters[starts] == _MINUS, -sizes, sizes)


def _numbers_by_word(plain: bytes) -> Array | None:
    try:
        return np.array(list(map(float, plain.split())))
    except ValueError:
        return None


def _form(plain: bytes, starts: Array) -> list[int]:
    """Which of vertex, texture coordinate and normal every corner names; nothing if they differ, or one is wrong."""
    letters = np.frombuffer(plain, np.uint8)
    slashes = np.flatnonzero(letters == _SLASH)
    per_corner = np.bincount(np.searchsorted(starts, slashes, side="right"), minlength=len(starts) + 1)[1:]
    count = int(per_corner[0])
    if count > 2 or (per_corner != count).any():
        return []
    if b"//" in plain:
        return [0, 2] if count == 2 and plain.count(b"//") == len(starts) else []
    return list(range(count + 1))


def _integers(plain: bytes) -> Array | None:
    starts, ends = _words(plain)
    if not len(starts) or (ends - starts).max() > _SHORT:
        return None
    return _parsed(plain)


def _parsed(plain: bytes) -> Array | None:
    """Integers with their signs, or None if a sign is in a wrong place."""
    letters = np.frombuffer(plain, np.uint8)
    signs = np.flatnonzero(_is_sign(letters))
    before, after = letters[signs - 1], letters[signs + 1]
    if (before != _BLANK).any() or (after == _BLANK).any() or _is_sign(after).any():
        return None
    return np.fromstring(plain, np.int64, sep=" ")


def _is_sign(letters: Array) -> Array:
    return (letters == _MINUS) | (letters == _PLUS)
