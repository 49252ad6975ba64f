"""Assigning to fields: what is not a number is refused, by an error that says what the field takes.

NumPy stores `None` as NaN, reads numbers out of texts and turns NaN into some whole number. Here each of them is an
ArgumentError, where the engine itself is asked to store something: `data.ctrl = v`, items and slices of a batch, rows
and named objects. A field of one world is an array of NumPy, so what its slices are given (`data.ctrl[:] = v`) is
stored as NumPy stores it.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from dovetail.errors import ArgumentError, shown

_REAL_NUMBERS = frozenset({float, int, bool})
_KINDS = frozenset("biuf")
"""Kinds of arrays that hold numbers."""


def assign(name: str, field: Any, value: Any, key: Any = ...) -> None:
    """Write a value into a field, or into a part of it."""
    value = checked(field, value, name)
    try:
        field[key] = value
    except (ValueError, TypeError, OverflowError) as error:
        raise ArgumentError(f"{name} has shape {field.shape}: {error}") from None


def checked(field: Any, value: Any, name: str) -> Any:
    """A value that is made of numbers which a field can hold."""
    whole = field.dtype.kind != "f"
    if not whole and (type(value) in _REAL_NUMBERS or _kind(value) in _KINDS):
        return value
    try:
        given = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"{_takes(name, field)}, not {shown(value)}: {error}") from None
    if given.dtype.kind not in _KINDS and not _holds_numbers(given):
        raise ArgumentError(f"{_takes(name, field)}, not {shown(value)}")
    if whole and given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ArgumentError(f"{_takes(name, field)}, not {shown(value)}")
    return value


def _kind(value: Any) -> Any:
    """The kind of an array's numbers, as NumPy has it."""
    return getattr(getattr(value, "dtype", None), "kind", None)


def _holds_numbers(given: Any) -> bool:
    """Whether an array of objects has nothing but numbers."""
    return given.dtype.kind == "O" and all(isinstance(each, Real | np.bool_) for each in given.flat)


def _takes(name: str, field: Any) -> str:
    """What a field takes, in words."""
    number = "number" if field.dtype.kind == "f" else "whole number"
    return f"{name} takes {number}s of shape {field.shape}" if field.shape else f"{name} takes one {number}"
