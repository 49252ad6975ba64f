"""A runtime that is Python itself: the text of kernels for devices run as it stands, number by number.

It is slow, and there to compare devices with where no C compiler is: the text is Python, so what a runtime and a
driver make of it can be held against what it says. It offers as much of Taichi's interface as those kernels use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NAME = "python"
__version__ = (1, 0, 0)


class Numbers:
    """An array as kernels see it: looping over it gives indices."""

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers
        self.shape = numbers.shape
        self._whole = numbers.dtype.kind == "i"

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.numbers)))

    def __getitem__(self, index: int) -> Any:
        number = self.numbers[index]
        return int(number) if self._whole else number

    def __setitem__(self, index: int, value: Any) -> None:
        self.numbers[index] = value

    def fill(self, value: Any) -> None:
        self.numbers[:] = value

    def from_numpy(self, numbers: Array) -> None:
        self.numbers[:] = numbers


f64, f32 = np.float64, np.float32


def i32(x: Any) -> int:
    """An integer; what is none becomes the least there is, as processors have it."""
    return int(x) if abs(float(x)) < 2**31 else -(2**31)


_DTYPES = {f64: np.float64, f32: np.float32, i32: np.int32}


def ndarray(kind: Any, size: int) -> Numbers:
    return Numbers(np.zeros(size, _DTYPES[kind]))


def kernel(function: Callable[..., None]) -> Callable[..., None]:
    """A kernel is called with arrays of its own or of NumPy."""

    def launch(*given: Any) -> None:
        with np.errstate(all="ignore"):
            function(*(Numbers(x) if isinstance(x, np.ndarray) else x for x in given))

    return launch


def func(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def template() -> None:
    return None


types = SimpleNamespace(ndarray=lambda **_: None)


def cast(x: Any, kind: Any) -> Any:
    return kind(x)


def select(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def min(a: Any, b: Any) -> Any:
    """The second number where one of the two is NaN, as `k.min` has it."""
    return a if a < b else b


def max(a: Any, b: Any) -> Any:
    """The second number where one of the two is NaN, as `k.max` has it."""
    return a if a > b else b


sqrt, floor = np.sqrt, np.floor


def sync() -> None:
    pass


def load(source: str) -> ModuleType:
    """The kernels of a text."""
    import sys

    module = ModuleType("kernels")
    text = source.replace("@ti.kernel(fastcache=True)", "@ti.kernel")
    lines = [line for line in text.splitlines() if not line.startswith("import ")]
    module.__dict__["ti"] = sys.modules[__name__]
    exec(compile("\n".join(lines), "<kernels>", "exec", dont_inherit=True), module.__dict__)
    return module
