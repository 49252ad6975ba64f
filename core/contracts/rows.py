"""Groups of arrays that are also lists: `data.contact[2].dist` is `data.contact.dist[2]`, one memory.

A row reads and writes the arrays of its group at its number. How many rows there are now, a field of the Data says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dovetail.arguments import as_whole
from dovetail.contracts.assigned import assign
from dovetail.contracts.bound import Bound
from dovetail.errors import ArgumentError, UnknownFieldError, UnknownIndexError, nearest, shown

COUNTS: Mapping[str, str] = {"contact": "ncon"}
"""Groups that are lists, and the fields that count their rows."""


class Rows(Bound):
    """A group that is a list of rows, in one world."""

    def _counted(self) -> int:
        name = self._prefix.removesuffix(".")
        if self._nworld is not None:
            raise ArgumentError(
                f"data.{name} of a batch has no rows of its own: ask one world, as data.world(0).{name}[0]"
            )
        return int(self.field(COUNTS[name]))

    def __len__(self) -> int:
        return self._counted()

    def __bool__(self) -> bool:
        return True  # the group is there, also without rows

    def __iter__(self) -> Iterator[Row]:
        number = 0
        while number < self._counted():
            yield Row(self, number)
            number += 1

    def __getitem__(self, which: Any) -> Any:
        count = self._counted()
        if isinstance(which, slice):
            return [Row(self, number) for number in range(count)[which]]
        number, name = as_whole(which), self._prefix.removesuffix(".")
        if number is None:
            raise ArgumentError(f"a {name} is given by its number or by a slice, not as {shown(which)}")
        if not -count <= number < count:
            raise UnknownIndexError(f"there is no {name} number {shown(number)}: there are {count} now")
        return Row(self, number % count)

    def __setitem__(self, which: Any, row: Any) -> None:
        """Take over all numbers of another row."""
        if not isinstance(row, Row) or row._group._prefix != self._prefix:
            raise ArgumentError(
                f"a row of {self._prefix[:-1]} is assigned from another one, not from {shown(row)}"
            )
        target = self[which]
        if isinstance(target, list):
            raise ArgumentError(f"rows of {self._prefix[:-1]} are assigned one by one")
        for name in target._names():
            setattr(target, name, getattr(row, name))


class Row:
    """One row of a group; its attributes are the group's fields at its number."""

    __slots__ = ("_group", "_number")
    _group: Rows
    _number: int

    def __init__(self, group: Rows, number: int) -> None:
        object.__setattr__(self, "_group", group)
        object.__setattr__(self, "_number", number)

    def _field(self, name: str) -> Any:
        full = self._group._prefix + name
        if full not in self._group.specs:
            what = f"a {self._group._prefix[:-1]} has no {name!r}"
            raise UnknownFieldError(f"{what}{nearest(name, self._names())}")
        return self._group.field(full)

    def _names(self) -> list[str]:
        prefix, specs = self._group._prefix, self._group.specs
        return [name.removeprefix(prefix) for name in specs if name.startswith(prefix)]

    def _read(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        view = self._field(name)
        value = view[self._number]
        return value if view.ndim > 1 else value.item()

    def _write(self, name: str, value: Any) -> None:
        view = self._field(name)
        row = view[self._number : self._number + 1].reshape(view.shape[1:])
        assign(name, row, value)

    if not TYPE_CHECKING:  # checkers know the attributes from `protocols.pyi`
        __getattr__ = _read
        __setattr__ = _write

    def __dir__(self) -> list[str]:
        return sorted(self._names())

    def __repr__(self) -> str:
        return f"<{self._group._prefix[:-1]} {self._number} of {len(self._group)}>"
