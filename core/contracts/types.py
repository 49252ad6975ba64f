"""Model and Data: the declared fields, bound to arenas."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.arguments import as_whole, whole
from dovetail.contracts.arena import Arena, ArenaLayout
from dovetail.contracts.assigned import assign
from dovetail.contracts.bound import Bound, View
from dovetail.contracts.choices import Precision
from dovetail.contracts.data import DATA_GROUPS, DATA_PARTS
from dovetail.contracts.fields import Array, FieldSpec, specs_of
from dovetail.contracts.model import MODEL_GROUPS, MODEL_PARTS
from dovetail.contracts.named import Named
from dovetail.contracts.protocols import DataLike, DataObjects, ModelLike, ModelObjects
from dovetail.contracts.rows import COUNTS, Rows
from dovetail.contracts.sizes import CAPACITIES, SIZES
from dovetail.errors import (
    ArgumentError,
    UnknownFieldError,
    UnknownNameError,
    UnknownWorldError,
    nearest,
    shown,
)


def _all_specs(parts: tuple[type, ...], groups: Mapping[str, type]) -> Mapping[str, FieldSpec]:
    specs = [spec for part in parts for spec in specs_of(part)]
    specs += [spec for name, group in groups.items() for spec in specs_of(group, f"{name}.")]
    return MappingProxyType({spec.name: spec for spec in specs})


MODEL_SPECS = _all_specs(MODEL_PARTS, MODEL_GROUPS)
"""Every field of Model by full name, in order of declaration."""
DATA_SPECS = _all_specs(DATA_PARTS, DATA_GROUPS)
"""Every field of Data by full name."""
STATE = tuple(name for name, spec in DATA_SPECS.items() if spec.state)
"""The fields the next step depends on."""


def full_sizes(sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes with those derived from others filled in, and what was not said zero."""
    full = {name: int(sizes.get(name, 0)) for name in SIZES}
    for name, size in SIZES.items():
        if size.multiple_of is not None:
            base, times = size.multiple_of
            full[name] = times * full[base]
    return full


_BOUND_GROUPS = {
    name: type(cls.__name__, (Rows if name in COUNTS else Bound, cls), {})
    for name, cls in {**MODEL_GROUPS, **DATA_GROUPS}.items()
}


class Group(Bound):
    """A sub-structure that consists of others (`model.vis`)."""


def _bind_groups(owner: Bound, names: Mapping[str, type]) -> None:
    """Give a Model or Data its sub-objects (`model.opt`, `data.contact`, `model.vis.map`)."""
    for name in names:
        outer, _, inner = name.rpartition(".")
        holder = owner
        if outer:
            holder = owner.__dict__.get(outer) or _bind_group(owner, owner, outer, Group)
        _bind_group(owner, holder, name, _BOUND_GROUPS[name], inner)


def _bind_group(owner: Bound, holder: Bound, name: str, kind: type[Bound], attribute: str = "") -> Bound:
    group = kind()
    group._bind(owner.arena, owner.specs, prefix=f"{name}.", nworld=owner._nworld, world=owner._world)
    object.__setattr__(holder, attribute or name, group)
    return group


