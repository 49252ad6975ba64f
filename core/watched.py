"""A Model that notes which of its fields are read, and the key made of what was read.

Rules (which stages a model needs, which features it has) and the builders of kernels decide once, when a plan is
made. They are given a `Watched` Model, so the values that the plan depends on are known without a list that somebody
must keep; `StructureKey` remembers those values and says, before every step, whether they still hold.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.contracts.bound import Bound, View
from dovetail.contracts.fields import Array
from dovetail.contracts.indices import WATCHED, check_indices
from dovetail.contracts.types import Extra

if TYPE_CHECKING:
    from dovetail.contracts.arena import Place
    from dovetail.contracts.types import Model

BY_VALUE = "="
"""Ends the name of a real field whose very numbers count, not only their signs."""


class Watched:
    """A Model as rules and lane builders see it: what is read through it is noted by name in `looked_at`.

    It behaves as the Model does, groups (`opt`, `vis.map`) and objects by name included, but cannot be written.
    Sizes and names are fixed and need no note.
    """

    _seen: Any
    _notes: set[str]
    _read: set[str]
    _path: str

    def __init__(self, model: Any, notes: set[str] | None = None, path: str = "") -> None:
        set_ = object.__setattr__
        set_(self, "_seen", model)
        set_(self, "_notes", set() if notes is None else notes)
        set_(self, "_read", set())
        set_(self, "_path", path)

    @property
    def looked_at(self) -> frozenset[str]:
        """The fields read so far, dotted, as `opt.cone`; `name=` if its very numbers count (see `by_value`)."""
        return frozenset(self._notes)

    @property
    def read(self) -> frozenset[str]:
        """The fields that kernels read each time they run."""
        return frozenset(self._read)

    @property
    def nread(self) -> int:
        """How many there are."""
        return len(self._read)

    def note_read(self, name: str) -> None:
        """Note that a kernel reads a field each time it runs."""
        self._read.add(name)

    def note_values(self, *names: str) -> None:
        """Note that somebody uses the very numbers of real fields; see `by_value`."""
        self._notes.update(name + BY_VALUE for name in names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._seen, name)
        if isinstance(value, Bound):
            return Watched(value, self._notes, f"{self._path}{name}.")
        if inspect.ismethod(value):  # so that what the method reads is noted too
            return MethodType(value.__func__, self)
        if self._path + name in self._seen.specs:
            self._notes.add(self._path + name)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{self._path}{name} cannot be set here: rules and builders only look at a model"
        )

    def field(self, full: str) -> View:
        """The array view of one field by its full (dotted) name."""
        view: View = self._seen.field(full)
        self._notes.add(full)
        return view

    def fields(self) -> Iterator[tuple[str, View]]:
        """Every field by full name; each counts as read."""
        for full, view in self._seen.fields():
            self._notes.add(full)
            yield full, view

    @property
    def extra(self) -> Extra:
        """The fields that plugins added, by their namespaced name."""
        return Extra(self)

    @property
    def buffers(self) -> Any:
        """The packed numbers; who takes them has read everything."""
        self._notes.update(self._seen.arena.layout.places)
        return self._seen.buffers

    def copy(self) -> Any:
        """A clone of the Model; who takes it has read everything."""
        self._notes.update(self._seen.arena.layout.places)
        return self._seen.copy()

    def __contains__(self, full: str) -> bool:
        return full in self._seen

    def __dir__(self) -> Iterable[str]:
        return dir(self._seen)

    def __repr__(self) -> str:
        return f"<watched {self._seen!r}>"


def by_value(model: Any, *names: str) -> None:
    """Say that a builder works the very numbers of real fields into its kernel, as a focal length; without it only
    their signs count. Does nothing to a Model that nobody watches."""
    note = getattr(model, "note_values", None)
    if note is not None:
        note(*names)


@attrs.frozen
class StructureKey:
    """The values that decisions depend on: of integer and boolean fields the bytes, of real ones the sign pattern."""

    names: tuple[str, ...]
    values: tuple[bytes, ...]
    _memory: list[_Memory] = attrs.field(factory=list, init=False, eq=False, repr=False)
    """The bytes that were last found to hold, of one Model."""

    @classmethod
    def of(cls, model: Model, names: Iterable[str]) -> StructureKey:
        """The key of a Model for fields as `Watched.looked_at` names them."""
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
        stretches = _stretches(model, names)
        views = [model.buffers[dtype][start:end] for dtype, start, end, _ in stretches]
        return cls(model, views, [held for *_, held in stretches], [view.tobytes() for view in views])


class IndexWatch:
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


def _stretches(model: Model, names: Sequence[str]) -> list[tuple[str, int, int, list[int]]]:
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
        values = (values > 0).astype(np.int8) - (values < 0)
    return values.tobytes()
