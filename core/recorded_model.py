"""A Model that records which of its fields are read.

Rules (which stages a model needs, which features it has) and the builders of kernels decide once, when a plan is
made. They are given a `RecordedModel`, so the values that the plan depends on are known without a list that somebody
must keep (see `planning.dependencies`).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from types import MethodType
from typing import TYPE_CHECKING, Any

from dovetail.contracts.bound import Bound, View
from dovetail.contracts.types import Extra

if TYPE_CHECKING:
    pass

BY_VALUE = "="
"""Ends the name of a real field whose very numbers count, not only their signs."""


class RecordedModel:
    """A Model as rules and lane builders see it: what is read through it is in `looked_at` by name.

    It behaves as the Model does, groups (`opt`, `vis.map`) and objects by name included, but cannot be written.
    Sizes and names are fixed and are not recorded.
    """

    _seen: Any
    _looked_at: set[str]
    _read: set[str]
    _path: str

    def __init__(self, model: Any, looked_at: set[str] | None = None, path: str = "") -> None:
        set_ = object.__setattr__
        set_(self, "_seen", model)
        set_(self, "_looked_at", set() if looked_at is None else looked_at)
        set_(self, "_read", set())
        set_(self, "_path", path)

    @property
    def looked_at(self) -> frozenset[str]:
        """The fields read so far, dotted, as `opt.cone`; `name=` if its very numbers count (see `by_value`)."""
        return frozenset(self._looked_at)

    @property
    def read(self) -> frozenset[str]:
        """The fields that kernels read each time they run."""
        return frozenset(self._read)

    @property
    def seen(self) -> Any:
        """The Model itself, for who does not decide anything by it."""
        return self._seen

    def take_over(self, looked_at: Iterable[str], read: Iterable[str]) -> None:
        """Record what was looked at and read in an earlier run."""
        self._looked_at.update(looked_at)
        self._read.update(read)

    @property
    def nread(self) -> int:
        """How many there are."""
        return len(self._read)

    def record_read(self, name: str) -> None:
        """Record that a kernel reads a field each time it runs."""
        self._read.add(name)

    def record_values(self, *names: str) -> None:
        """Record that somebody uses the very numbers of real fields; see `by_value`."""
        self._looked_at.update(name + BY_VALUE for name in names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._seen, name)
        if isinstance(value, Bound):
            return RecordedModel(value, self._looked_at, f"{self._path}{name}.")
        if inspect.ismethod(value):  # so that what the method reads is recorded too
            return MethodType(value.__func__, self)
        if self._path + name in self._seen.specs:
            self._looked_at.add(self._path + name)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{self._path}{name} cannot be set here: rules and builders only look at a model"
        )

    def field(self, full: str) -> View:
        """The array view of one field by its full (dotted) name."""
        view: View = self._seen.field(full)
        self._looked_at.add(full)
        return view

    def fields(self) -> Iterator[tuple[str, View]]:
        """Every field by full name; each counts as read."""
        for full, view in self._seen.fields():
            self._looked_at.add(full)
            yield full, view

    @property
    def extra(self) -> Extra:
        """The fields that plugins added, by their namespaced name."""
        return Extra(self)

    @property
    def buffers(self) -> Any:
        """The packed numbers; who takes them has read everything."""
        self._looked_at.update(self._seen.arena.layout.places)
        return self._seen.buffers

    def copy(self) -> Any:
        """A clone of the Model; who takes it has read everything."""
        self._looked_at.update(self._seen.arena.layout.places)
        return self._seen.copy()

    def __contains__(self, full: str) -> bool:
        return full in self._seen

    def __dir__(self) -> Iterable[str]:
        return dir(self._seen)

    def __repr__(self) -> str:
        return f"<recorded {self._seen!r}>"


def by_value(model: Any, *names: str) -> None:
    """Say that a builder works the very numbers of real fields into its kernel, as a focal length; without it only
    their signs count. Does nothing to a Model that records nothing."""
    record = getattr(model, "record_values", None)
    if record is not None:
        record(*names)
