"""Lists of numbers, letters and names that elements of a spec hold: MuJoCo's `MjDoubleVec` and its like.

Their entries can be read and written one by one, from 0 on; their length changes by assigning a new list to the
attribute, as in MuJoCo.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from dovetail.errors import ArgumentError, UnknownIndexError, shown


class SpecVector:
    """What all of them have in common: a list, and how one entry is understood."""

    numbers: ClassVar[type | None] = None
    """The NumPy type of the entries; None for texts."""
    _items: Any

    def __init__(self, items: Iterable[Any] = ()) -> None:
        if isinstance(items, SpecVector):
            items = items._items
        if self.numbers is None:
            self._items = [self._entry(item) for item in items]
        else:
            try:
                values = np.array(items if isinstance(items, np.ndarray) else list(items))
                if values.size and values.dtype.kind not in "fiub":
                    raise TypeError
                self._items = values.astype(self.numbers).reshape(-1)
            except (TypeError, ValueError):
                raise ArgumentError(f"a list of numbers is expected, not {shown(items)}") from None

    def _entry(self, item: object) -> Any:
        if not isinstance(item, str):
            raise ArgumentError(f"a text is expected, not {shown(item)}")
        return item

    def _checked(self, index: object) -> int:
        try:
            number = int(index)  # type: ignore[call-overload]
        except (TypeError, ValueError):
            raise ArgumentError(f"entries have numbers from 0 on, not {shown(index)}") from None
        if not 0 <= number < len(self._items):
            raise UnknownIndexError(f"Index out of range. There are {len(self._items)} entries, from 0 on")
        return number

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items if self.numbers is None else self._items.tolist())

    def __getitem__(self, index: Any) -> Any:
        item = self._items[self._checked(index)]
        return item if self.numbers is None else item.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._checked(index)
        if self.numbers is None:
            self._items[place] = self._entry(value)
            return
        try:
            self._items[place] = value
        except (TypeError, ValueError):
            raise ArgumentError(f"a number is expected, not {shown(value)}") from None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(list(self), dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"

    def copied(self) -> SpecVector:
        """Another list of the same entries."""
        return type(self)(self)


class MjDoubleVec(SpecVector):
    """Real numbers in double precision."""

    numbers = np.float64


class MjFloatVec(SpecVector):
    """Real numbers in single precision."""

    numbers = np.float32


class MjIntVec(SpecVector):
    """Whole numbers."""

    numbers = np.int32


class MjByteVec(SpecVector):
    """Bytes, as of an image."""

    numbers = np.uint8

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__(np.frombuffer(items, np.uint8) if isinstance(items, bytes | bytearray) else items)


class MjStringVec(SpecVector):
    """Texts."""


class MjCharVec(SpecVector):
    """Single letters."""

    def _entry(self, item: object) -> Any:
        if not isinstance(item, str) or len(item) != 1:
            raise ArgumentError(f"one letter is expected, not {shown(item)}")
        return item
