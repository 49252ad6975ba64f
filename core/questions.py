"""The checks in front of the public questions (Jacobians, rays, distances, products with M).

The functions themselves are also what stages call, often and with MuJoCo's own objects, and look at nothing.
A caller of `dovetail.ray` and the like may be mistaken: every argument is checked by its name.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from dovetail.arguments import as_whole
from dovetail.contracts.enums import ObjType
from dovetail.contracts.fields import Array
from dovetail.contracts.named import KINDS, object_id
from dovetail.contracts.rows import Row
from dovetail.contracts.types import Model
from dovetail.errors import ArgumentError, DovetailError, UnknownIndexError, shown

P = ParamSpec("P")
R = TypeVar("R")

Check = Callable[[str, Any, Mapping[str, Any]], Any]
"""Name, value and all arguments of a call; gives the value to go on with."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """A question that looks at its arguments first."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def ask(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            bound = signature.bind(*arguments, **named)
        except TypeError as problem:
            raise ArgumentError(f"{function.__name__}: {problem}") from None
        for name, value in bound.arguments.items():
            if name in CHECKS:
                bound.arguments[name] = CHECKS[name](name, value, bound.arguments)
        try:
            return function(*bound.args, **bound.kwargs)
        except ValueError as problem:
            if isinstance(problem, DovetailError):
                raise
            raise ArgumentError(f"{function.__name__}: {problem}") from problem

    return ask


def _has(*attributes: str) -> Check:
    """An object with MuJoCo's names."""

    def check(name: str, value: Any, given: Mapping[str, Any]) -> Any:
        if isinstance(value, type) or not all(hasattr(value, attribute) for attribute in attributes):
            raise ArgumentError(f"{name} = {shown(value)} should be a {name.capitalize()}")
        return value

    return check


def _one_world(name: str, value: Any, given: Mapping[str, Any]) -> Any:
    """A Data, of one world: the questions look at MuJoCo's shapes."""
    data = _has("qpos", "qvel")(name, value, given)
    worlds = getattr(data, "nworld", None)
    if worlds is not None:
        raise ArgumentError(
            f"{name} is a batch of {worlds} worlds: ask about one of them, as {name}.world(0)"
        )
    return data


def _index(kind: str) -> Check:
    """The number of an object, which may be given by name."""

    def check(name: str, value: Any, given: Mapping[str, Any]) -> int:
        model = given["model"]
        return _in_range(name, _numbered(model, kind, value), getattr(model, KINDS[kind].size))

    return check


def _numbered(model: Any, kind: str, value: Any) -> Any:
    """The number of an object that was given by its name; anything else as it is."""
    return object_id(model, kind, value) if isinstance(value, str) and isinstance(model, Model) else value


def _any_index(kind: str) -> Check:
    """A number that may mean no object, or a name."""

    def check(name: str, value: Any, given: Mapping[str, Any]) -> int:
        return _whole(name, _numbered(given["model"], kind, value), given)

    return check


def _in_range(name: str, value: Any, count: int, of: str = "model") -> int:
    number = _whole(name, value, {})
    if not 0 <= number < count:
        raise UnknownIndexError(
            f"{name} {shown(number)} does not exist: the {of} has {count}, numbered from 0"
        )
    return number


def _vertex(name: str, value: Any, given: Mapping[str, Any]) -> int:
    """The number of a vertex inside its flex."""
    return _in_range(name, value, int(given["model"].flex_vertnum[given["flex"]]), "flex")


def _whole(name: str, value: Any, given: Mapping[str, Any]) -> int:
    number = as_whole(value)
    if number is None:
        raise ArgumentError(f"{name} = {shown(value)} should be a whole number")
    return number


_OBJECTS = {
    ObjType.BODY: "body",
    ObjType.XBODY: "body",
    ObjType.GEOM: "geom",
    ObjType.SITE: "site",
    ObjType.CAMERA: "camera",
}


def _kind(name: str, value: Any, given: Mapping[str, Any]) -> ObjType:
    try:
        kind = (
            ObjType.from_keyword(value[:100]) if isinstance(value, str) else ObjType(_whole(name, value, {}))
        )
    except ValueError as problem:
        raise ArgumentError(f"{name} = {shown(value)}: {problem}") from None
    if kind not in _OBJECTS:
        known = ", ".join(one.keyword for one in _OBJECTS)
        raise ArgumentError(f"a {kind.keyword} has no pose of its own; objects that have one: {known}")
    return kind


