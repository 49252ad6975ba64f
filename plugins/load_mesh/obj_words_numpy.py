"""Single words of an OBJ file, read as C's strtod and atoi read them: as far as they are numbers."""

from __future__ import annotations

import re

Corner = tuple[int, int, int]
"""Vertex, texture coordinate and normal of a polygon's corner, −1 for none."""

_REAL = re.compile(
    rb"[\v\f]*([+-]?)(?:(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?)"
    rb"|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(inf|nan))",
    re.IGNORECASE,
)
_INTEGER = re.compile(rb"[\v\f]*([+-]?\d+)")
_LONGEST = 20
"""More characters than any integer of 64 bits has."""
_PARTS = 3


def real(word: bytes) -> float:
    """The number that a word begins with, or 0."""
    match = _REAL.match(word)
    if match is None:
        return 0.0
    sign, hexadecimal, decimal, name = match.groups()
    if hexadecimal:
        size = _from_hexadecimal(hexadecimal.decode())
    else:
        size = float(decimal or name)
    return -size if sign == b"-" else size


def _from_hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("inf")


def corner(word: bytes, counts: list[int], line: int) -> Corner:
    """A corner written v, v/vt, v//vn or v/vt/vn, given how many of each there are so far."""
    parts = word.split(b"/", _PARTS)
    if len(parts) > _PARTS:
        raise ValueError(f"line {line}: {_shown(word)} is no corner; write v, v/vt or v/vt/vn")
    absent = len(parts) == _PARTS and not parts[1]
    numbers = [
        -1 if absent and k == 1 else _index(part, counts[k], word, line) for k, part in enumerate(parts)
    ]
    vertex, texcoord, normal = numbers + [-1] * (_PARTS - len(numbers))
    return vertex, texcoord, normal


def _index(text: bytes, count: int, word: bytes, line: int) -> int:
    """Zero-based index: positive numbers count from 1, negative ones back from the latest."""
    match = _INTEGER.match(text)
    if match is None:
        raise ValueError(f"line {line}: {_shown(word)} is no corner; write v, v/vt or v/vt/vn")
    number = _thirty_two_bits(match[1])
    if number == 0:
        raise ValueError(
            f"line {line}: index {text[:20].decode('latin-1')} does not exist; OBJ counts from 1"
        )
    return number - 1 if number > 0 else count + number


def _thirty_two_bits(digits: bytes) -> int:
    """An integer as C's atoi gives it: the nearest of 64 bits, of which the lower half counts."""
    largest = 2**63 - 1
    sign = -1 if digits[:1] == b"-" else 1
    plain = digits.lstrip(b"+-").lstrip(b"0") or b"0"
    size = int(plain) if len(plain) < _LONGEST else largest + 1
    number = max(-largest - 1, min(largest, sign * size))
    return (number + 2**31) % 2**32 - 2**31


def _shown(word: bytes) -> str:
    return repr(word[:40].decode("latin-1"))
