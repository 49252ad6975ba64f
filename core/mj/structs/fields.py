"""Declared fields as attributes of MjModel and MjData: properties that look into the Model or Data inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from dovetail.contracts.assigned import assign
from dovetail.contracts.fields import Array, FieldSpec, numpy_dtype
from dovetail.contracts.types import Data
from dovetail.mj.structs.lasting import LATE, LateArray

COUNTS = {
    "ncon_max": "ncon",
    "nefc_max": "nefc",
    "nJ_max": "nJ",
    "nA_max": "nA",
    "nisland_max": "nisland",
}
"""How many rows of growing arrays there are now, by the size that is their room."""


def plain(path: str, name: str) -> property:
    """A field that stays where it is, looked up without a detour: `path` is the attribute that holds the Data."""
    return property(attrgetter(f"{path}.{name}"), _setter(path, name))


def number(path: str, name: str) -> property:
    """A field that is one number, by the view that was remembered of it."""
    inside = attrgetter(path)

    def get(self: Any) -> Any:
        bound = inside(self)
        view = bound._numbers.get(name)
        return getattr(bound, name) if view is None else view.item()

    return property(get, _setter(path, name))


def _setter(path: str, name: str) -> Callable[[Any, Any], None]:
    def set_(self: Any, value: Any) -> None:
        setattr(getattr(self, path), name, value)

    return set_


def fixed(path: str, name: str) -> property:
    """What cannot be set."""
    return property(attrgetter(f"{path}.{name}"))


def own(name: str) -> property:
    """An array that an MjData has for itself."""

    def get(self: Any) -> Any:
        return self._lasting[name]

    def set_(self: Any, value: Any) -> None:
        assign(name, get(self), value)

    return property(get, set_)


def late(name: str) -> property:
    """A field that kernels may keep to themselves: the same object each time, filled when it is asked for."""

    def get(self: Any) -> Any:
        found = self._lasting.get(name)
        if found is None:
            found = self._lasting[name] = late_array(self._data, self._data.field(name), name)
        fill(self._data, name)  # here too, for `np.asarray` does not ask
        return found

    return property(get, _setter("_data", name))


def late_array(data: Data, view: Array, name: str) -> LateArray:
    """A view of a field, or of a part of it, that has the field filled first."""
    return LateArray.over(view, partial(fill, data, name))


def fill(data: Data, name: str) -> None:
    """Fill a field if a kernel has kept it to itself."""
    expected = data.arena.late
    if name in expected.names:
        expected.settle(name)


def growing(spec: FieldSpec) -> property:
    """A field whose length is a number of contacts or constraints, cut to those that are there. Without any it is an
    array of its own, as in MuJoCo."""
    name, count, width = spec.name, COUNTS[str(spec.shape[0])], spec.shape[1:]
    dtype = numpy_dtype(spec.dtype)

    def get(self: Any) -> Any:
        data = self._data
        rows = getattr(data, name)  # first, because that may fill it, and its length
        number = getattr(data, count)
        return rows[:number] if number else np.empty((0, *width), dtype)

    def set_(self: Any, value: Any) -> None:
        assign(name, get(self), value)

    return property(get, set_)


def is_mujocos(name: str) -> bool:
    """Whether a field is an attribute of MuJoCo's class: not those of groups, nor candidates, which dovetail alone
    has."""
    return "." not in name and "candidate" not in name


def attributes(specs: Mapping[str, FieldSpec], path: str) -> dict[str, property]:
    """The fields that MuJoCo's class has, by name."""
    found = {}
    for name, spec in specs.items():
        if not is_mujocos(name):
            continue
        if name in LATE:
            found[name] = late(name)
        elif spec.grows:
            found[name] = growing(spec)
        else:
            found[name] = plain(path, name) if spec.shape else number(path, name)
    return found
