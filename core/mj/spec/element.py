"""What every element of a spec has: its attributes, its place in the tree, and the spec it belongs to."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dovetail.errors import ArgumentError, UnknownFieldError, nearest
from dovetail.mj.spec.fields import Choice, Field, Numbers, Part, Text
from dovetail.mj.spec.problems import SpecError

if TYPE_CHECKING:
    from dovetail.mj.spec.defaults import MjsDefault
    from dovetail.mj.spec.settings import MjsCompiler
    from dovetail.mj.spec.spec import MjSpec
    from dovetail.mj.spec.tree import MjsBody, MjsFrame

ORIENTATIONS = ("axisangle", "xyaxes", "zaxis", "euler")
"""Ways to write an orientation besides a quaternion, in the order of mjtOrientation."""
_SERIAL = itertools.count()


class Record:
    """A bundle of attributes; an unknown one is an error that names the nearest."""

    FIELDS: ClassVar[Mapping[str, Field]] = {}
    LAST: ClassVar[tuple[str, ...]] = ("info",)
    """Attributes that MuJoCo lists at the end."""
    _values: dict[str, Any]

    def __init_subclass__(cls) -> None:
        own = {name: field for name, field in vars(cls).items() if isinstance(field, Field)}
        every = {**cls.FIELDS, **own}
        cls.FIELDS = {
            **{name: field for name, field in every.items() if name not in cls.LAST},
            **{name: every[name] for name in cls.LAST if name in every},
        }

    def __init__(self) -> None:
        self._values = {name: field.initial() for name, field in self.FIELDS.items()}

    def _alive(self) -> None:
        """Whether it can still be used; only elements can be deleted."""

    def _read(self, field: Field) -> Any:
        return self._values[field.name]

    def _write(self, field: Field, value: Any) -> None:
        if isinstance(field, Numbers):
            self._values[field.name][...] = value  # arrays that somebody holds stay those of the element
        else:
            self._values[field.name] = value

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            raise UnknownFieldError(
                f"'{type(self).__name__}' object has no attribute '{name}'{nearest(name, self.FIELDS)}"
            )
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = [word for word in dir(type(self)) if not word.startswith("_")]
        raise UnknownFieldError(
            f"'{type(self).__name__}' object has no attribute '{name}'{nearest(name, known)}"
        )

    def _take(self, other: Record) -> None:
        """Have the same values as another one of the kind."""
        for name, field in self.FIELDS.items():
            self._values[name] = field.copied(other._values[name])

    def copied(self) -> Any:
        """Another one with the same values."""
        new = type(self)()
        new._take(self)
        return new


class MjsOrientation(Record):
    """An orientation in another way than by a quaternion; `type` says in which."""

    type = Choice("mjtOrientation", 0)
    axisangle = Numbers([0.0] * 4)
    xyaxes = Numbers([0.0] * 6)
    zaxis = Numbers([0.0] * 3)
    euler = Numbers([0.0] * 3)

    @property
    def chosen(self) -> tuple[str, tuple[float, ...]] | None:
        """The way that counts, with its numbers; None for the quaternion."""
        if not int(self.type):
            return None
        word = ORIENTATIONS[int(self.type) - 1]
        return word, tuple(self._values[word].tolist())

    def choose(self, word: str, numbers: Any) -> None:
        """Set one of the ways."""
        setattr(self, word, numbers)
        field = MjsOrientation.FIELDS["type"]
        assert isinstance(field, Choice)
        self.type = field.enum(ORIENTATIONS.index(word) + 1)


class Element(Record):
    """Something in a spec."""

    KIND: ClassVar[str] = ""
    name = Text()
    info = Text("")

    def __init__(self, spec: MjSpec | None = None) -> None:
        super().__init__()
        self._spec = spec
        self._settings: MjsCompiler | None = spec.compiler if spec is not None else None
        self._class: MjsDefault | None = None
        self._place: tuple[str, int] = ("", 0)
        self._id = -1
        self._serial = next(_SERIAL)
        """A number that no other element has, also after this one is gone."""
        self._deleted = False

    @property
    def id(self) -> int:
        """Number among those of its kind: of what stands in bodies since the last compile, else −1."""
        if self._spec is not None and self.KIND in self._spec._lists:
            listed = self._spec._lists[self.KIND]
            return next((number for number, other in enumerate(listed) if other is self), -1)
        return self._id

    @property
    def signature(self) -> int:
        """Number that stands for the structure of the spec; that of a model compiled from it is the same."""
        return self._owner()._signature()

    @property
    def classname(self) -> MjsDefault:
        """Default class of the element."""
        return self._class or self._owner().default

    @classname.setter
    def classname(self, value: MjsDefault) -> None:
        from dovetail.mj.spec.defaults import MjsDefault

        self._alive()
        if not isinstance(value, MjsDefault):
            raise ArgumentError("classname takes a default class, as spec.find_default(name) gives")
        self._class = value

    def _owner(self) -> MjSpec:
        self._alive()
        if self._spec is None:
            raise SpecError(f"this {self.KIND} belongs to no spec")
        return self._spec

    def _alive(self) -> None:
        if self._deleted:
            raise SpecError(
                f"this {self.KIND} ({self._values['name'] or 'without name'}) was deleted from its spec"
            )

    def _read(self, field: Field) -> Any:
        self._alive()
        return self._values[field.name]

    def _write(self, field: Field, value: Any) -> None:
        if field.name == "name" and self._spec is not None:
            self._spec._rename(self, value)
        super()._write(field, value)

    def _apply(self, keywords: Mapping[str, Any]) -> None:
        """Set attributes from the keywords of an `add_…`."""
        known = self._keywords()
        for key in keywords:
            if key not in known:
                raise ArgumentError(f"Invalid {key} keyword argument. Valid options are: {', '.join(known)}.")
        for part in ("", "i"):
            given = [part + word for word in ORIENTATIONS if part + word in keywords]
            if len(given) > 1:
                names = [part + word for word in ORIENTATIONS]
                raise ArgumentError(f"Only one of: {', '.join(names[:3])}, or{names[3]} can be set.")
        for key, value in keywords.items():
            if key in self.FIELDS:
                self.FIELDS[key].from_keyword(self, value)
            else:
                self._orient(key, value)

    def _orient(self, key: str, value: Any) -> None:
        word = key if key in ORIENTATIONS else key[1:]
        part: MjsOrientation = self._values["alt" if word == key else "ialt"]
        size = MjsOrientation.FIELDS[word].default.size
        if np.ndim(value) == 0 or isinstance(value, str):
            raise ArgumentError(f"{key} should be a list/array.")
        if np.size(value) != size:
            raise ArgumentError(f"{key} should be a list/array of size {size}.")
        part.choose(word, value)

    @classmethod
    def _keywords(cls) -> list[str]:
        """Names of keyword arguments, in MuJoCo's order."""
        names: list[str] = []
        for name, field in cls.FIELDS.items():
            if isinstance(field, Part) and field.kind is MjsOrientation:
                names += [name.removesuffix("alt") + word for word in ORIENTATIONS]
            else:
                names.append(name)
        return names

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._values['name']!r}>"


class TreeElement(Element):
    """Something that stands in a body, perhaps in a frame of it."""

    def __init__(self, spec: MjSpec | None = None) -> None:
        super().__init__(spec)
        self._parent: MjsBody | None = None
        self._frame: MjsFrame | None = None

    @property
    def parent(self) -> Any:
        """The body that it stands in."""
        self._alive()
        return self._parent

    @property
    def frame(self) -> Any:
        """The frame that it stands in, if any."""
        self._alive()
        return self._frame

    def set_frame(self, frame: MjsFrame) -> None:
        """Put it into a frame of its body."""
        from dovetail.mj.spec.tree import MjsFrame

        owner = self._owner()
        if not isinstance(frame, MjsFrame):
            raise ArgumentError("set_frame takes a frame")
        frame._alive()
        if frame._parent is not self._parent:
            raise SpecError(f"the frame stands in another body than this {self.KIND}")
        here: MjsFrame | None = frame
        while here is not None:
            if here is self:
                raise SpecError("a frame cannot stand in itself")
            here = here._frame
        self._frame = frame
        owner._changed()
