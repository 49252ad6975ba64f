"""A Data that shows one stage only what its record declares.

It shares the memory of a world. Reading a field that is not declared raises; what is declared to be read but not
written is read-only; numbers of another kind than the field's (complex numbers, fractions into integers, single
precision into double) are refused where they are assigned. It costs time, so it is handed out under `strict` and in
checks only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.bound import Bound, View
from dovetail.contracts.data import DATA_GROUPS
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Data
from dovetail.errors import UndeclaredFieldError, WrittenKindError, listing, nearest


@attrs.frozen(kw_only=True)
class Allowed:
    """What one slot may touch, and what to call it in messages."""

    subject: str
    """As `passive_force:wind quadratic@numpy of dovetail-wind`."""
    reads: frozenset[str]
    writes: frozenset[str]

    def check_read(self, field: str) -> None:
        if field not in self.reads and field not in self.writes:
            raise UndeclaredFieldError(
                f"{self.subject} reads {field}, which its record does not declare"
                f"{nearest(field, self.reads | self.writes)} Add it to reads= of the record "
                f"(it has: {listing(self.reads)})"
            )

    def check_write(self, field: str) -> None:
        if field not in self.writes:
            raise UndeclaredFieldError(
                f"{self.subject} writes {field}, which its record does not declare"
                f"{nearest(field, self.writes)} Add it to writes= of the record (it has: {listing(self.writes)}), "
                "or leave it alone"
            )

    def check_kind(self, field: str, there: Any, value: Any) -> None:
        """Whether assigning a value to a field of dtype `there` would lose or fake digits."""
        given = getattr(value, "dtype", None)
        if given is None:
            given = np.asarray(value).dtype
            if given.kind == "f":  # Python's numbers fit any real field
                given = there if there.kind == "f" else given
        if not _fits(given, there):
            raise WrittenKindError(
                f"{self.subject} writes numbers of type {given} into {field}, which holds {there}; compute it in "
                f"{there}, or convert with .astype(data.{field}.dtype) where that is meant"
            )


def _fits(given: Any, there: Any) -> bool:
    if there.kind == "f":
        return given.kind in "biu" or (given.kind == "f" and given.itemsize >= there.itemsize)
    return given.kind in "biu"


class GuardedArray(np.ndarray):
    """A view of a field that knows who may write it. What is computed from it is an ordinary array."""

    _allowed: Allowed | None = None
    _field: str = ""
    _memory: Array | None = None

    @classmethod
    def of(cls, view: Array, allowed: Allowed, field: str) -> GuardedArray:
        found = view.view(cls)
        found._allowed, found._field, found._memory = allowed, field, view
        if field not in allowed.writes:
            found.flags.writeable = False
        return found

    def __array_finalize__(self, parent: Any) -> None:
        if isinstance(parent, GuardedArray):
            self._allowed, self._field, self._memory = parent._allowed, parent._field, parent._memory

    def _guards(self) -> bool:
        """Whether it is memory of the Data: slices are, copies are not."""
        return self._memory is not None and np.may_share_memory(self.view(np.ndarray), self._memory)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self._allowed is not None and self._guards():
            self._allowed.check_write(self._field)
            self._allowed.check_kind(self._field, self.dtype, value)
        super().__setitem__(index, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        outputs: tuple[Any, ...] = tuple(options.get("out") or ())
        for target in (*outputs, *(inputs[:1] if method == "at" else ())):
            if isinstance(target, GuardedArray) and target._allowed is not None and target._guards():
                target._allowed.check_write(target._field)
                for given in inputs:
                    if isinstance(given, np.ndarray) and given.dtype.kind in "fc":
                        target._allowed.check_kind(target._field, target.dtype, given)
        if outputs:
            options["out"] = tuple(_plain(output) for output in outputs)
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        return outputs[0] if len(outputs) == 1 else result


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, GuardedArray) else value


class _Guarding(Bound):
    """Fields of a Data or group, watched. The declarations are in `_allowed`."""

    _allowed: Allowed

    def _read(self, name: str) -> Any:
        if not name.startswith("_") and self._prefix + name in self.arena.layout.places:
            self._allowed.check_read(self._prefix + name)
        value = super()._read(name)
        if isinstance(value, np.ndarray):
            value = GuardedArray.of(value, self._allowed, self._prefix + name)
            if name in self.__dict__:
                self.__dict__[name] = value
        return value

    def _write(self, name: str, value: Any) -> None:
        full = self._prefix + name
        place = self.arena.layout.places.get(full)
        if place is not None:
            self._allowed.check_write(full)
            self._allowed.check_kind(full, super().field(full).dtype, value)
        super()._write(name, value)

    def field(self, full: str) -> View:
        if full in self.arena.layout.places:
            self._allowed.check_read(full)
        view = super().field(full)
        return GuardedArray.of(view, self._allowed, full) if isinstance(view, np.ndarray) else view

    def fields(self) -> Iterator[tuple[str, View]]:
        """Those that may be seen."""
        for full, _ in super().fields():
            if full in self._allowed.reads or full in self._allowed.writes:
                yield full, self.field(full)

    if not TYPE_CHECKING:
        __getattr__ = _read
        __setattr__ = _write


@cache
def _guarding(kind: type[Bound]) -> type[Bound]:
    return type(f"Guarded{kind.__name__}", (_Guarding, kind), {})


class GuardedData(_Guarding, Data):
    """One world as one slot may see it, in the world's own memory."""

    def __init__(self, world: Data, allowed: Allowed) -> None:
        object.__setattr__(self, "_allowed", allowed)
        super().__init__(
            world.arena,
            world.specs,
            world.model,
            world._sizes,
            nworld=None,
            precision=world.precision,
            world=world._world,
        )
        if world.number is not None:
            self.show_as(world.number)
        for name in DATA_GROUPS:
            self._watch_group(name)

    def _watch_group(self, name: str) -> None:
        kind: Any = type(self.__dict__[name])
        group = _guarding(kind)()
        object.__setattr__(group, "_allowed", self._allowed)
        group._bind(self.arena, self.specs, prefix=f"{name}.", nworld=None, world=self._world)
        object.__setattr__(self, name, group)


def guarded(world: Data, subject: str, reads: Collection[str], writes: Collection[str]) -> GuardedData:
    """A world as a slot that declares these fields may see it."""
    return GuardedData(world, Allowed(subject=subject, reads=frozenset(reads), writes=frozenset(writes)))
