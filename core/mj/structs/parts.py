"""Structs that are parts of a model or of its data: options, statistics, visual settings, contacts, counters."""

from __future__ import annotations

from typing import Any

import attrs

from dovetail.contracts.fields import Array
from dovetail.contracts.types import DATA_SPECS, MODEL_SPECS, Data, Model
from dovetail.mj.enums import ENUMS
from dovetail.mj.structs.base import Member, Struct, members_of, shown
from dovetail.mj.structs.fields import fill, late_array
from dovetail.mj.structs.lasting import LateArray
from dovetail.mj.structs.lists import Arrays, StructList


def _of_model(prefix: str) -> tuple[Member, ...]:
    return members_of(MODEL_SPECS.values(), prefix)


def _zero(members: tuple[Member, ...]) -> tuple[Member, ...]:
    return tuple(attrs.evolve(member, default=None) for member in members)


class OfModel:
    """The memory of a struct that is a group of a Model's fields."""

    __slots__ = ("_model", "_prefix", "_views")

    def __init__(self, model: Model, prefix: str) -> None:
        self._model, self._prefix = model, prefix
        self._views: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        view: Any = self._views.get(name)
        if view is None:
            view = self._model.field(self._prefix + name)
            self._views[name] = view
        return view


class MjOption(Struct, members=_of_model("opt.")):
    """Options of the simulation."""

    __slots__ = ()

    _float_fields = tuple(m.name for m in _of_model("opt.") if m.dtype == "f8" and not m.shape)
    _floatarray_fields = tuple(m.name for m in _of_model("opt.") if m.shape)
    _int_fields = tuple(m.name for m in _of_model("opt.") if m.dtype != "f8")
    _all_fields = _float_fields + _floatarray_fields + _int_fields


class MjStatistic(Struct, members=_zero(_of_model("stat."))):
    """Sizes and masses by which pictures and tolerances are scaled."""

    __slots__ = ()


class Global(Struct, members=_of_model("vis.global_.")):
    """Visual settings of the whole picture."""

    __slots__ = ()


class Quality(Struct, members=_of_model("vis.quality.")):
    """How finely things are drawn."""

    __slots__ = ()


class Headlight(Struct, members=_of_model("vis.headlight.")):
    """The light at the camera."""

    __slots__ = ()


class Map(Struct, members=_of_model("vis.map.")):
    """How quantities become lengths and colours."""

    __slots__ = ()


class Scale(Struct, members=_of_model("vis.scale.")):
    """Sizes of what decorates the picture."""

    __slots__ = ()


class Rgba(Struct, members=_of_model("vis.rgba.")):
    """Colours of what decorates the picture."""

    __slots__ = ()


MjVisualHeadlight, MjVisualRgba = Headlight, Rgba

_VISUAL = {
    "global_": Global,
    "quality": Quality,
    "headlight": Headlight,
    "map": Map,
    "scale": Scale,
    "rgba": Rgba,
}


class MjVisual(Struct):
    """All visual settings of a model, part by part."""

    Global, Quality, Headlight, Map, Scale, Rgba = Global, Quality, Headlight, Map, Scale, Rgba
    __slots__ = tuple(_VISUAL)

    def __init__(self, model: Model | None = None) -> None:
        for name, kind in _VISUAL.items():
            part = kind() if model is None else kind.over(OfModel(model, f"vis.{name}."))
            object.__setattr__(self, name, part)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _VISUAL or type(value) is not _VISUAL[name]:
            raise AttributeError(f"MjVisual has the parts {', '.join(_VISUAL)}, which are changed in place")
        getattr(self, name).assign(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MjVisual) and all(getattr(self, n) == getattr(other, n) for n in _VISUAL)

    def __repr__(self) -> str:
        return shown(type(self).__name__, ((name, getattr(self, name)) for name in _VISUAL))

    def assign(self, other: Struct) -> None:
        for name in _VISUAL:
            getattr(self, name).assign(getattr(other, name))

    def __copy__(self) -> MjVisual:
        made = MjVisual()
        made.assign(self)
        return made

    def __reduce__(self) -> Any:
        return _visual, tuple(getattr(self, name).__copy__() for name in _VISUAL)


def _visual(*parts: Struct) -> MjVisual:
    made = MjVisual()
    for name, part in zip(_VISUAL, parts, strict=True):
        getattr(made, name).assign(part)
    return made


# ---- parts of data


class MjContact(Struct, members=members_of(DATA_SPECS.values(), "contact.", rows=True)):
    """One contact: a row of `data.contact`, or one of its own."""

    __slots__ = ()


class MjSolverStat(Struct, members=members_of(DATA_SPECS.values(), "solver.", rows=True)):
    """What the solver did in one iteration."""

    __slots__ = ()


class MjWarningStat(Struct, members=(Member("lastinfo", "i4"), Member("number", "i4"))):
    """How often a warning was given, and what it was about."""

    __slots__ = ()


class MjTimerStat(Struct, members=(Member("duration", "f8"), Member("number", "i4"))):
    """How often something ran, and how long it took altogether."""

    __slots__ = ()


class _MjContactList(StructList, kind=MjContact):
    """The contacts of a Data."""

    __slots__ = ()


class _MjSolverStatList(StructList, kind=MjSolverStat):
    """Statistics of the solver, iteration by iteration, island by island."""

    __slots__ = ()


class _MjWarningStatList(StructList, kind=MjWarningStat):
    """Warnings by number (`mjtWarning`)."""

    __slots__ = ()


class _MjTimerStatList(StructList, kind=MjTimerStat):
    """Timers by number (`mjtTimer`)."""

    __slots__ = ()


class Contacts:
    """The contacts of a Data as a source of rows."""

    def __init__(self, data: Data) -> None:
        self._data = data

    def count(self) -> int:
        return int(self._data.ncon)

    def array(self, name: str) -> Array:
        rows: Array = getattr(self._data.contact, name)
        return rows


class SolverStats:
    """What the solver did, as a source of rows."""

    def __init__(self, data: Data) -> None:
        self._data = data
        self._rows: dict[str, LateArray] = {}

    def count(self) -> int:
        return self._data.arena.layout.places["solver.neval"].count

    def array(self, name: str) -> Array:
        field = f"solver.{name}"
        if name not in self._rows:
            rows: Any = self._data.field(field)
            self._rows[name] = late_array(self._data, rows.reshape(-1), field)
        fill(self._data, field)
        return self._rows[name]


def fresh_warnings() -> _MjWarningStatList:
    """No warning yet."""
    return _MjWarningStatList(_counters(MjWarningStat, ENUMS["mjtWarning"].mjNWARNING))


def fresh_timers() -> _MjTimerStatList:
    """Nothing has run yet."""
    return _MjTimerStatList(_counters(MjTimerStat, ENUMS["mjtTimer"].mjNTIMER))


def _counters(kind: type[Struct], count: int) -> Arrays:
    members = kind._members.values()
    return Arrays({m.name: Member(m.name, m.dtype, (int(count),)).made() for m in members})


class MjLROpt(
    Struct,
    members=(
        Member("mode", "i4"),
        Member("useexisting", "i4"),
        Member("uselimit", "i4"),
        *(
            Member(name)
            for name in ("accel", "maxforce", "timeconst", "timestep", "inttotal", "interval", "tolrange")
        ),
    ),
):
    """How the ranges of actuators' lengths are found."""

    __slots__ = ()