class Model(Bound, ModelObjects, ModelLike):
    """A compiled model: sizes and structure fixed, values editable in place and seen at the next step."""

    sizes: Mapping[str, int]
    object_names: Mapping[str, tuple[str, ...]]
    """Names by kind of object (`body`, `joint`, …), in order of ids."""
    modelname: str
    source: str
    """The file it came from, or `<string>`."""
    stages: Mapping[str, str]
    """What loading used, by slot: `name@backend/version`, `of` whom if not dovetail's, in brackets who asked."""

    def __init__(
        self,
        arena: Arena,
        sizes: Mapping[str, int],
        object_names: Mapping[str, tuple[str, ...]],
        modelname: str,
        source: str,
        stages: Mapping[str, str] | None = None,
        own: Iterable[FieldSpec] = (),
    ) -> None:
        self._bind(arena, {**MODEL_SPECS, **{spec.name: spec for spec in own}})
        set_ = object.__setattr__
        set_(self, "sizes", MappingProxyType(dict(sizes)))
        self.__dict__.update(sizes)
        set_(self, "object_names", MappingProxyType(dict(object_names)))
        set_(self, "modelname", modelname)
        set_(self, "source", source)
        set_(self, "stages", MappingProxyType(dict(stages or {})))
        _bind_groups(self, MODEL_GROUPS)

    @property
    def extra(self) -> Extra:
        """The fields that plugins added."""
        return Extra(self)

    def _write(self, name: str, value: Any) -> None:
        if name in self.sizes:
            raise UnknownFieldError(f"{name} is a size: it is fixed when the model is compiled")
        super()._write(name, value)

    if not TYPE_CHECKING:
        __setattr__ = _write

    @property
    def buffers(self) -> Mapping[str, Any]:
        """The packed numbers, one flat array per dtype: what kernels read."""
        return {dtype: buffer.reshape(-1) for dtype, buffer in self.arena.buffers.items()}

    @cached_property
    def _name_indices(self) -> dict[str, dict[str, int]]:
        return {
            kind: {name: i for i, name in enumerate(names) if name}
            for kind, names in self.object_names.items()
        }

    def name_index(self, kind: str) -> Mapping[str, int]:
        """Ids by name for one kind of object."""
        return self._name_indices.get(kind, {})

    @property
    def own_specs(self) -> tuple[FieldSpec, ...]:
        """The declarations of the fields that plugins added."""
        return tuple(self.specs[name] for name in self.extra)

    def copy(self) -> Model:
        """An independent clone: same numbers, memory of its own."""
        return Model(
            self.arena.copy(),
            self.sizes,
            self.object_names,
            self.modelname,
            self.source,
            self.stages,
            self.own_specs,
        )

    def __copy__(self) -> Model:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as numbers and names: views, and plans that were remembered, are made anew."""
        names, stages = dict(self.object_names), dict(self.stages)
        memory = self.arena.layout, self.arena.buffers
        described = dict(self.sizes), names, self.modelname, self.source, stages, self.own_specs
        return _unpickled, (*memory, *described)

    def save(self, path: str | Path) -> None:
        """Write the compiled model, with all names and settings, to one .npz file; see `dovetail.load_model`."""
        from dovetail.contracts import model_store

        model_store.save(self, path)

    def _named(self, kind: str, which: int | str) -> Named:
        return Named(self, self, kind, which)

    def __repr__(self) -> str:
        size = self.sizes
        return (
            f"<dovetail.Model {self.modelname!r}: nq={size['nq']} nv={size['nv']} nu={size['nu']} "
            f"nbody={size['nbody']} ngeom={size['ngeom']}>"
        )


def _unpickled_data(
    model: Model,
    memory: tuple[Any, ...],
    own: Mapping[str, FieldSpec],
    sizes: dict[str, int],
    nworld: int | None,
) -> Data:
    """A Data from what it is pickled as, in memory that is aligned again."""
    arena = Arena(*memory).copy()
    return Data(arena, {**DATA_SPECS, **own}, model, sizes, nworld=nworld, precision=arena.precision)


def _unpickled(layout: ArenaLayout, buffers: dict[str, Any], *described: Any) -> Model:
    """A Model from what it is pickled as, in memory that is aligned again."""
    return Model(Arena(layout, buffers, 1, subject="Model").copy(), *described)


class Data(Bound, DataObjects, DataLike):
    """The state of one world or of a batch, and everything computed from it."""

    model: Model
    sizes: Mapping[str, int]
    _sizes: dict[str, int]
    """Shared by a batch and its worlds, because capacities grow for all."""
    nworld: int | None
    precision: Precision
    number: int | None
    """Which world of a batch it shows, for messages; None for a batch and for a world of its own."""

    def __init__(
        self,
        arena: Arena,
        specs: Mapping[str, FieldSpec],
        model: Model,
        sizes: dict[str, int],
        *,
        nworld: int | None,
        precision: Precision,
        world: int = 0,
    ) -> None:
        self._bind(arena, specs, nworld=nworld, world=world)
        set_ = object.__setattr__
        set_(self, "model", model)
        set_(self, "_sizes", sizes)
        set_(self, "sizes", MappingProxyType(sizes))
        set_(self, "nworld", nworld)
        set_(self, "precision", precision)
        set_(self, "_worlds", {})
        set_(self, "_served_by", None)
        set_(self, "number", None)
        _bind_groups(self, DATA_GROUPS)

    @property
    def extra(self) -> Extra:
        """The fields that plugins added."""
        return Extra(self)

    @property
    def served_by(self) -> Any:
        """The plan that filled it last, if it still exists."""
        reference = self.__dict__["_served_by"]
        return None if reference is None else reference()

    def show_as(self, number: int) -> None:
        """Say which world of a batch it shows."""
        object.__setattr__(self, "number", number)

    def note_plan(self, plan: Any) -> None:
        """Remember which plan fills it."""
        object.__setattr__(self, "_served_by", weakref.ref(plan))

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the fields that the next step depends on."""
        return tuple(name for name in self.arena.layout.places if self.specs[name].state)

    def world(self, index: int) -> Data:
        """One world of a batch in MuJoCo's shapes, sharing this Data's memory."""
        number = as_whole(index)
        if number is None:
            raise ArgumentError(f"a world is given by its number, not as {shown(index)}")
        if not 0 <= number < (self.nworld or 1):
            if self.nworld is None:
                raise UnknownWorldError(f"this Data has one world; there is no world {shown(number)}")
            raise UnknownWorldError(f"world {shown(number)} is out of range: there are {self.nworld}")
        if self.nworld is None:
            return self
        worlds: dict[int, Data] = self.__dict__["_worlds"]
        if index not in worlds:
            worlds[index] = Data(
                self.arena,
                self.specs,
                self.model,
                self._sizes,
                nworld=None,
                precision=self.precision,
                world=index,
            )
            worlds[index].show_as(index)
        return worlds[index]

    def worlds(self) -> Iterator[Data]:
        """Each world in turn, as `world(i)`."""
        if self.nworld is None:
            yield self
        else:
            for index in range(self.nworld):
                yield self.world(index)

    def single(self) -> Data:
        """An empty Data of one world with the same fields and memory of its own."""
        arena = Arena.allocate(
            self.arena.layout.copy(), precision=self.precision, max_bytes=self.arena.max_bytes
        )
        return Data(arena, self.specs, self.model, dict(self.sizes), nworld=None, precision=self.precision)

    def reserve(self, **wanted: int) -> None:
        """Make room: `reserve(ncon_max=n)` before writing n contacts. What the growing fields held is kept; take
        their views afterwards, because they move. Other fields stay where they are. Of a batch, every world grows."""
        sizes = self._sizes
        for name, count in wanted.items():
            whole(name, count, 0)
        short = {name: count for name, count in wanted.items() if count > sizes.get(name, 0)}
        if not short:
            return
        unknown = [name for name in wanted if name not in CAPACITIES]
        if unknown:
            raise ArgumentError(f"{unknown[0]!r} is no capacity{nearest(unknown[0], CAPACITIES)}")
        grown = {name: max(count, sizes.get(name, 0) * 3 // 2 + 8) for name, count in short.items()}
        specs = [self.specs[name] for name in self.arena.layout.places]
        self.arena.grow(ArenaLayout.of(specs, {**sizes, **grown}))
        sizes.update(grown)

    def copy_from(self, other: Data) -> None:
        """Take over the numbers of a Data with the same fields and worlds."""
        if not isinstance(other, Data):
            raise ArgumentError(f"copy_from takes a Data, not {shown(other)}")
        other.arena.late.settle()  # which may make it larger
        self.reserve(**{name: other.sizes.get(name, 0) for name in CAPACITIES})
        self.arena.copy_from(other.arena)

    def copy_worlds(self, into: Array, other: Data, worlds: Array) -> None:
        """Take over all numbers of `worlds` of a batch with the same fields, into the worlds `into` of this one."""
        other.arena.late.settle()  # which may make it larger
        self.reserve(**{name: other.sizes.get(name, 0) for name in CAPACITIES})
        self.arena.copy_worlds(into, other.arena, worlds)

    def move_into(self, other: Data) -> None:
        """Live in the memory of another Data of the same model and worlds, which has other fields, from now on: what
        both have keeps its numbers. The object stays, its worlds and groups too; views of fields are to be taken
        again."""
        self.arena.late.settle()
        other.reserve(**{name: self.sizes.get(name, 0) for name in CAPACITIES})
        for name, place in other.arena.layout.places.items():
            if name in self:
                block = self.arena.block(self.arena.layout.places[name])
                _take_over(other.arena, place, block)
        for data in (self, *self.__dict__["_worlds"].values()):
            object.__setattr__(data, "_sizes", other._sizes)
            object.__setattr__(data, "sizes", other.sizes)
            for bound in (data, *(getattr(data, group) for group in DATA_GROUPS)):
                bound._rebind(other.arena, other.specs)

    def copy(self, model: Model | None = None) -> Data:
        """An independent clone: same numbers, memory of its own; the model is shared, or another of the same
        sizes."""
        if model is not None and model.sizes != self.model.sizes:
            raise ArgumentError("a Data can only be copied for a model of the same sizes")
        late = self.arena.late
        if model is not None or not hasattr(late.pending[1], "on"):
            late.settle()
        names, fill = late.pending
        clone = Data(
            self.arena.copy(settled=False),
            self.specs,
            self.model if model is None else model,
            dict(self.sizes),
            nworld=self.nworld,
            precision=self.precision,
            world=self._world,
        )
        if fill is not None:
            clone.arena.expect(names, fill.on(clone))
        return clone

    def save(self, path: str | Path, *, fields: str | Iterable[str] = "state") -> None:
        """Write the state (or `fields="all"`, or named fields besides it) to an .npz file."""
        from dovetail.contracts import store

        store.save(self, path, fields=fields)

    def load(self, path: str | Path) -> None:
        """Restore what `save` wrote; nothing is changed unless everything fits."""
        from dovetail.contracts import store

        store.load(self, path)

    def __copy__(self) -> Data:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Data:
        """A copy that shares nothing, with a copy of the model: the one that others deep-copied with it have."""
        return self.copy(copy.deepcopy(self.model, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as numbers, with the model; of a world of a batch, that world."""
        data = self if self.nworld is not None or self.arena.ntile * self.arena.lanes == 1 else self._alone()
        arena = data.arena
        arena.late.settle()
        own = {name: data.specs[name] for name in arena.layout.places if name not in DATA_SPECS}
        memory = arena.layout, arena.buffers, arena.lanes, arena.ntile, arena.precision, arena.max_bytes
        return _unpickled_data, (data.model, memory, own, dict(data.sizes), data.nworld)

    def _alone(self) -> Data:
        """A world of a batch as a Data of its own."""
        alone = self.single()
        for name, view in self.fields():
            alone.field(name)[...] = view
        return alone

    def _named(self, kind: str, which: int | str) -> Named:
        return Named(self, self.model, kind, which)

    def __repr__(self) -> str:
        worlds = "one world" if self.nworld is None else f"{self.nworld} worlds"
        return f"<dovetail.Data of {self.model.modelname!r}: {worlds}, {self.precision}>"


def _take_over(arena: Arena, place: Any, block: View) -> None:
    """Write a field of another arena, (ntile, count, W), into a place that may have more rows or other lanes."""
    worlds = np.asarray(block).transpose(0, 2, 1).reshape(block.shape[0] * block.shape[2], block.shape[1])
    target = arena.block(place)
    ntile, _, width = target.shape
    padded = np.zeros((ntile * width, block.shape[1]), worlds.dtype)
    count = min(len(padded), len(worlds))
    padded[:count] = worlds[:count]
    target[:, : block.shape[1]] = padded.reshape(ntile, width, block.shape[1]).transpose(0, 2, 1)


class Extra:
    """The fields that plugins added to a Model or Data, by their namespaced name: `data.extra["rk4:qpos"]`."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __getitem__(self, name: str) -> Array:
        if ":" not in name or name not in self._owner:
            names = list(self)
            raise UnknownNameError(f"no plugin field {name!r}{nearest(name, names)}")
        view: Array = self._owner.field(name)
        return view

    def __setitem__(self, name: str, value: Any) -> None:
        assign(name, self[name], value)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._owner.arena.layout.places if ":" in name)

    def __contains__(self, name: str) -> bool:
        return ":" in name and name in self._owner
