"""Attribute kinds of MJCF: one small class per kind, which turns the text of an attribute into a value.

A kind knows nothing of files or elements. It raises `BadValueError`; the validator adds file, line and
element. Numbers follow MuJoCo's reader: what C's strtod takes (decimal, hexadecimal, `nan`, `inf`), separated by
white space, unless they over- or underflow the precision that MuJoCo reads them in; integers are decimal.
Reading takes time in proportion to the text. Numbers left empty never come here: the validator takes them as
not given.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any, Protocol

import attrs

from dovetail.errors import nearest
from dovetail.mjcf.geometry.rotation import Vec

_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_HEXADECIMAL = re.compile(
    r"[+-]?0[xX](?:([0-9a-fA-F]++)(?:\.([0-9a-fA-F]*+))?|\.([0-9a-fA-F]++))(?:[pP]([+-]?[0-9]++))?"
)
_NOT_FINITE = re.compile(r"([+-]?)(?:nan(?:\([A-Za-z0-9_]*+\))?|(inf(?:inity)?))", re.IGNORECASE)
_INTEGER = re.compile(r"([+-]?)0*+([0-9]*+)")
_NOT_ZERO = re.compile("[1-9]")
_EXPONENT = re.compile("[eE]")
_SPACES = " \t\n\v\f\r"
_SMALLEST = {False: 2.0**-1022, True: 2.0**-126}
"""Smallest number of full precision, in double and in single precision."""
_TOO_LARGE = {False: math.inf, True: 2.0**128 - 2.0**103}
"""From here on numbers round to infinity, in double and in single precision."""
_INT32 = 2**31
_MEMORY = re.compile(r"(\d+)([KMGTPE]?)", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}
_SHOWN = 60
"""Longest piece of user text that an error message repeats."""


class BadValueError(ValueError):
    """An attribute's text does not fit its kind; the message says what would."""


class AttributeKind(Protocol):
    """What every attribute kind offers."""

    def parse(self, text: str) -> Any:
        """The value of `text`, or BadValueError."""


