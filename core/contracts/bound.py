"""Objects whose declared fields are views into an arena, made when first touched.

Reading `data.xpos` gives the view; `data.xpos = v` and `data.xpos[:] = v` write the same memory. A scalar field
(`data.time`) reads as a Python number in one world and as an array over worlds in a batch. Views are remembered,
those of growing fields until the arena grows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dovetail.contracts.arena import Arena, Place, TiledArray
from dovetail.contracts.assigned import assign
from dovetail.contracts.fields import GROWING, Array, FieldSpec
from dovetail.errors import ArgumentError, NotKeptError, UnknownFieldError, nearest, shown

View = Array | TiledArray


class Bound:
    """Base of Model, Data and their groups."""

    arena: Arena
    """The memory: one buffer per dtype, (ntile, size, W)."""
    specs: Mapping[str, FieldSpec]
    """Every field that may exist here, by full name."""
    _prefix: str = ""
    _nworld: int | None = None
    _world: int = 0
    _numbers: dict[str, View]
    """Views of scalar fields of one world, by attribute, as far as they were read."""
    _growing: set[str]
    """Attributes that hold views of growing fields."""

    def _bind(
        self,
        arena: Arena,
        specs: Mapping[str, FieldSpec],
        *,
        prefix: str = "",
        nworld: int | None = None,
        world: int = 0,
    ) -> None:
        """Attach to an arena; `nworld` None shows world number `world` alone, in MuJoCo's shapes."""
        set_ = object.__setattr__
        set_(self, "arena", arena)
        set_(self, "specs", specs)
        set_(self, "_prefix", prefix)
        set_(self, "_nworld", nworld)
        set_(self, "_world", world)
        set_(self, "_numbers", {})
        set_(self, "_growing", set())
        arena.watchers.add(self)

    def _rebind(self, arena: Arena, specs: Mapping[str, FieldSpec]) -> None:
        """Attach to another arena, and forget all views."""
        for full in (*self.arena.layout.places, *specs):
            self.__dict__.pop(full.removeprefix(self._prefix), None)
        self.arena.watchers.discard(self)
        self._bind(arena, specs, prefix=self._prefix, nworld=self._nworld, world=self._world)

    def _forget_growing(self) -> None:
        """Drop the views of growing fields, whose memory has moved."""
        for name in self._growing:
            del self.__dict__[name]
        self._growing.clear()

    def _forget_views(self, names: Collection[str]) -> None:
        """Drop the views of some fields, by full name."""
        for full in names:
            name = full.removeprefix(self._prefix)
            self.__dict__.pop(name, None)
            self._numbers.pop(name, None)
            self._growing.discard(name)

    def _view(self, place: Place, full: str) -> View:
        if self._nworld is None:
            return self.arena.world(place, self._world)
        return self.arena.batch(place, self._nworld, full)

    def _read(self, name: str) -> Any:
        """What is not in the instance yet: a field's first read, a scalar, or a mistake."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._numbers:
            return self._numbers[name].item()
        place = self._place(name)
        late = self.arena.late
        if self._prefix + name in late.names:  # not remembered: the next step makes it stale
            late.settle(self._prefix + name)
            view = self._view(self._place(name), self._prefix + name)
            return view.item() if not place.shape and self._nworld is None else view
        view = self._view(place, self._prefix + name)
        if not place.shape and self._nworld is None:
            self._numbers[name] = view
            return view.item()
        if place.dtype.endswith(GROWING):
            self._growing.add(name)
        self.__dict__[name] = view
        return view

    def _write(self, name: str, value: Any) -> None:
        view = self._numbers.get(name)
        if view is None:
            if (
                self._prefix + name in self.arena.late.names
            ):  # else it would be filled over what is written now
                self.arena.late.settle(self._prefix + name)
            view = self._view(self._place(name), self._prefix + name)
        assign(f"{self._prefix}{name}", view, value)

    if not TYPE_CHECKING:  # checkers know the attributes from `protocols.pyi`
        __getattr__ = _read
        __setattr__ = _write

    def _place(self, name: str) -> Place:
        """Where the field behind an attribute lives."""
        full = self._prefix + name
        place = self.arena.layout.places.get(full)
        if place is None:
            raise self._unknown(name, full)
        return place

    def _unknown(self, name: str, full: str) -> AttributeError:
        kind = type(self).__name__
        if full in self.specs:
            return NotKeptError(
                f"{full} is not kept by this plan: it lives only inside the fused kernel. "
                f'Make the simulation with keep=("{full}",), or keep="all"'
            )
        known = [f.removeprefix(self._prefix) for f in self.arena.layout.places if f.startswith(self._prefix)]
        return UnknownFieldError(f"{kind} has no field {name!r}{nearest(name, known)}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name, _ in self.fields())})

    def fields(self) -> Iterator[tuple[str, View]]:
        """Every field present, by full name, with its array view (scalars as 0-d or per-world arrays)."""
        self.arena.late.settle()
        for full, place in self.arena.layout.places.items():
            if full.startswith(self._prefix):
                yield full, self._view(place, full)

    def field(self, full: str) -> View:
        """The array view of one field by its full (dotted) name."""
        if not isinstance(full, str):
            raise ArgumentError(f"a field is asked for by its name, not by {shown(full)}")
        place = self.arena.layout.places.get(full)
        if place is None:
            raise self._unknown(full.removeprefix(self._prefix), full)
        if full in self.arena.late.names:
            self.arena.late.settle(full)
            place = self.arena.layout.places[full]
        return self._view(place, full)

    def __contains__(self, full: str) -> bool:
        return full in self.arena.layout.places
