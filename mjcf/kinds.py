"""Attribute kinds of MJCF: one small class per kind, which turns the text of an attribute into a value.

A kind knows nothing of files or elements. It raises `BadValueError`; the validator adds file, line and
element. Numbers follow MuJoCo's reader (`mjXUtil::ReadAttr`): decimal, separated by white space. Two things are
stricter on purpose: NaN and infinity are refused, and so are hexadecimal numbers. Numbers left empty never
come here: the validator takes them as not given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, Protocol

import attrs

from dovetail.errors import nearest

Vec = tuple[float, ...]
"""A short vector of model numbers; plain floats are quicker than arrays at this length."""

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_INTEGER = re.compile(r"[+-]?\d+")
_INT32 = 2**31
_MEMORY = re.compile(r"(\d+)([KMGTPE]?)", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}
_SHOWN = 60
"""Longest piece of user text that an error message repeats."""


class BadValueError(ValueError):
    """An attribute's text does not fit its kind; the message says what would."""


class Kind(Protocol):
    """What every attribute kind offers."""

    def parse(self, text: str) -> Any:
        """The value of `text`, or BadValueError."""


def shorten(text: str) -> str:
    """User text for an error message, cut when it is long."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _number(token: str) -> float:
    if not _NUMBER.fullmatch(token):
        if token.lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise BadValueError(f"{token!r} is not a finite number; write a finite number")
        raise BadValueError(f"{shorten(token)!r} is not a number; write decimal numbers separated by spaces")
    value = float(token)
    if value in (float("inf"), float("-inf")):
        raise BadValueError(f"{shorten(token)!r} is too large; numbers must stay below 1.8e308")
    if value == 0 and re.search("[1-9]", re.split("[eE]", token)[0]):
        raise BadValueError(f"{shorten(token)!r} is too small; write 0, or a number above 1e-307")
    return value


def _integer(token: str) -> int:
    if not _INTEGER.fullmatch(token):
        raise BadValueError(f"{shorten(token)!r} is not an integer; write a whole number")
    if len(token) > 11 or not -_INT32 <= int(token) < _INT32:
        raise BadValueError(f"{shorten(token)!r} is out of range; integers must fit in 32 bits")
    return int(token)


def _counted(count: int, size: int, exact: bool) -> None:
    """Complain about a wrong number of values."""
    if count > size or (exact and count < size):
        wanted = f"{'' if exact else 'at most '}{size} value{'s' if size != 1 else ''}"
        raise BadValueError(f"has {count} values; write {wanted}")


@attrs.frozen
class Float:
    """One real number."""

    def parse(self, text: str) -> float:
        tokens = text.split()
        _counted(len(tokens), 1, exact=True)
        return _number(tokens[0])


@attrs.frozen
class Int:
    """One 32-bit integer."""

    def parse(self, text: str) -> int:
        tokens = text.split()
        _counted(len(tokens), 1, exact=True)
        return _integer(tokens[0])


@attrs.frozen
class Floats:
    """`size` real numbers; with `exact=False` fewer are allowed and the rest keep their default."""

    size: int
    exact: bool = True

    def parse(self, text: str) -> Vec:
        tokens = text.split()
        _counted(len(tokens), self.size, self.exact)
        return tuple(map(_number, tokens))


@attrs.frozen
class FloatList:
    """Any number of real numbers."""

    def parse(self, text: str) -> Vec:
        return tuple(map(_number, text.split()))


@attrs.frozen
class Ints:
    """Exactly `size` integers."""

    size: int

    def parse(self, text: str) -> tuple[int, ...]:
        tokens = text.split()
        _counted(len(tokens), self.size, exact=True)
        return tuple(map(_integer, tokens))


@attrs.frozen
class IntList:
    """Any number of integers."""

    def parse(self, text: str) -> tuple[int, ...]:
        return tuple(map(_integer, text.split()))


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
        return tuple(word.parse(token) for token in text.split())


@attrs.frozen
class Text:
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
class Memory:
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
