"""What follows from the declarations: building, validating and resetting Model and Data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dovetail import limits
from dovetail.arguments import choice, instance, texts_by_name, whole, words
from dovetail.contracts.arena import DEFAULT_MAX_BYTES, Arena, ArenaLayout
from dovetail.contracts.choices import PRECISIONS, Keep, Precision
from dovetail.contracts.fields import Array, FieldSpec, numpy_dtype
from dovetail.contracts.kernel_fields import imported
from dovetail.contracts.sizes import SIZES
from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS, Data, Model, full_sizes
from dovetail.errors import ArgumentError, ValidationError, nearest, shown

UNLIMITED = ("njmax", "nconmax")
"""Sizes that are -1 when nothing limits them."""

OF_MODEL = "model:"
"""Begins the names of Data fields that hold the values of a Model field in every world (see `per_world`)."""

MAX_COUNT = limits.MODEL_ARRAY
"""Largest number of entries in one field: indices are 32-bit, as MuJoCo's."""


def build_model(
    sizes: Mapping[str, int],
    values: Mapping[str, Any],
    *,
    object_names: Mapping[str, Sequence[str]] | None = None,
    modelname: str = "",
    source: str = "<values>",
    stages: Mapping[str, str] | None = None,
    own: Iterable[FieldSpec] | None = None,
    max_bytes: int = limits.MODEL_MEMORY,
    finite: bool = True,
) -> Model:
    """A Model from sizes and values by field name; every problem is reported at once. What is unsaid has the
    declared initial value. `stages`: what loading used, by slot. `own`: fields that plugins add; by default those of
    every installed plugin. `finite`: whether NaN and infinity are problems."""
    full = full_sizes(sizes)
    added = tuple(_installed_fields() if own is None else own)
    specs = {**MODEL_SPECS, **{spec.name: spec for spec in added}}
    problems = [
        f"size {name} = {sizes[name]} is negative"
        for name in sizes
        if sizes[name] < (-1 if name in UNLIMITED else 0)
    ]
    problems += [f"unknown size {n!r}{nearest(n, full)}" for n in sizes if n not in full]
    if not problems:
        problems = [*_too_large(specs.values(), full), *check_values(specs, full, values, finite)]
    if problems:
        raise ValidationError(f"model {modelname or source}", problems)
    full |= _counted_sizes(specs, full, values)
    arena = Arena.allocate(ArenaLayout.of(specs.values(), full), max_bytes=max_bytes, subject="Model")
    names = {kind: tuple(entries) for kind, entries in (object_names or {}).items()}
    model = Model(arena, full, names, modelname, source, stages, added)
    for spec in specs.values():
        if not isinstance(spec.init, str) and spec.init != 0:
            model.field(spec.name)[...] = spec.init
    for name, value in values.items():
        model.field(name)[...] = np.asarray(value).reshape(spec_shape(specs[name], full))
    return model


class _Values:
    """Values of a Model that is not built yet, under the names they will have."""

    def __init__(
        self,
        specs: Mapping[str, FieldSpec],
        sizes: Mapping[str, int],
        values: Mapping[str, Any],
        group: str = "",
    ) -> None:
        self._parts = specs, sizes, values
        self._group = group

    def __getattr__(self, name: str) -> Any:
        specs, sizes, values = self._parts
        name = self._group + name
        if name in sizes:
            return sizes[name]
        if name in specs:
            shape = spec_shape(specs[name], sizes)
            value = values.get(name, 0 if isinstance(specs[name].init, str) else specs[name].init)
            array = (
                np.broadcast_to(np.asarray(value), shape) if np.ndim(value) == 0 else np.reshape(value, shape)
            )
            return array if array.ndim else array[()]
        if any(known.startswith(f"{name}.") for known in specs):
            return _Values(specs, sizes, values, f"{name}.")
        raise AttributeError(name)


def _counted_sizes(
    specs: Mapping[str, FieldSpec], sizes: Mapping[str, int], values: Mapping[str, Any]
) -> dict[str, int]:
    """Sizes that follow from the Model's arrays."""
    view = _Values(specs, sizes, values)
    return {size.name: int(imported(size.number)(view)) for size in SIZES.values() if size.number}


def _installed_fields() -> Iterable[FieldSpec]:
    """The Model fields that installed plugins add."""
    from dovetail.registry import default_registry

    return default_registry().model_fields().values()


