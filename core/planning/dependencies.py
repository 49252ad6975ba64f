"""The Model values that a plan depends on, as they were when it was made.

Rules and builders see a `RecordedModel`, so it is known what they read; `DecidingValues` remembers the values of
these fields and says, before every step, whether they still hold. `IndexCheck` does the same for ids and addresses,
which point into the Model's own memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.indices import WATCHED, check_indices
from dovetail.recorded_model import BY_VALUE, RecordedModel

if TYPE_CHECKING:
    from dovetail.contracts.arena import Place
    from dovetail.contracts.types import Model


class Dependencies:
    """Values that rules looked at while a plan was made, and builders of kernels when these were first run."""

    def __init__(self, model: Model, looked_at: Iterable[str]) -> None:
        self._model = model
        self.model = RecordedModel(model)
        """The Model as builders see it."""
        self._known = frozenset(looked_at)
        self._keys = [DecidingValues.of(model, self._known)]
        self._indices = IndexCheck(model)
        self._nread = 0

    def check_indices(self) -> None:
        """Raise a ValidationError if the Model was edited so that ids or addresses point nowhere."""
        self._indices.check()

    def settle(self, only_kernels: bool = False) -> None:
        """Remember the values that builders have looked at since the last time. If only kernels run, indices that
        they do not read need no more checking."""
        if self.model.nread != self._nread:
            self._nread = self.model.nread
            self._indices.settle(self.model.read, only_kernels)
        new = self.model.looked_at - self._known
        if new:
            self._known |= new
            self._keys.append(DecidingValues.of(self._model, new))

    def holds(self) -> bool:
        """Whether the Model still has all these values."""
        return all(key.holds(self._model) for key in self._keys)

    @property
    def used(self) -> frozenset[str]:
        """The fields that rules looked at, and that kernels read each time they run."""
        return frozenset(name.removesuffix(BY_VALUE) for name in self._known) | self.model.read

    @property
    def watched(self) -> frozenset[str]:
        """Those of them that are looked at before every step, so that they are the same in all of them."""
        return frozenset(name.removesuffix(BY_VALUE) for name in self._known) | self._indices.names

    def memory(self, *others: str) -> list[tuple[Array, bytes]]:
        """The memory of the Model that holds all that is looked at before a step, and of other fields, with what is
        there now: while that does not change, neither does what a look would find."""
        views = [view for key in self._keys for view in key.views(self._model)]
        views += [*self._indices.views, *_Memory.of(self._model, others).views]
        return [(view, view.tobytes()) for view in views if view.size]


@attrs.frozen
class DecidingValues:
    """The values that decisions depend on: of integer and boolean fields the bytes, of real ones the sign pattern."""

    names: tuple[str, ...]
    values: tuple[bytes, ...]
    _memory: list[_Memory] = attrs.field(factory=list, init=False, eq=False, repr=False)
    """The bytes that were last found to hold, of one Model."""

    @classmethod
    def of(cls, model: Model, names: Iterable[str]) -> DecidingValues:
        """The key of a Model for fields as `RecordedModel.looked_at` names them."""
        ordered = tuple(sorted(set(names)))
        key = cls(ordered, tuple(_pattern(model, name) for name in ordered))
        key._memory.append(_Memory.of(model, ordered))
        return key

    def holds(self, model: Model) -> bool:
        """Whether a Model still has these values. Asked before every step, so memory that did not change since the
        last time is compared as bytes; patterns are made only of fields in memory that did."""
        memory = self._memory[0]
        if memory.model is not model:
            return self._holds_of_another(model)
        for place, (view, last) in enumerate(zip(memory.views, memory.last, strict=True)):
            now = view.tobytes()
            if now != last:
                if not self._agrees(model, memory.names[place]):
                    return False
                memory.last[place] = now
        return True

    def views(self, model: Model) -> list[Array]:
        """The memory that holds the values."""
        return _Memory.of(model, self.names).views

    def _agrees(self, model: Model, names: Iterable[int]) -> bool:
        return all(_pattern(model, self.names[n]) == self.values[n] for n in names)

    def _holds_of_another(self, model: Model) -> bool:
        """The same for a Model that was not asked for before; it is then the one whose memory is remembered."""
        if not self._agrees(model, range(len(self.names))):
            return False
        self._memory[0] = _Memory.of(model, self.names)
        return True


@attrs.define(eq=False)
class _Memory:
    """The stretches of a Model's memory that hold some fields."""

    model: Model
    views: list[Array]
    names: list[list[int]]
    """The fields in each stretch, by number."""
    last: list[bytes]

    @classmethod
    def of(cls, model: Model, names: Sequence[str]) -> _Memory:
        stretches = stretches_of(model, names)
        views = [model.buffers[dtype][start:end] for dtype, start, end, _ in stretches]
        return cls(model, views, [held for *_, held in stretches], [view.tobytes() for view in views])