def shorten(text: str) -> str:
    """User text for an error message, cut when it is long."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def words(text: str) -> list[str]:
    """Pieces between white space, which is that of ASCII as in C."""
    return text.split() if text.isascii() and not _ODD.search(text) else _PIECES.findall(text)


_ODD = re.compile("[\x1c-\x1f]")
_PIECES = re.compile(rf"[^{_SPACES}]++")


def _number(token: str, single: bool = False) -> float:
    """The number that a token is, as C reads it: decimal, hexadecimal, infinite or not a number."""
    if _NUMBER.fullmatch(token):
        value = float(token)
    elif _HEXADECIMAL.fullmatch(token):
        value = _hexadecimal(token)
    else:
        return _not_finite(token)
    smallest = _SMALLEST[single]
    if abs(value) < smallest and not _exact(token, value, single):
        raise BadValueError(f"{shorten(token)!r} is too small; write 0, or a number above {smallest:.2g}")
    if abs(value) >= _TOO_LARGE[single]:
        largest = "3.4e38" if single else "1.8e308"
        raise BadValueError(f"{shorten(token)!r} is too large; numbers must stay below {largest}")
    return value


def _hexadecimal(token: str) -> float:
    try:
        return float.fromhex(token)
    except OverflowError:
        return math.inf


def _not_finite(token: str) -> float:
    found = _NOT_FINITE.fullmatch(token)
    if not found:
        raise BadValueError(f"{shorten(token)!r} is not a number; write decimal numbers separated by spaces")
    sign = -1.0 if found[1] == "-" else 1.0
    return sign * math.inf if found[2] else math.nan


def _exact(token: str, value: float, single: bool) -> bool:
    """Whether a number below full precision is still exactly what is written, as zero always is."""
    hexadecimal = _HEXADECIMAL.fullmatch(token)
    if hexadecimal:
        return _exact_hexadecimal(hexadecimal, value) and _kept(value, single)
    if value == 0:
        return not _NOT_ZERO.search(_EXPONENT.split(token)[0])
    return Decimal(token) == Decimal(value) and _kept(value, single)


def _kept(value: float, single: bool) -> bool:
    return not single or _in_single_precision(value) == value


def _in_single_precision(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _exact_hexadecimal(found: re.Match[str], value: float) -> bool:
    fraction = found[2] or found[3] or ""
    digits = int((found[1] or "") + fraction, 16)
    if value == 0 or digits == 0:
        return digits == 0
    sign, exponent = re.fullmatch("([+-]?)0*(.*)", found[4] or "0").groups("")  # type: ignore[union-attr]
    shift = int(sign + (exponent or "0")) - 4 * len(fraction)
    return Fraction(digits) * Fraction(2) ** shift == Fraction(abs(value))


def _integer(token: str) -> int:
    found = _INTEGER.fullmatch(token)
    if not found or not token[-1].isdigit():
        raise BadValueError(f"{shorten(token)!r} is not an integer; write a whole number")
    value = int(found[1] + (found[2] or "0")) if len(found[2]) <= 10 else _INT32
    if not -_INT32 <= value < _INT32:
        raise BadValueError(f"{shorten(token)!r} is out of range; integers must fit in 32 bits")
    return value


def _counted(count: int, size: int, exact: bool) -> None:
    """Complain about a wrong number of values."""
    if count > size or (exact and count < size):
        wanted = f"{'' if exact else 'at most '}{size} value{'s' if size != 1 else ''}"
        raise BadValueError(f"has {count} values; write {wanted}")


@attrs.frozen
class Float:
    """One real number; `single` if MuJoCo reads it in single precision."""

    single: bool = False

    def parse(self, text: str) -> float:
        tokens = words(text)
        _counted(len(tokens), 1, exact=True)
        return _number(tokens[0], self.single)


@attrs.frozen
class Int:
    """One 32-bit integer."""

    def parse(self, text: str) -> int:
        tokens = words(text)
        _counted(len(tokens), 1, exact=True)
        return _integer(tokens[0])


@attrs.frozen
class Floats:
    """`size` real numbers; with `exact=False` fewer are allowed and the rest keep their default."""

    size: int
    exact: bool = True
    single: bool = False

    def parse(self, text: str) -> Vec:
        tokens = words(text)
        _counted(len(tokens), self.size, self.exact)
        return tuple(_number(token, self.single) for token in tokens)


@attrs.frozen
class FloatList:
    """Any number of real numbers."""

    single: bool = False

    def parse(self, text: str) -> Vec:
        return tuple(_number(token, self.single) for token in words(text))


@attrs.frozen
class Ints:
    """Exactly `size` integers."""

    size: int

    def parse(self, text: str) -> tuple[int, ...]:
        tokens = words(text)
        _counted(len(tokens), self.size, exact=True)
        return tuple(map(_integer, tokens))


@attrs.frozen
class TruncatedInts(Ints):
    """`size` numbers that are not negative, of which the whole part counts; MuJoCo reads them as real numbers."""

    def parse(self, text: str) -> tuple[int, ...]:
        tokens = words(text)
        _counted(len(tokens), self.size, exact=True)
        values = [_in_single_precision(_number(token, single=True)) for token in tokens]
        if any(value < 0 for value in values):
            raise BadValueError("cannot be negative; write whole numbers from 0 on")
        return tuple(int(value) if value < _INT32 else -_INT32 for value in values)


@attrs.frozen
class IntList:
    """Any number of integers."""

    def parse(self, text: str) -> tuple[int, ...]:
        return tuple(map(_integer, words(text)))


@attrs.frozen
class Keyword:
    """One word of a closed set; the value is what the word stands for."""

    choices: Mapping[str, Any]

    @classmethod
    def of(cls, enum: type[IntEnum], leave_out: Iterable[str] = ()) -> Keyword:
        """The MJCF words of one of `dovetail.contracts.enums`."""
        members = {getattr(m, "keyword"): int(m) for m in enum}  # noqa: B009 - declared on a subclass
        return cls({word: value for word, value in members.items() if word not in leave_out})

    @classmethod
    def words(cls, text: str) -> Keyword:
        """Words that stand for themselves."""
        return cls({word: word for word in text.split()})

    def parse(self, text: str) -> Any:
        try:
            return self.choices[text]
        except KeyError:
            listed = ", ".join(self.choices)
            hint = nearest(text, self.choices)
            raise BadValueError(
                f"{shorten(text)!r} is not a keyword here{hint}; choose from {listed}"
            ) from None


@attrs.frozen
class Keywords:
    """Words of a closed set, separated by spaces."""

    choices: tuple[str, ...]

    def parse(self, text: str) -> tuple[str, ...]:
        word = Keyword.words(" ".join(self.choices))
        return tuple(word.parse(token) for token in words(text))


@attrs.frozen
class PlainText:
    """Free text."""

    def parse(self, text: str) -> str:
        return text


@attrs.frozen
class Name:
    """The name an element gives itself; unique among its kind."""

    def parse(self, text: str) -> str:
        return text


@attrs.frozen
class Reference:
    """The name of another element of the given kind; resolved by the compiler."""

    target: str

    def parse(self, text: str) -> str:
        return text


@attrs.frozen
class File:
    """A path, relative to the model file or to one of the compiler's directories."""

    def parse(self, text: str) -> str:
        return text


@attrs.frozen
class EulerSeq:
    """Three of x, y, z (axes that move along) and X, Y, Z (fixed axes)."""

    def parse(self, text: str) -> str:
        if not re.fullmatch("[xyzXYZ]{3}", text):
            raise BadValueError(f"{shorten(text)!r} is not an Euler sequence; write three of x y z X Y Z")
        return text


@attrs.frozen
class MemorySize:
    """A number of bytes with an optional unit K, M, G, T, P or E (powers of 1024), or -1 for automatic."""

    def parse(self, text: str) -> int:
        match = _MEMORY.fullmatch(text.strip())
        if text.strip() == "-1":
            return -1
        if not match or len(match[1]) > 19 or (int(match[1]) << _UNITS[match[2].upper()]) >= 2**63:
            raise BadValueError(f"{shorten(text)!r} is not an amount of memory; write e.g. 512K, 10M or 1G")
        return int(match[1]) << _UNITS[match[2].upper()]


BOOL = Keyword({"false": False, "true": True})
AUTO_BOOL = Keyword({"false": 0, "true": 1, "auto": 2})
SWITCH = Keyword({"disable": False, "enable": True})
