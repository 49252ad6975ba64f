"""Arrays that are one object for as long as their struct lives, though their numbers are filled only when asked for.

Kernels keep some results to themselves (`qH`, `wrap_xpos`, …): they are filled when somebody reads them. A plain view
that somebody holds would show what an earlier step left. A `LateArray` is a view that has them filled first, whenever
its numbers are asked for; what it gives then are plain arrays of the same memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS

Refresh: TypeAlias = Callable[[], None]

LATE = (
    *("bvh_active", "ten_wrapadr", "ten_wrapnum", "wrap_obj", "wrap_xpos"),
    *("qDeriv", "qLU", "qH", "qHDiagInv", "solver_nnz"),
    *("cacc", "cfrc_int", "cfrc_ext"),
)
"""Arrays of fixed length that a kernel may keep to itself. Those of contacts, constraint rows and islands are made
when they are read, as in MuJoCo."""

ISLAND_ARRAYS = frozenset(
    (
        *(name for name, spec in DATA_SPECS.items() if spec.writer == "islands"),
        *("iacc", "iacc_smooth", "ifrc_smooth", "ifrc_constraint", "tendon_efcadr"),
    )
)
"""Arrays of fixed length here that MuJoCo makes when they are read."""


class LateArray(np.ndarray[Any, Any]):
    """A view whose numbers are brought up to date before anybody sees them."""

    _refresh: Refresh
    _plain: Array | None = None
    """None: NumPy made it of another, as a copy."""

    @classmethod
    def over(cls, view: Array, refresh: Refresh) -> LateArray:
        """One of the memory of a view."""
        made = view.view(cls)
        made._plain, made._refresh = view, refresh
        return made

    def now(self) -> Array:
        """The numbers as they are now, as a plain view."""
        if self._plain is None:
            return np.ndarray.view(self, np.ndarray)
        self._refresh()
        return self._plain

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.now().__array__() if dtype is None else self.now().astype(dtype, copy=bool(copy))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        outs = named.get("out", ())
        if outs:
            named["out"] = tuple(plain(out) for out in outs)
        found = getattr(ufunc, method)(*(plain(each) for each in inputs), **named)
        return outs[0] if len(outs) == 1 else found

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        return function(*_plain_in(args), **_plain_in(named))

    def __copy__(self) -> Any:
        return self.now().copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.now().copy()

    def __reduce__(self) -> Any:
        return self.now().__reduce__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.now().__reduce_ex__(protocol)


def plain(value: Any) -> Any:
    """A late array as a plain one that is up to date; anything else as it is."""
    return value.now() if type(value) is LateArray else value


def _plain_in(values: Any) -> Any:
    """The same for what is in lists, tuples and dicts."""
    if isinstance(values, dict):
        return {key: _plain_in(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return type(values)(_plain_in(value) for value in values)
    return plain(values)


_OF_MEMORY = ("shape", "strides", "dtype", "ndim", "size", "itemsize", "nbytes", "flags", "base")
"""Attributes that say nothing of numbers."""

_READING = (
    *("__getitem__", "__setitem__", "__iter__", "__contains__", "__repr__", "__str__", "__format__"),
    *("__bool__", "__int__", "__float__", "__index__", "__complex__"),
)


def _method(name: str) -> Callable[..., Any]:
    def call(self: LateArray, *args: Any, **named: Any) -> Any:
        return getattr(self.now(), name)(*_plain_in(args), **_plain_in(named))

    call.__name__ = name
    return call


def _attribute(name: str) -> property:
    def get(self: LateArray) -> Any:
        return getattr(self.now(), name)

    def set_(self: LateArray, value: Any) -> None:
        setattr(self.now(), name, value)

    return property(get, set_)


def _give_members() -> None:
    """All that shows or changes numbers goes to the plain view."""
    for name in dir(np.ndarray):
        found = getattr(np.ndarray, name)
        if name in _READING or (callable(found) and not name.startswith("_")):
            setattr(LateArray, name, _method(name))
        elif name in ("__array_interface__", "__array_struct__") or (
            not name.startswith("_") and name not in _OF_MEMORY
        ):
            setattr(LateArray, name, _attribute(name))


_give_members()
