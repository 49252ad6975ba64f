"""What all structs of the drop-in have in common: members in memory that may be another's.

A struct (`MjOption`, `MjContact`, …) has declared members and a memory, which gives an array for each: arrays of its
own, views of a Model, or one row of arrays. Numbers read as Python's, arrays as views; structs compare by content and
print as MuJoCo's do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import attrs
import numpy as np

from dovetail.contracts.assigned import assign
from dovetail.contracts.fields import Array, FieldSpec, numpy_dtype

S = TypeVar("S", bound="Struct")


@attrs.frozen
class Member:
    """One member of a struct: a number, an array, or a text."""

    name: str
    dtype: Any = "f8"
    shape: tuple[int, ...] = ()
    default: Any = None
    """None: zero, or no text."""

    def made(self) -> Array:
        """Memory of its own, with the default."""
        values = np.zeros(self.shape, self.dtype)
        if self.default is not None:
            values[...] = self.default
        return values


def members_of(specs: Iterable[FieldSpec], prefix: str, *, rows: bool = False) -> tuple[Member, ...]:
    """The declared fields of a group as members, with their initial values; `rows`: one row of each, zero."""
    return tuple(
        Member(
            spec.name.removeprefix(prefix),
            numpy_dtype(spec.dtype),
            tuple(d for d in spec.shape[int(rows) :] if isinstance(d, int)),
            None if rows else spec.init,
        )
        for spec in specs
        if spec.name.startswith(prefix)
    )


class Memory(Protocol):
    """Where the members of a struct are."""

    def __getitem__(self, name: str, /) -> Array: ...


def _integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None


def _real(name: str, value: Any) -> float:
    if isinstance(value, str | bytes) or np.ndim(value):
        raise TypeError(f"{name} is a number, not {value!r}")
    return float(value)


def _text(name: str, value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {value!r}")
    return value.encode()


_CASTS: dict[str, Callable[[str, Any], Any]] = {"i": _integer, "u": _integer, "f": _real, "S": _text}


def read(view: Array) -> Any:
    """A member as Python sees it: numbers and texts as such, arrays as views."""
    if view.ndim:
        return view
    value = view.item()
    return value.decode() if isinstance(value, bytes) else value


def write(name: str, view: Array, value: Any) -> None:
    """Assign to a member; a number must be of its kind, an array of a shape that fits, a text not too long."""
    if view.ndim:
        put(name, view, value)
        return
    fitting = _CASTS[view.dtype.kind](name, value)
    if view.dtype.kind == "S" and len(fitting) > view.dtype.itemsize:
        raise ValueError(f"len({name}) cannot exceed {view.dtype.itemsize}: got length {len(fitting)}")
    view[...] = fitting


def put(name: str, view: Array, value: Any) -> None:
    """Assign to an array; numbers are given as such, so that nothing of them is lost."""
    if view.dtype.kind == "S":
        view[...] = value
    else:
        assign(name, view, value)


def _property(name: str) -> property:
    def get(self: Struct) -> Any:
        return read(self._memory[name])

    def set_(self: Struct, value: Any) -> None:
        write(name, self._memory[name], value)

    return property(get, set_)


def shown(name: str, pairs: Iterable[tuple[str, Any]]) -> str:
    """Members and values as MuJoCo prints structs."""
    lines = [f"  {member}: {_indented(value)}" for member, value in pairs]
    return "\n".join([f"<{name}", *lines, ">"])


def _indented(value: Any) -> str:
    text = repr(value)
    return text.replace("\n", "\n  ") if isinstance(value, Struct) else text


def same(first: Any, second: Any) -> bool:
    """Whether two values of a member are the same."""
    if isinstance(first, np.ndarray):
        return isinstance(second, np.ndarray) and np.array_equal(first, second)
    return bool(first == second)


class Struct:
    """Base of the structs; `members` of a subclass are its attributes."""

    _members: ClassVar[Mapping[str, Member]] = {}
    _memory: Memory
    __slots__ = ("__weakref__", "_memory")
    __hash__ = None  # type: ignore[assignment]

    def __init_subclass__(cls, members: Sequence[Member] = (), **more: Any) -> None:
        super().__init_subclass__(**more)
        if members:
            cls._members = {member.name: member for member in members}
            for member in members:
                setattr(cls, member.name, _property(member.name))

    if TYPE_CHECKING:  # members are put on classes when they are made

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self) -> None:
        self._memory = {name: member.made() for name, member in self._members.items()}

    @classmethod
    def over(cls: type[S], memory: Memory) -> S:
        """One whose members are elsewhere."""
        found = cls.__new__(cls)
        found._memory = memory
        return found

    def _pairs(self) -> Iterator[tuple[str, Any]]:
        return ((name, getattr(self, name)) for name in sorted(self._members))

    def assign(self, other: Struct) -> None:
        """Take over the values of another struct of the same kind."""
        for name in self._members:
            self._memory[name][...] = other._memory[name]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct) or self._members is not other._members:
            return False
        return all(same(value, getattr(other, name)) for name, value in self._pairs())

    def __repr__(self) -> str:
        return shown(type(self).__name__, self._pairs())

    def __copy__(self: S) -> S:
        return _rebuilt(type(self), self._values())

    def __deepcopy__(self: S, memo: dict[int, Any]) -> S:
        return self.__copy__()

    def _values(self) -> dict[str, Any]:
        return {name: np.array(self._memory[name]) for name in self._members}

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self._values())


def _rebuilt(cls: type[S], values: Mapping[str, Any]) -> S:
    """A struct with memory of its own, from the values of another."""
    return cls.over(dict(values))