class IndexCheck:
    """Has the ids, addresses and counts of a Model checked again when some of them were edited.

    Asked before every launch: what did not change costs a comparison of memory. Fields with very many entries, as the
    faces of meshes, are compared only if kernels read them: NumPy itself notices a wrong index.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._small = frozenset(n for n in WATCHED if _place(model, n).count <= SMALL)
        self._look_at(self._small)

    def _look_at(self, names: frozenset[str]) -> None:
        self._names = names
        memory = _Memory.of(self._model, sorted(names))
        self._seen = [(view, _copied(view)) for view in memory.views]

    @property
    def names(self) -> frozenset[str]:
        """The fields that are looked at."""
        return self._names

    @property
    def views(self) -> list[Array]:
        """The memory that is looked at."""
        return [view for view, _ in self._seen]

    def check(self) -> None:
        """Raise a ValidationError if the Model was edited and now points nowhere; also the next time, until it is
        mended."""
        changed = [n for n, (view, last) in enumerate(self._seen) if _differs(view, last)]
        if changed:
            check_indices(self._model)
            for n in changed:
                view, _ = self._seen[n]
                self._seen[n] = view, _copied(view)

    def settle(self, read: frozenset[str], only: bool) -> None:
        """From now on look at what kernels read, and if something else runs too, at all that is small."""
        names = read.intersection(WATCHED) | (frozenset() if only else self._small)
        if names != self._names:
            check_indices(self._model)
            self._look_at(names)


SMALL = 1 << 12
"""Entries of fields that are compared whoever uses them."""


_AS_BYTES = 1 << 15
"""Numbers up to which comparing copied bytes is quicker than comparing arrays."""


def _copied(view: Array) -> bytes | Array:
    return view.tobytes() if view.size <= _AS_BYTES else view.copy()


def _differs(view: Array, last: bytes | Array) -> bool:
    return view.tobytes() != last if isinstance(last, bytes) else not np.array_equal(view, last)


_NEAR = 64
"""Numbers between two fields of one stretch: comparing some more costs less than another stretch."""


def stretches_of(model: Model, names: Sequence[str]) -> list[tuple[str, int, int, list[int]]]:
    """Buffer, first and last number, and the fields within, of fields that lie near each other."""
    places = [(_place(model, name), n) for n, name in enumerate(names)]
    found: list[tuple[str, int, int, list[int]]] = []
    for place, n in sorted(places, key=lambda each: (each[0].dtype, each[0].offset)):
        end = place.offset + place.count
        if found and found[-1][0] == place.dtype and place.offset - found[-1][2] <= _NEAR:
            dtype, start, _, held = found.pop()
            found.append((dtype, start, end, [*held, n]))
        else:
            found.append((place.dtype, place.offset, end, [n]))
    return found


def _place(model: Model, name: str) -> Place:
    return model.arena.layout.places[name.removesuffix(BY_VALUE)]


def _pattern(model: Model, name: str) -> bytes:
    """What counts of a field's values."""
    values = np.asarray(model.field(name.removesuffix(BY_VALUE)))
    if values.dtype.kind == "f" and not name.endswith(BY_VALUE):
        values = (values > 0).astype(np.int8) - (values < 0) + 2 * np.isnan(values)  # NaN is no zero
    return values.tobytes()
