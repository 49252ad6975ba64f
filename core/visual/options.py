"""What of a model is drawn (mjvOption): groups, flags, frames, labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

import attrs
import numpy as np

from dovetail.arguments import whole
from dovetail.contracts.fields import Array
from dovetail.errors import ArgumentError, UnknownNameError, nearest, shown

GROUPS = 6
"""Groups of each kind of object (mjNGROUP)."""


class VisFlag(IntEnum):
    """What can be switched on and off (mjtVisFlag)."""

    CONVEXHULL = 0
    TEXTURE = 1
    JOINT = 2
    CAMERA = 3
    ACTUATOR = 4
    ACTIVATION = 5
    LIGHT = 6
    TENDON = 7
    RANGEFINDER = 8
    CONSTRAINT = 9
    INERTIA = 10
    SCLINERTIA = 11
    PERTFORCE = 12
    PERTOBJ = 13
    CONTACTPOINT = 14
    ISLAND = 15
    CONTACTFORCE = 16
    CONTACTSPLIT = 17
    TRANSPARENT = 18
    AUTOCONNECT = 19
    COM = 20
    SELECT = 21
    STATIC = 22
    SKIN = 23
    FLEXVERT = 24
    FLEXEDGE = 25
    FLEXFACE = 26
    FLEXSKIN = 27
    BODYBVH = 28
    MESHBVH = 29
    SDFITER = 30


class Frame(IntEnum):
    """Whose frames are drawn (mjtFrame)."""

    NONE = 0
    BODY = 1
    GEOM = 2
    SITE = 3
    CAMERA = 4
    LIGHT = 5
    CONTACT = 6
    WORLD = 7


class Label(IntEnum):
    """What is labelled (mjtLabel)."""

    NONE = 0
    BODY = 1
    JOINT = 2
    GEOM = 3
    SITE = 4
    CAMERA = 5
    LIGHT = 6
    TENDON = 7
    ACTUATOR = 8
    CONSTRAINT = 9
    FLEX = 10
    SKIN = 11
    SELECTION = 12
    SELPNT = 13
    CONTACTPOINT = 14
    CONTACTFORCE = 15
    ISLAND = 16


class Category(IntEnum):
    """Kinds of elements, as bits (mjtCatBit): what cannot move, what can, and marks."""

    STATIC = 1
    DYNAMIC = 2
    DECOR = 4
    ALL = 7


ON_BY_DEFAULT = frozenset(
    {"TEXTURE", "TENDON", "RANGEFINDER", "PERTOBJ", "STATIC", "SKIN", "FLEXEDGE", "FLEXSKIN"}
)
"""Flags that are on if nobody says otherwise (mjv_defaultOption)."""
FIRST_GROUPS = (1, 1, 1, 0, 0, 0)
"""Groups that are drawn if nobody says otherwise."""
KINDS_OF_GROUPS = (
    "geomgroup",
    "sitegroup",
    "jointgroup",
    "tendongroup",
    "actuatorgroup",
    "flexgroup",
    "skingroup",
)


def _as_flag(which: int | str) -> VisFlag:
    if isinstance(which, str):
        name = which.upper().removeprefix("MJVIS_")
        if name not in VisFlag.__members__:
            words = [flag.name.lower() for flag in VisFlag]
            raise UnknownNameError(f"no visual flag is named {shown(which)}{nearest(which.lower(), words)}")
        return VisFlag[name]
    try:
        return VisFlag(int(which))
    except (TypeError, ValueError):
        raise UnknownNameError(
            f"there is no visual flag {shown(which)}: they are 0 to {len(VisFlag) - 1}"
        ) from None


class Flags:
    """The flags by name or number: `flags["contactpoint"] = True`, `flags[VisFlag.JOINT]`."""

    def __init__(self, given: Mapping[Any, Any] | Iterable[Any] | None = None) -> None:
        self.values = np.array([flag.name in ON_BY_DEFAULT for flag in VisFlag])
        if isinstance(given, Flags):
            self.values[:] = given.values
        elif isinstance(given, Mapping):
            for which, on in given.items():
                self[which] = on
        elif given is not None:
            values = np.asarray(given)
            if values.shape != self.values.shape:
                raise ArgumentError(
                    f"flags has shape {values.shape}: give one value for each of the {len(VisFlag)} flags, or a "
                    "mapping of names, {'contactpoint': True}"
                )
            self.values[:] = values.astype(bool)

    def __getitem__(self, which: int | str) -> bool:
        return bool(self.values[_as_flag(which)])

    def __setitem__(self, which: int | str, on: Any) -> None:
        self.values[_as_flag(which)] = bool(on)

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and bool((self.values == other.values).all())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Flags({', '.join(flag.name.lower() for flag in VisFlag if self.values[flag])})"


def _groups(value: Any) -> Array:
    groups = np.asarray(value)
    if groups.shape != (GROUPS,):
        raise ArgumentError(f"groups are {GROUPS} truth values, not {shown(value)}")
    return groups.astype(bool)


def _frame(value: Any) -> Frame:
    return _one_of(Frame, "frame", value)


def _label(value: Any) -> Label:
    return _one_of(Label, "label", value)


def _one_of(kind: Any, name: str, value: Any) -> Any:
    if isinstance(value, str):
        if value.upper() in kind.__members__:
            return kind[value.upper()]
        words = [member.name.lower() for member in kind]
        raise ArgumentError(f"{name} = {shown(value)} should be one of {tuple(words)}{nearest(value, words)}")
    try:
        return kind(int(value))
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} = {shown(value)} should be a number from 0 to {len(kind) - 1}") from None


SAME = attrs.cmp_using(eq=np.array_equal)


def _depth(value: Any) -> int:
    return whole("bvh_depth", value, 0)


@attrs.define
class VisualOptions:
    """What is drawn. Names and defaults are those of MuJoCo's MjvOption."""

    geomgroup: Array = attrs.field(default=FIRST_GROUPS, converter=_groups, eq=SAME)
    sitegroup: Array = attrs.field(default=FIRST_GROUPS, converter=_groups, eq=SAME)
    jointgroup: Array = attrs.field(default=FIRST_GROUPS, converter=_groups, eq=SAME)
    tendongroup: Array = attrs.field(default=FIRST_GROUPS, converter=_groups, eq=SAME)
    actuatorgroup: Array = attrs.field(default=FIRST_GROUPS, converter=_groups, eq=SAME)
    flexgroup: Array = attrs.field(default=FIRST_GROUPS, converter=_groups, eq=SAME)
    skingroup: Array = attrs.field(default=FIRST_GROUPS, converter=_groups, eq=SAME)
    flags: Flags = attrs.field(factory=Flags, converter=Flags)
    frame: Frame = attrs.field(default=Frame.NONE, converter=_frame)
    label: Label = attrs.field(default=Label.NONE, converter=_label)
    flex_layer: int = attrs.field(default=0, converter=int)
    bvh_depth: int = attrs.field(default=1, converter=_depth)

    @classmethod
    def of(cls, options: Any = None) -> VisualOptions:
        """The options that somebody gives: these, an object with the same attributes (MuJoCo's MjvOption), a
        mapping of attributes, or None for the defaults."""
        if options is None:
            return cls()
        if isinstance(options, VisualOptions):
            return options
        names = [field.name for field in attrs.fields(cls)]
        if isinstance(options, Mapping):
            unknown = [str(name) for name in options if name not in names]
            if unknown:
                raise ArgumentError(f"no visual option is named {unknown[0]!r}{nearest(unknown[0], names)}")
            return cls(**options)
        missing = [name for name in names if not hasattr(options, name)]
        if missing:
            raise ArgumentError(
                f"options = {shown(options)} should be VisualOptions or something with its attributes; "
                f"there is no {missing[0]}"
            )
        return cls(**{name: getattr(options, name) for name in names})

    def shows(self, flag: VisFlag) -> bool:
        """Whether a flag is on."""
        return bool(self.flags.values[flag])