def _object(name: str, value: Any, given: Mapping[str, Any]) -> int:
    return _index(_OBJECTS[given["objtype"]])(name, value, given)


def _contact(name: str, value: Any, given: Mapping[str, Any]) -> int:
    """The number of a contact, or the contact itself (`data.contact[2]`)."""
    return value._number if isinstance(value, Row) else _whole(name, value, given)


def _numbers(name: str, value: Any) -> Array:
    """Finite numbers, as an array."""
    try:
        numbers = np.asarray(value)
        good = numbers.dtype.kind in "iuf" and bool(np.isfinite(numbers).all())
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise ArgumentError(f"{name} = {shown(value)} should be finite numbers")
    return numbers.astype(float)


def _vector(size: str | int) -> Check:
    """So many numbers."""

    def check(name: str, value: Any, given: Mapping[str, Any]) -> Array:
        count = size if isinstance(size, int) else int(getattr(given["model"], size))
        numbers = _numbers(name, value)
        if numbers.shape != (count,):
            raise ArgumentError(f"{name} has shape {numbers.shape}, should be ({count},)")
        return numbers

    return check


def _rows(size: str | int, *, none: bool = False) -> Check:
    """A vector, or several as rows of a matrix; an empty list are no rows."""

    def check(name: str, value: Any, given: Mapping[str, Any]) -> Array:
        count = size if isinstance(size, int) else int(getattr(given["model"], size))
        numbers = _numbers(name, value)
        if none and numbers.shape == (0,):
            return numbers.reshape(0, count)
        if numbers.ndim not in (1, 2) or numbers.shape[-1] != count:
            raise ArgumentError(f"{name} has shape {numbers.shape}, should be ({count},) or (n, {count})")
        return numbers

    return check


def _number(name: str, value: Any, given: Mapping[str, Any]) -> float:
    numbers = _numbers(name, value)
    if numbers.ndim:
        raise ArgumentError(f"{name} = {shown(value)} should be one number")
    return float(numbers)


def _distance(name: str, value: Any, given: Mapping[str, Any]) -> float:
    """A number that may be infinite."""
    return value if isinstance(value, float) and value == np.inf else _number(name, value, given)


def _small(name: str, value: Any, given: Mapping[str, Any]) -> float:
    number = _number(name, value, given)
    if number <= 0:
        raise ArgumentError(f"{name} = {shown(value)} should be a small positive number")
    return number


def _flag(name: str, value: Any, given: Mapping[str, Any]) -> bool:
    if not isinstance(value, bool | int | np.bool_ | np.integer) or value not in (0, 1):
        raise ArgumentError(f"{name} = {shown(value)} should be True or False")
    return bool(value)


def _groups(name: str, value: Any, given: Mapping[str, Any]) -> Array | None:
    return None if value is None else _vector(6)(name, np.asarray(value, dtype=float), given)


CHECKS: dict[str, Check] = {
    "model": _has("nv", "nbody", "opt"),
    "data": _one_world,
    "body": _index("body"),
    "site": _index("site"),
    "geom": _index("geom"),
    "flex": _index("flex"),
    "vertex": _vertex,
    "geom1": _any_index("geom"),
    "geom2": _any_index("geom"),
    "contact_id": _contact,
    "bodyexclude": _any_index("body"),
    "objtype": _kind,
    "objid": _object,
    "local": _flag,
    "flg_static": _flag,
    "centered": _flag,
    "actuation": _flag,
    "geomgroup": _groups,
    "point": _vector(3),
    "pnt": _vector(3),
    "force": _vector(3),
    "torque": _vector(3),
    "vec": _rows(3, none=True),
    "vector": _vector("nv"),
    "right": _rows("nv"),
    "qpos": _vector("nq"),
    "qvel": _vector("nv"),
    "start": _vector("nq"),
    "end": _vector("nq"),
    "duration": _number,
    "eps": _small,
    "distmax": _distance,
    "cutoff": _distance,
}
"""By the name of the argument, in all questions alike."""
