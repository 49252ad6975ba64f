"""Functions written for NumPy arrays, run on symbols of a lane kernel.

A `TracedArray` stands for an array whose elements are symbols. NumPy hands its ufuncs and some of its functions
over to it, so that `np.minimum(a, b)` or `np.where(a > b, a, 0.5 * b)` becomes code of the kernel. What has no
counterpart there (a branch on a value, a conversion to float, an unknown function) raises NotTraceableError: the
function then runs on NumPy as it is.

A trace is made once, so what a function takes from around it must not change: `captures` names what that is, and
whether it still is the same.
"""

from __future__ import annotations

import builtins
import inspect
import math
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dovetail.errors import NoVersionError

if TYPE_CHECKING:
    from dovetail.backends.lanes.kernel import Kernel


class NotTraceableError(NoVersionError):
    """A function does something that lanes cannot."""


def _power(k: Kernel, base: Any, exponent: Any) -> Any:
    """Powers that NumPy computes without a logarithm."""
    simple = {2: lambda: base * base, 1: lambda: base, 0.5: lambda: k.sqrt(base)}
    if not isinstance(exponent, (int, float)) or exponent not in simple:
        raise NotTraceableError(f"a power of {exponent!r}")
    return simple[exponent]()


def _minimum(k: Kernel, a: Any, b: Any) -> Any:
    """The lesser of two numbers; NaN if one of them is, as NumPy has it."""
    return k.select(a != a, a, k.min(a, b))


def _maximum(k: Kernel, a: Any, b: Any) -> Any:
    """The larger of two numbers; NaN if one of them is, as NumPy has it."""
    return k.select(a != a, a, k.max(a, b))


def _not(k: Kernel, a: Any) -> Any:
    """The opposite of a condition, be it known already."""
    return not a if isinstance(a, bool | np.bool_) else ~a


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": lambda k, a, b: a + b,
    "subtract": lambda k, a, b: a - b,
    "multiply": lambda k, a, b: a * b,
    "divide": lambda k, a, b: a / b,
    "negative": lambda k, a: -a,
    "positive": lambda k, a: a,
    "minimum": _minimum,
    "maximum": _maximum,
    "absolute": lambda k, a: k.abs(a),
    "sqrt": lambda k, a: k.sqrt(a),
    "square": lambda k, a: a * a,
    "power": _power,
    "less": lambda k, a, b: a < b,
    "less_equal": lambda k, a, b: a <= b,
    "greater": lambda k, a, b: a > b,
    "greater_equal": lambda k, a, b: a >= b,
    "logical_and": lambda k, a, b: a & b,
    "logical_or": lambda k, a, b: a | b,
    "bitwise_and": lambda k, a, b: a & b,
    "bitwise_or": lambda k, a, b: a | b,
    "logical_not": _not,
    "invert": _not,
}
"""What the ufuncs of NumPy are in a kernel, element by element."""


