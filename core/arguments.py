"""Arguments of the public calls: what they may be, and errors that say so."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from dovetail.errors import ArgumentError, CapacityError, nearest, shown
from dovetail.limits import LIMITS

T = TypeVar("T")
W = TypeVar("W", bound=str)


def whole(name: str, value: object, least: int, limit: str | None = None, also: str = "") -> int:
    """A whole number that is neither below `least` nor above a declared limit."""
    number = as_whole(value)
    if number is None:
        raise ArgumentError(f"{name} = {shown(value)} should be a whole number, at least {least}{also}")
    if number < least:
        raise ArgumentError(f"{name} = {shown(number)} should be at least {least}{also}")
    if limit is not None and number > LIMITS[limit].most:
        raise CapacityError(f"{name} = {shown(number)} is too many: the most is {LIMITS[limit]}")
    return number


def as_whole(value: object) -> int | None:
    """An integer of Python or NumPy as one of Python; None for everything else, truth values included."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def real(name: str, value: object, *, least: float | None = None, finite: bool = True) -> float:
    """A real number: finite ones alone, or all but NaN; and none below `least`."""
    bound = "" if least is None else f", at least {least:g}"
    number = as_real(value)
    if number is None or number != number or (finite and math.isinf(number)):
        raise ArgumentError(f"{name} = {shown(value)} should be a {'finite ' * finite}number{bound}")
    if least is not None and number < least:
        raise ArgumentError(f"{name} = {shown(value)} should be at least {least:g}")
    return number


def as_real(value: object) -> float | None:
    """A number of Python or NumPy as a float; None for everything else: texts, truth values, complex numbers."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return math.copysign(math.inf, value)


def truth(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name} = {shown(value)} should be True or False")
    return bool(value)


def controls_misfit(value: object, count: int, width: int) -> str:
    """What is wrong with a value as controls of `count` worlds, a world a row: `None`, `complex128 of shape (3, 1)`;
    empty if it fits. One row or one number stands for all."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # rows of different lengths
        return shown(value)
    if array.dtype.kind not in "biuf":
        return shown(value) if array.dtype.kind == "O" else f"{array.dtype} of shape {array.shape}"
    return "" if array.shape in ((), (width,), (count, width)) else f"an array of shape {array.shape}"


def choice(name: str, value: object, known: Iterable[W]) -> W:
    """One of some words."""
    words = list(known)
    if not isinstance(value, str) or value not in words:
        hint = nearest(value, words) if isinstance(value, str) else ""
        raise ArgumentError(f"{name} = {shown(value)} should be one of {tuple(words)}{hint}")
    return words[words.index(value)]


def instance(name: str, value: object, kind: type[T], what: str) -> T:
    """An object of a type."""
    if not isinstance(value, kind):
        raise ArgumentError(f"{name} = {shown(value)} should be {what}")
    return value


def words(name: str, value: object) -> tuple[str, ...]:
    """A word or several."""
    if isinstance(value, str):
        return (value,)
    found: tuple[Any, ...] | None = None
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | Mapping):
        found = tuple(value)
    if found is None or not all(isinstance(word, str) for word in found):
        raise ArgumentError(f"{name} = {shown(value)} should be a name or a list of names")
    return found


def texts_by_name(name: str, value: object) -> Mapping[str, Any]:
    """A mapping with texts as keys."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ArgumentError(f"{name} = {shown(value)} should be a mapping with names as keys")
    return value
