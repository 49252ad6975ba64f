"""`MjSpec`: a model that can be edited, and compiled as often as one likes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from dovetail.errors import ArgumentError, listing, nearest, shown
from dovetail.mj.spec.defaults import PROTOTYPES, MjsDefault
from dovetail.mj.spec.element import Element, MjsOrientation, Record
from dovetail.mj.spec.fields import Text, Whole
from dovetail.mj.spec.lists import (
    MjsActuator,
    MjsEquality,
    MjsExclude,
    MjsFlex,
    MjsHField,
    MjsKey,
    MjsMaterial,
    MjsMesh,
    MjsNumeric,
    MjsPair,
    MjsPlugin,
    MjsSensor,
    MjsSkin,
    MjsText,
    MjsTexture,
    MjsTuple,
)
from dovetail.mj.spec.problems import SpecError
from dovetail.mj.spec.settings import MjOption, MjsCompiler, MjStatistic, MjVisual
from dovetail.mj.spec.tendon import MjsTendon
from dovetail.mj.spec.tree import CHILD_KINDS, MjsBody, MjsFrame, MjsSite

LISTED: dict[str, Any] = {
    kind.KIND: kind
    for kind in (
        MjsPlugin,
        MjsMesh,
        MjsHField,
        MjsSkin,
        MjsTexture,
        MjsMaterial,
        MjsFlex,
        MjsPair,
        MjsExclude,
        MjsEquality,
        MjsTendon,
        MjsActuator,
        MjsSensor,
        MjsNumeric,
        MjsText,
        MjsTuple,
        MjsKey,
    )
}
"""Kinds of elements outside of the tree."""
PLURALS = {"body": "bodies", "mesh": "meshes", "flex": "flexes", "equality": "equalities"}
"""How the lists are called whose names have more than an s at the end."""
_NAMED_BY_FILE = ("mesh", "hfield", "skin", "texture")


class MjSpec(Record):
    """An editable model: a tree of bodies, lists of all else, default classes and settings.

    Elements are objects; their attributes have the values that the model will have, those of their default class
    included, in the units of `compiler`. `compile()` makes an MjModel of what stands here at that moment.
    """

    LAST = ()
    modelname = Text()
    comment = Text()
    modelfiledir = Text()
    strippath = Whole(0)
    memory = Whole(-1)
    njmax = Whole(-1)
    nconmax = Whole(-1)
    nstack = Whole(-1)
    nemax = Whole(0)
    nuserdata = Whole(0)
    nkey = Whole(0)
    nuser_body = Whole(-1)
    nuser_jnt = Whole(-1)
    nuser_geom = Whole(-1)
    nuser_site = Whole(-1)
    nuser_cam = Whole(-1)
    nuser_tendon = Whole(-1)
    nuser_actuator = Whole(-1)
    nuser_sensor = Whole(-1)
    hasImplicitPluginElem = Whole(0)  # noqa: N815 - MuJoCo's name

    def __init__(self) -> None:
        super().__init__()
        self._values["modelname"] = "MuJoCo Model"
        self._compiler, self._option, self._visual = MjsCompiler(), MjOption(), MjVisual()
        self._stat = MjStatistic()
        self._assets: dict[str, Any] = {}
        self._plugins_used: list[str] = []
        self._copies = False
        self._overrides = True
        self._parent: MjSpec | None = None
        self._twin = False
        """Whether it is a copy out of which a part goes back into the original."""
        self._version, self._signed = 0, (-1, 0)
        self._known: dict[str, dict[str, int]] | None = None
        self._pending: list[tuple[MjsKey, Any]] = []
        self._layouts: dict[str, dict[int, tuple[int, int]]] = {}
        self._lists: dict[str, list[Any]] = {kind: [] for kind in LISTED}
        self._default = MjsDefault(self, "main")
        self._world = MjsBody(self)
        self._world._values.update(name="world", childclass="main")
        self._world._id = 0

    # reading and writing

    @staticmethod
    def from_string(
        xml: str,
        include: Mapping[str, bytes] | None = None,
        assets: Mapping[str, Any] | None = None,
    ) -> MjSpec:
        """A spec from MJCF text; `include` has the files that it includes, `assets` those that assets name."""
        from dovetail.mj.spec.reading import read_text

        return read_text(xml, include, assets)

    @staticmethod
    def from_file(
        filename: str | Path,
        include: Mapping[str, bytes] | None = None,
        assets: Mapping[str, Any] | None = None,
    ) -> MjSpec:
        """A spec from an MJCF file."""
        from dovetail.mj.spec.reading import read_file

        return read_file(filename, include, assets)

    @staticmethod
    def from_zip(file: Any) -> MjSpec:
        """A spec from a zip file with one model and its assets."""
        from dovetail.mj.spec.reading import read_zip

        return read_zip(file)

    def to_xml(self) -> str:
        """The spec as MJCF text."""
        from dovetail.mj.spec.writing import to_text

        return to_text(self)

    def to_file(self, filename: str | Path) -> None:
        """Write the spec as an MJCF file."""
        from dovetail import files

        text = self.to_xml().encode()
        with files.replacing(files.checked_path(filename)) as handle:
            handle.write(text)

    def to_zip(self, file: Any) -> None:
        """Write the spec with its assets into a zip file."""
        from dovetail.mj.spec.reading import write_zip

        write_zip(self, file)

    def copy(self) -> MjSpec:
        """Another spec with the same content, which shares nothing with this one."""
        from dovetail.mj.spec.copying import copy_spec

        return copy_spec(self)[0]

    __copy__ = copy

    def __deepcopy__(self, memory: dict[int, Any]) -> MjSpec:
        return self.copy()

    def compile(self) -> Any:
        """An MjModel of the spec as it is now."""
        from dovetail.mj.spec.compiling import compile_spec

        return compile_spec(self)

    def recompile(self, model: Any, data: Any) -> tuple[Any, Any]:
        """A new MjModel, and an MjData for it in which all that was there before keeps its state."""
        from dovetail.mj.spec.compiling import recompile_spec

        return recompile_spec(self, model, data)

    @staticmethod
    def resolve_orientation(
        degree: bool, sequence: Iterable[str] | None = None, orientation: MjsOrientation | None = None
    ) -> list[float]:
        """The quaternion of an orientation that is given in another way."""
        from dovetail.mj.spec.units import quaternion

        if not isinstance(orientation, MjsOrientation):
            raise ArgumentError("resolve_orientation takes an orientation, as body.alt")
        return list(quaternion(orientation, bool(degree), "".join(sequence or "xyz")) or (1.0, 0.0, 0.0, 0.0))

    # settings

    @property
    def compiler(self) -> MjsCompiler:
        """How the spec is compiled."""
        return self._compiler

    @property
    def option(self) -> Any:
        """Options of the simulation."""
        return self._option

    @property
    def visual(self) -> Any:
        """How the model is drawn."""
        return self._visual

    @property
    def stat(self) -> MjStatistic:
        """Statistics that are given, not computed."""
        return self._stat

    @property
    def meshdir(self) -> str:
        """Folder of mesh files."""
        return str(self._compiler.meshdir)

    @meshdir.setter
    def meshdir(self, value: str) -> None:
        self._compiler.meshdir = value

    @property
    def texturedir(self) -> str:
        """Folder of texture files."""
        return str(self._compiler.texturedir)

    @texturedir.setter
    def texturedir(self, value: str) -> None:
        self._compiler.texturedir = value

    @property
    def assets(self) -> dict[str, Any]:
        """Files that assets name, by their names; texts or bytes."""
        return self._assets

    @assets.setter
    def assets(self, value: Mapping[str, Any]) -> None:
        if not isinstance(value, Mapping):
            raise ArgumentError(f"assets takes a dictionary of texts or bytes by name, not {shown(value)}")
        self._assets = dict(value)

    @property
    def override_assets(self) -> bool:
        """Whether files of an attached spec may replace those of the same name here."""
        return self._overrides

    @override_assets.setter
    def override_assets(self, value: bool) -> None:
        self._overrides = bool(value)

    @property
    def copy_during_attach(self) -> bool:
        """Whether attaching takes a copy, so that the attached spec stays as it is."""
        return self._copies

    @copy_during_attach.setter
    def copy_during_attach(self, value: bool) -> None:
        self._copies = bool(value)

    @property
    def parent(self) -> MjSpec | None:
        """The spec that this one was attached to."""
        return self._parent

    @property
    def _address(self) -> int:
        return id(self)

    # the tree and the lists

    @property
    def worldbody(self) -> MjsBody:
        """The world."""
        return self._world

    def _of_kind(self, kind: str) -> list[Any]:
        if kind in self._lists:
            return list(self._lists[kind])
        if kind == "body":
            return list(self._world._subtree())
        return [child for body in self._world._subtree() for child in body._children[kind]]

    def _find(self, kind: str, name: str) -> Any:
        if not isinstance(name, str):
            raise ArgumentError(f"a {kind} is looked for by its name, not by {shown(name)}")
        for element in self._of_kind(kind):
            values = element._values
            if values["name"] == name:
                return element
            if not values["name"] and kind in _NAMED_BY_FILE and _stem(values["file"]) == name:
                return element
        return None

    def _added(self, element: Element) -> None:
        self._version += 1
        name = element._values["name"]
        if self._known is not None and name:
            names = self._known.setdefault(element.KIND, {})
            names[name] = names.get(name, 0) + 1

    def _changed(self) -> None:
        """The structure is another one: what was remembered of it no longer counts."""
        self._version += 1
        self._known = None

    def _rename(self, element: Element, name: str) -> None:
        """Note the new name of an element; two of a kind cannot have the same."""
        if element is self._world:
            raise SpecError("the world cannot be renamed")
        if self._known is None:
            self._known = {}
            for kind in (*CHILD_KINDS, *LISTED):
                names = self._known[kind] = {}
                for other in self._of_kind(kind):
                    word = other._values["name"]
                    names[word] = names.get(word, 0) + 1
        names = self._known.setdefault(element.KIND, {})
        old = element._values["name"]
        if name and name != old and names.get(name):
            raise SpecError(f"Error: repeated name '{name}' in {element.KIND}; names must be unique")
        names[old] = names.get(old, 1) - 1
        names[name] = names.get(name, 0) + 1
        self._version += 1

    def _signature(self) -> int:
        """A number for the structure: the kinds and names of all elements in order."""
        if self._signed[0] != self._version:
            import hashlib

            words = hashlib.sha256()
            for kind in (*CHILD_KINDS, *LISTED):
                for element in self._of_kind(kind):
                    words.update(f"{kind}\0{element._values['name']}\0".encode())
            self._signed = self._version, int.from_bytes(words.digest()[:7], "little") + 1
        return self._signed[1]

    # default classes

    @property
    def default(self) -> MjsDefault:
        """The top default class."""
        return self._default

    def find_default(self, name: str) -> MjsDefault | None:
        """The default class of that name, if there is one."""
        return next((found for found in self._default._all() if found.name == name), None)

    def add_default(self, name: str, parent: MjsDefault | None = None) -> MjsDefault:
        """A new default class inside another one, whose settings it starts with."""
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"a default class needs a name, not {shown(name)}")
        if self.find_default(name) is not None:
            raise SpecError(f"repeated default class name '{name}'; names must be unique")
        above = parent if parent is not None else self._default
        if not isinstance(above, MjsDefault) or above._spec is not self:
            raise ArgumentError("the parent of a default class is one of this spec's")
        above._alive()
        new = MjsDefault(self, name, above)
        above._children.append(new)
        return new

    def _class_of(self, default: MjsDefault | None, name: str = "main") -> MjsDefault:
        """The class that was asked for, or the one of that name."""
        if default is None:
            return self.find_default(name) or self._default
        if not isinstance(default, MjsDefault):
            raise ArgumentError(f"default is a default class, not {shown(default)}")
        default._alive()
        if default._spec is not self:
            raise SpecError(f"the default class {default.name!r} is another spec's")
        return default

    # changing the structure

    def _add(self, kind: str, default: MjsDefault | None, keywords: Mapping[str, Any]) -> Any:
        element = LISTED[kind](self)
        if kind in PROTOTYPES:
            element._class = self._class_of(default)
            element._take(element._class._prototype(kind))
            element._values["name"] = ""
        element._apply(keywords)
        self._lists[kind].append(element)
        self._added(element)
        return element

    def activate_plugin(self, name: str) -> None:
        """Declare that the model uses an engine plugin."""
        from dovetail.contracts.engine_plugins import ATTRIBUTES

        if name not in ATTRIBUTES:
            raise SpecError(
                f"there is no engine plugin {name!r}{nearest(name, ATTRIBUTES)}; known: {listing(ATTRIBUTES)}"
            )
        if name not in self._plugins_used:
            self._plugins_used.append(name)

    def delete(self, element: Any) -> None:
        """Take an element out of the spec: a body with all below it, and what refers to that."""
        from dovetail.mj.spec.deleting import delete

        delete(self, element)

    def attach(
        self,
        child: MjSpec,
        prefix: str | None = None,
        suffix: str | None = None,
        site: MjsSite | str | None = None,
        frame: MjsFrame | str | None = None,
    ) -> MjsFrame:
        """Attach another spec at a site or frame of this one; its names get the prefix and suffix."""
        from dovetail.mj.spec.attaching import attach_spec

        return attach_spec(self, child, prefix, suffix, site, frame)


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path.replace("\\", "/")))[0]


def _give_lists() -> None:
    """Give specs `geoms`, `geom(name)` and, for what stands in no body, `add_mesh(…)` and their like."""

    def every(kind: str) -> Callable[[MjSpec], list[Any]]:
        return lambda self: self._of_kind(kind)

    def find(kind: str) -> Callable[[MjSpec, str], Any]:
        return lambda self, name: self._find(kind, name)

    def add(kind: str) -> Callable[..., Any]:
        if kind in PROTOTYPES:
            return lambda self, default=None, **keywords: self._add(kind, default, keywords)
        return lambda self, **keywords: self._add(kind, None, keywords)

    for kind in (*CHILD_KINDS, *LISTED):
        plural = PLURALS.get(kind, f"{kind}s")
        setattr(MjSpec, plural, property(every(kind), doc=f"All {plural}, in order."))
        made = {kind: (find(kind), f"The {kind} of that name, or None.")}
        if kind in LISTED:
            made[f"add_{kind}"] = add(kind), f"A new {kind}."
        for name, (function, doc) in made.items():
            function.__name__, function.__qualname__, function.__doc__ = name, f"MjSpec.{name}", doc
            setattr(MjSpec, name, function)


_give_lists()