class TracedArray(NDArrayOperatorsMixin):
    """An array of symbols that NumPy's functions work on."""

    __array_priority__ = 1000

    def __init__(self, kernel: Kernel, values: Any) -> None:
        self.kernel = kernel
        self.values = np.asarray(values, dtype=object)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def ndim(self) -> int:
        return self.values.ndim

    def __len__(self) -> int:
        return len(self.values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what NumPy asks any object for
            raise AttributeError(name)
        raise NotTraceableError(f".{name} of values that are known only when the kernel runs")

    def __getitem__(self, index: Any) -> TracedArray:
        return TracedArray(self.kernel, self.values[index])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> TracedArray:
        rule = _UFUNCS.get(ufunc.__name__)
        if rule is None or method != "__call__" or options:
            raise NotTraceableError(f"np.{ufunc.__name__} of values that are known only when the kernel runs")
        return self._elementwise(rule, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> TracedArray:
        rule = _FUNCTIONS.get(function.__name__)
        if rule is None:
            raise NotTraceableError(
                f"np.{function.__name__} of values that are known only when the kernel runs"
            )
        return rule(self, *args, **kwargs)

    def _elementwise(self, rule: Callable[..., Any], *inputs: Any) -> TracedArray:
        arrays = [x.values if isinstance(x, TracedArray) else _plain(x) for x in inputs]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        out = np.empty(shape, dtype=object)
        spread = [np.broadcast_to(a, shape) for a in arrays]
        for at in np.ndindex(shape):
            out[at] = rule(self.kernel, *(a[at] for a in spread))
        return TracedArray(self.kernel, out)

    def __bool__(self) -> bool:
        raise NotTraceableError("a branch on a value that is known only when the kernel runs")

    def __float__(self) -> float:
        raise NotTraceableError("float() of a value that is known only when the kernel runs")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotTraceableError("an array of values that are known only when the kernel runs")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise NotTraceableError("an assignment to elements of an argument")


def _plain(x: Any) -> np.ndarray:
    """Ordinary numbers as Python's own, which symbols compute with."""
    return np.array(np.asarray(x).tolist(), dtype=object)


def _where(one: TracedArray, condition: Any, a: Any, b: Any) -> TracedArray:
    return one._elementwise(lambda k, c, x, y: k.select(c, x, y), condition, a, b)


def _clip(one: TracedArray, a: Any, low: Any, high: Any) -> TracedArray:
    return one._elementwise(lambda k, x, least, most: _minimum(k, _maximum(k, x, least), most), a, low, high)


def _stack(one: TracedArray, arrays: Sequence[Any], axis: int = 0) -> TracedArray:
    return TracedArray(one.kernel, np.stack([_values(a) for a in arrays], axis=axis))


def _concatenate(one: TracedArray, arrays: Sequence[Any], axis: int = 0) -> TracedArray:
    return TracedArray(one.kernel, np.concatenate([_values(a) for a in arrays], axis=axis))


def _values(x: Any) -> np.ndarray:
    return x.values if isinstance(x, TracedArray) else _plain(x)


_FUNCTIONS: dict[str, Callable[..., TracedArray]] = {
    "where": _where,
    "clip": _clip,
    "stack": _stack,
    "concatenate": _concatenate,
}
"""What functions of NumPy are in a kernel."""


# ---- what a function takes from around it


@attrs.frozen
class Captures:
    """Numbers that functions take from around them, as they were when a kernel was built of these."""

    _read: Callable[[], tuple[Any, ...]]
    _values: tuple[Any, ...]

    def hold(self) -> bool:
        """Whether they are still the same."""
        try:
            return self._read() == self._values
        except NotTraceableError:  # a number has become something else
            return False


_SAFE_MODULES = (np, math)
_SAFE = (BuiltinFunctionType, np.ufunc, type)
_NUMBERS = (int, float, bool, str, type(None), np.number)


def captures(function: Callable[..., Any]) -> Captures:
    """What a function depends on besides its arguments; NotTraceableError if that may change unseen."""

    def read() -> tuple[Any, ...]:
        return tuple(_captured(function, set()))

    return Captures(read, read())


def _captured(function: Any, seen: set[int]) -> list[Any]:
    if not isinstance(function, FunctionType):
        raise NotTraceableError(f"it is a {type(function).__name__}, not a plain function")
    if id(function) in seen:
        return []
    seen.add(id(function))
    if "random" in function.__code__.co_names:
        raise NotTraceableError("it draws random numbers")
    around = inspect.getclosurevars(function)
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    found: list[Any] = [function.__code__]
    for name, value in (
        *around.nonlocals.items(),
        *around.globals.items(),
        *(("a default", d) for d in defaults),
    ):
        if isinstance(value, _NUMBERS):
            found.append(value)
        elif isinstance(value, FunctionType) and not _of_numpy(value):
            found += _captured(value, seen)
        elif not _is_constant(value):
            raise NotTraceableError(
                f"it takes {name} from around it, a {type(value).__name__}, which may change"
            )
    return found


def _of_numpy(value: FunctionType) -> bool:
    return (value.__module__ or "").partition(".")[0] == "numpy"


def _is_constant(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return value in _SAFE_MODULES
    known = isinstance(value, _SAFE) or getattr(builtins, getattr(value, "__name__", ""), None) is value
    return known or (callable(value) and (getattr(value, "__module__", "") or "").startswith("numpy"))