def spec_shape(spec: FieldSpec, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return spec.dims(sizes)


def _too_large(specs: Iterable[FieldSpec], sizes: Mapping[str, int]) -> list[str]:
    return [
        f"{spec.name} would have {spec.count(sizes):,} entries; at most {MAX_COUNT:,} are possible"
        for spec in specs
        if spec.count(sizes) > MAX_COUNT
    ]


def check_values(
    specs: Mapping[str, FieldSpec], sizes: Mapping[str, int], values: Mapping[str, Any], finite: bool = True
) -> list[str]:
    """What is wrong with arrays that shall fill declared fields: names, shapes, kinds, and NaN if it matters."""
    problems = []
    for name, value in values.items():
        spec = specs.get(name)
        if spec is None:
            problems.append(f"unknown field {name!r}{nearest(name, specs)}")
            continue
        problems += _check_array(spec, np.asarray(value), spec_shape(spec, sizes), finite)
    return problems


def _check_array(spec: FieldSpec, value: Array, shape: tuple[int, ...], finite: bool) -> list[str]:
    if value.shape != shape and not (value.size == np.prod(shape) and value.ndim == 1):
        dims = " × ".join(map(str, spec.shape)) or "scalar"
        return [f"{spec.name} has shape {value.shape}, should be {shape} ({dims})"]
    target = numpy_dtype(spec.dtype)
    if target.kind in "iu" and value.dtype.kind not in "iub":
        return [f"{spec.name} has dtype {value.dtype}, should be {target}"]
    if (
        target.kind in "iu"
        and value.size
        and (value.min() < np.iinfo(target).min or value.max() > np.iinfo(target).max)
    ):
        return [f"{spec.name} has values outside the range of {target}"]
    if value.dtype.kind not in "iubf":
        return [f"{spec.name} has dtype {value.dtype}, should be {target}"]
    return [f"{spec.name}{where} is {what}" for where, what in _not_finite(value)] if finite else []


def _not_finite(value: Array, limit: int = 3) -> list[tuple[str, str]]:
    """Places of NaN and infinity, the first few."""
    if value.dtype.kind != "f" or np.all(np.isfinite(value)):
        return []
    places = np.argwhere(~np.isfinite(value))[:limit]
    return [("".join(f"[{i}]" for i in place), str(value[tuple(place)])) for place in places]


def make_data(
    model: Model,
    nworld: int | None = None,
    *,
    precision: Precision = "f64",
    keep: Keep | Iterable[str] = "all",
    lanes: int = 1,
    extra: Iterable[FieldSpec] | None = None,
    capacity: Mapping[str, int] | None = None,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Data:
    """A Data in the reset state. `nworld` None gives MuJoCo's shapes, a number a leading axis of worlds.

    `keep`: `"all"`, `"state"`, or names of fields to have besides the state. `lanes`: worlds per tile. `extra`:
    fields that implementations add; by default those of every installed plugin.
    """
    instance("model", model, Model, "a dovetail.Model")
    if nworld is not None:
        nworld = whole("nworld", nworld, 1, "WORLDS", ", or None for one world")
    choice("precision", precision, PRECISIONS)
    lanes = whole("lanes", lanes, 1, "LANES")
    whole("max_bytes", max_bytes, 0)
    if extra is None:
        from dovetail.registry import default_registry

        extra = default_registry().data_fields().values()
    specs = {**DATA_SPECS, **{spec.name: spec for spec in extra}}
    sizes = {**model.sizes, **_checked_capacity(capacity)}
    wanted = kept_fields(keep, specs)
    ntile = 1 if nworld is None else -(-nworld // lanes)
    layout = ArenaLayout.of((s for s in specs.values() if s.name in wanted), sizes)
    arena = Arena.allocate(layout, ntile=ntile, lanes=lanes, precision=precision, max_bytes=max_bytes)
    data = Data(arena, specs, model, sizes, nworld=nworld, precision=precision)
    for name, place in layout.places.items():
        if name.startswith(OF_MODEL):
            value = np.asarray(model.field(name.removeprefix(OF_MODEL)))
            arena.block(place)[...] = value.reshape(1, place.count, 1)
    reset(model, data)
    return data


def _checked_capacity(capacity: object) -> dict[str, int]:
    given = texts_by_name("capacity", {} if capacity is None else capacity)
    return {name: whole(f"capacity {name}", count, 0) for name, count in given.items()}


def kept_fields(keep: str | Iterable[str], specs: Mapping[str, FieldSpec] = DATA_SPECS) -> frozenset[str]:
    """The names `keep` stands for: always the state, plus `all` or the named fields. `computed` is `all` for a plan
    that is not to compute anything only because it is kept (see `planner`)."""
    names = words("keep", keep)
    if not {"all", "computed"}.isdisjoint(names):
        return frozenset(specs)
    unknown = [n for n in names if n not in specs and n != "state"]
    if unknown:
        raise ValidationError("keep", [f"unknown field {n!r}{nearest(n, specs)}" for n in unknown])
    state = frozenset(name for name, spec in specs.items() if spec.state)
    return state | (frozenset(names) - {"state"})


MOCAP = ("mocap_pos", "mocap_quat")
"""Fields that start from the places of bodies."""


def initial_values(model: Model, spec: FieldSpec) -> Array | float:
    """The value of a Data field in one world after reset."""
    if isinstance(spec.init, str):
        return np.asarray(getattr(model, spec.init))
    if spec.name in MOCAP:
        return _mocap_rest(model, spec.name)
    return np.asarray(spec.init)


def _starts_at_zero(spec: FieldSpec) -> bool:
    """Whether a Data field is zero after reset, whatever the Model."""
    return not isinstance(spec.init, str) and spec.name not in MOCAP and not np.any(spec.init)


def _mocap_rest(model: Model, name: str) -> Array:
    """Where mocap bodies start: at their place in the model, whatever length an edited quaternion has."""
    bodies = np.flatnonzero(model.body_mocapid >= 0)
    if not model.nmocap:
        bodies = bodies[:0]
    elif len(bodies) != model.nmocap:
        from dovetail.contracts.indices import check_indices

        check_indices(model)
    order = bodies[np.argsort(model.body_mocapid[bodies])]
    return np.array((model.body_pos if name == "mocap_pos" else model.body_quat)[order])


def reset(
    model: Model,
    data: Data,
    keyframe: int | str | None = None,
    worlds: Sequence[int] | Array | None = None,
) -> None:
    """Put every field back to its initial value, then apply a keyframe; `worlds`: ids or a mask, default all.
    Values of the Model that worlds have for themselves stay."""
    instance("model", model, Model, "a dovetail.Model")
    instance("data", data, Data, "a dovetail.Data")
    key = None if keyframe is None else int(model.key(keyframe).id)
    data.arena.late.forget()
    data.arena.resets.count += 1
    chosen = chosen_worlds(data, worlds)
    if worlds is None:
        own = _own_values(data)
        for buffer in data.arena.buffers.values():
            buffer[...] = 0
        _restore(data, own)
        _fill(model, data, slice(None), slice(None))
    elif data.nworld is not None:
        tiles, lanes = np.divmod(np.array(chosen, int), data.arena.lanes)
        _fill(model, data, tiles, lanes)
    one_by_one = _starts_differ(data) or (worlds is not None and data.nworld is None)
    for world in chosen if one_by_one or key is not None else ():
        if one_by_one:
            _fill_one(model, data.world(world))
        if key is not None:
            _apply_keyframe(model, data.world(world), key)


def _own_values(data: Data) -> dict[str, Array]:
    """Values of the Model that worlds have for themselves."""
    places = data.arena.layout.places
    return {n: np.array(data.arena.block(place)) for n, place in places.items() if n.startswith(OF_MODEL)}


def _restore(data: Data, own: Mapping[str, Array]) -> None:
    for name, values in own.items():
        data.arena.block(data.arena.layout.places[name])[...] = values


def _fill(model: Model, data: Data, tiles: Array | slice, lanes: Array | slice) -> None:
    """Initial values in the worlds at some places: all, which are zero before (padding included, padding lanes
    compute too), or a list."""
    everywhere = isinstance(tiles, slice)
    for name, place in data.arena.layout.places.items():
        zero = everywhere and _starts_at_zero(data.specs[name])
        if not (zero or name.startswith(OF_MODEL)):
            value = np.broadcast_to(initial_values(model, data.specs[name]), place.shape)
            shape = (1, place.count, 1) if everywhere else (1, place.count)
            data.arena.block(place)[tiles, :, lanes] = value.reshape(shape)


def _fill_one(model: Model, data: Data) -> None:
    reset_fields(model, data, (name for name, _ in data.fields() if not name.startswith(OF_MODEL)))


def reset_fields(model: Model, data: Data, names: Iterable[str]) -> None:
    """Initial values of some fields of one world."""
    seen: Any = _Seen(model, data)
    for name in names:
        data.field(name)[...] = initial_values(seen, data.specs[name])


def _starts_differ(data: Data) -> bool:
    """Whether worlds start from values of their own."""
    return any(OF_MODEL + name in data for name in ("qpos0", "body_pos", "body_quat"))


class _Seen:
    """The Model as one world has it."""

    def __init__(self, model: Model, world: Data) -> None:
        self._model, self._world = model, world

    def __getattr__(self, name: str) -> Any:
        own = OF_MODEL + name
        return self._world.field(own) if own in self._world else getattr(self._model, name)


def chosen_worlds(data: Data, worlds: Sequence[int] | Array | None) -> list[int]:
    count = 1 if data.nworld is None else data.nworld
    if worlds is None:
        return list(range(count))
    chosen = _as_array("worlds", worlds)
    if chosen.dtype == bool:
        if chosen.shape != (count,):
            raise ValidationError("reset", [f"the mask has shape {chosen.shape}, should be ({count},)"])
        chosen = np.flatnonzero(chosen)
    if chosen.size and (chosen.dtype.kind not in "iu" or chosen.ndim != 1):
        raise ValidationError(
            "reset", [f"worlds = {shown(worlds)} should be a list of numbers of worlds, or a mask"]
        )
    outside = [int(w) for w in chosen if not 0 <= w < count]
    if outside:
        raise ValidationError("reset", [f"world {w} does not exist: there are {count}" for w in outside])
    return [int(w) for w in chosen]


def _as_array(name: str, value: object) -> Array:
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError) as problem:
        raise ArgumentError(f"{name} = {shown(value)} is no array: {problem}") from None


_KEYFRAME = {"qpos": "key_qpos", "qvel": "key_qvel", "act": "key_act", "ctrl": "key_ctrl", "time": "key_time"}


def _apply_keyframe(model: Model, data: Data, key: int) -> None:
    for field, source in _KEYFRAME.items():
        data.field(field)[...] = model.field(source)[key]
    if model.nmocap:
        data.mocap_pos[...] = model.key_mpos[key].reshape(-1, 3)
        data.mocap_quat[...] = model.key_mquat[key].reshape(-1, 4)


def validate(data: Data, fields: Iterable[str] | None = None) -> None:
    """Raise a ValidationError that lists every NaN or infinity, by world and object name."""
    problems: list[str] = []
    instance("data", data, Data, "a dovetail.Data")
    names = list(words("fields", fields)) if fields is not None else [n for n, _ in data.fields()]
    unknown = [n for n in names if n not in data]
    problems += [f"unknown or not kept: {n!r}{nearest(n, data.specs)}" for n in unknown]
    for name in names:
        if name in data:
            problems += bad_numbers(data, name)
    if problems:
        raise ValidationError(f"data of {data.model.modelname or data.model.source}", problems)


def bad_numbers(data: Data, name: str, limit: int = 5) -> list[str]:
    """NaN and infinity in one field, described with the names of the objects they belong to."""
    value = np.asarray(data.field(name))
    if value.dtype.kind != "f" or np.isfinite(value).all():
        return []
    found = []
    for place in np.argwhere(~np.isfinite(value))[:limit]:
        world, index = ("", place) if data.nworld is None else (f"world {place[0]}: ", place[1:])
        where = describe_index(data.model, data.specs[name], tuple(int(i) for i in index))
        found.append(f"{world}{name}{where} is {value[tuple(place)]}")
    rest = np.count_nonzero(~np.isfinite(value)) - len(found)
    if rest > 0:
        found.append(f"{name}: {rest} more")
    return found


def describe_index(model: Model, spec: FieldSpec, index: tuple[int, ...]) -> str:
    """`[3][0] (body "torso")`: an index and the object it belongs to."""
    text = "".join(f"[{i}]" for i in index)
    owner = _owner_of(model, spec, index)
    return f"{text} ({owner})" if owner else text


_OWNERS = {
    "nbody": "body",
    "njnt": "joint",
    "ngeom": "geom",
    "nsite": "site",
    "nu": "actuator",
    "ncam": "camera",
    "nlight": "light",
    "ntendon": "tendon",
    "nsensor": "sensor",
}


def _owner_of(model: Model, spec: FieldSpec, index: tuple[int, ...]) -> str:
    size = spec.shape[0] if spec.shape else None
    if size == "nv":
        return describe_object(model, "joint", int(model.dof_jntid[index[0]]))
    if size == "nq":
        return describe_object(
            model, "joint", int(np.searchsorted(model.jnt_qposadr, index[0], side="right")) - 1
        )
    if size in _OWNERS:
        return describe_object(model, _OWNERS[str(size)], index[0])
    return ""


def describe_object(model: Model, kind: str, index: int) -> str:
    """`body "torso"`, or `body 3` if it has no name."""
    names = model.object_names.get(kind, ())
    name = names[index] if index < len(names) else ""
    return f'{kind} "{name}"' if name else f"{kind} {index}"
