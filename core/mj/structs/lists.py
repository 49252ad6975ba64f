"""Lists of structs in arrays: `data.contact`, `data.warning`, `data.timer`, `data.solver`.

A list reads like a list of structs (`data.contact[2].dist`) and like a struct of arrays (`data.contact.dist`); both
are the same memory. It shows what is there now, also when the number changes with every step.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.mj.structs.base import Struct, put, same, shown


class Source(Protocol):
    """Where the rows are."""

    def count(self) -> int:
        """How many there are now."""

    def array(self, name: str) -> Array:
        """All rows of a member, perhaps with more room."""


class Arrays:
    """Rows in arrays of one's own, by the name of the member."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays

    def count(self) -> int:
        return len(next(iter(self.arrays.values())))

    def array(self, name: str) -> Array:
        return self.arrays[name]


class Row:
    """One row of a source, as the memory of a struct."""

    __slots__ = ("_known", "_number", "_source")

    def __init__(self, source: Source, number: int) -> None:
        self._source, self._number = source, number
        self._known: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        rows, number = self._source.array(name), self._number
        if rows.ndim < 2:
            return rows[number : number + 1].reshape(())
        row: Array = rows[number]
        return _same_or_new(self._known, name, row)


def _same_or_new(known: dict[str, Array], name: str, view: Array) -> Array:
    """The array that was given for a name before, if it still shows the memory of this view; else the view."""
    found = known.get(name)
    if found is not None and found.ctypes.data == view.ctypes.data:
        return found
    known[name] = view
    return view


def _column(name: str) -> property:
    def get(self: StructList) -> Array:
        return self._rows(name)

    def set_(self: StructList, value: Any) -> None:
        put(name, self._rows(name), value)

    return property(get, set_)


class StructList:
    """A list of structs of one kind."""

    _kind: ClassVar[type[Struct]]
    __slots__ = ("_chosen", "_source")
    __hash__ = None  # type: ignore[assignment]

    def __init_subclass__(cls, kind: type[Struct]) -> None:
        cls._kind = kind
        for name in kind._members:
            setattr(cls, name, _column(name))

    if TYPE_CHECKING:  # members are put on classes when they are made

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, source: Source, chosen: range | None = None) -> None:
        self._source, self._chosen = source, chosen

    def _numbers(self) -> range:
        """The rows it shows: all there are now, or those of a slice."""
        return range(self._source.count()) if self._chosen is None else self._chosen

    def _rows(self, name: str) -> Array:
        rows, numbers = self._source.array(name), self._numbers()
        if numbers == range(len(rows)):
            return rows
        stop = None if numbers.stop < 0 else numbers.stop
        return rows[numbers.start : stop : numbers.step] if len(numbers) else rows[:0]

    def __len__(self) -> int:
        return len(self._numbers())

    def __getitem__(self, which: Any) -> Any:
        numbers = self._numbers()
        if isinstance(which, slice):
            return type(self)(self._source, numbers[which])
        return self._kind.over(Row(self._source, self._number(which)))

    def _number(self, which: Any) -> int:
        numbers = self._numbers()
        try:
            wanted = operator.index(which)
        except TypeError:
            raise TypeError(
                f"a list of structs is indexed by a number or a slice, not by {which!r}"
            ) from None
        if not -len(numbers) <= wanted < len(numbers):
            raise IndexError(f"there is no element {wanted}: the list has {len(numbers)}")
        return numbers[wanted]

    def __setitem__(self, which: Any, value: Any) -> None:
        """Take over the members of a struct, or of as many as a slice has."""
        if isinstance(which, slice):
            targets, values = self[which], list(value)
            if len(targets) != len(values):
                raise ValueError(f"{len(values)} structs cannot be assigned to {len(targets)}")
        else:
            targets, values = [self[which]], [value]
        for target, one in zip(targets, [_as(self._kind, one) for one in values], strict=True):
            target.assign(one)

    def __iter__(self) -> Iterator[Any]:
        number = 0
        while number < len(self):
            yield self[number]
            number += 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StructList) or self._kind is not other._kind or len(self) != len(other):
            return False
        return all(same(self._rows(name), other._rows(name)) for name in self._kind._members)

    def __repr__(self) -> str:
        names = sorted(self._kind._members)
        return shown(type(self).__name__, ((name, self._rows(name)) for name in names))

    def __copy__(self) -> StructList:
        arrays = {name: np.array(self._rows(name)) for name in self._kind._members}
        return type(self)(Arrays(arrays))

    def __deepcopy__(self, memo: dict[int, Any]) -> StructList:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return type(self), (Arrays({name: np.array(self._rows(name)) for name in self._kind._members}),)


def _as(kind: type[Struct], value: Any) -> Struct:
    if not isinstance(value, Struct) or value._members is not kind._members:
        raise TypeError(f"an element is a {kind.__name__}, not {value!r}")
    return value
