"""MuJoCo's enumerations (`mjtJoint`, `mjtObj`, …), which are numbers: they count, index and compare as such."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from dovetail.mj.enum_table import TABLE


class Enumeration(IntEnum):
    """Base of all: written as in MuJoCo's bindings, `mjtJoint.mjJNT_FREE`."""

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, how: str) -> str:
        return format(int(self), how) if how else str(self)


def _members(words: list[str]) -> Iterator[tuple[str, int]]:
    """Names and numbers of a list in which each is one more than the last, unless it says its own."""
    following = 0
    for word in words:
        name, _, number = word.partition("=")
        value = int(number) if number else following
        following = value + 1
        yield name, value


def _blocks() -> Iterator[tuple[str, list[str]]]:
    """The enumerations of the table, with their words."""
    name, words = "", list[str]()
    for line in TABLE.splitlines():
        if line.endswith(":"):
            if name:
                yield name, words
            name, words = line[:-1], []
        else:
            words += line.split()
    yield name, words


def _make(name: str, words: list[str]) -> Any:
    make: Any = Enumeration
    return make(name, list(_members(words)), module=__name__)


ENUMS: dict[str, Any] = {name: _make(name, words) for name, words in _blocks()}
"""Every enumeration by its name."""
globals().update(ENUMS)

__all__ = sorted(ENUMS)
