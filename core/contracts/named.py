"""Access by name: `model.geom("foot").friction`, `data.body("torso").xpos`, `data.joint("knee").qpos`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from dovetail.arguments import as_whole
from dovetail.contracts.assigned import assign
from dovetail.contracts.fields import FieldSpec
from dovetail.errors import ArgumentError, UnknownFieldError, UnknownNameError, nearest, shown

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model

Which: TypeAlias = Any
"""An object of a model: its number; in dovetail's public functions its name too."""


@attrs.frozen
class ObjectKind:
    """A kind of named object: the size that counts it and the prefixes its fields carry."""

    size: str
    prefixes: tuple[str, ...]


KINDS: Mapping[str, ObjectKind] = {
    "body": ObjectKind("nbody", ("body_", "")),
    "joint": ObjectKind("njnt", ("jnt_", "")),
    "geom": ObjectKind("ngeom", ("geom_", "")),
    "site": ObjectKind("nsite", ("site_", "")),
    "camera": ObjectKind("ncam", ("cam_", "")),
    "light": ObjectKind("nlight", ("light_", "")),
    "flex": ObjectKind("nflex", ("flex_",)),
    "mesh": ObjectKind("nmesh", ("mesh_",)),
    "skin": ObjectKind("nskin", ("skin_",)),
    "hfield": ObjectKind("nhfield", ("hfield_",)),
    "texture": ObjectKind("ntex", ("tex_",)),
    "material": ObjectKind("nmat", ("mat_",)),
    "pair": ObjectKind("npair", ("pair_",)),
    "exclude": ObjectKind("nexclude", ("exclude_",)),
    "equality": ObjectKind("neq", ("eq_",)),
    "tendon": ObjectKind("ntendon", ("tendon_", "ten_")),
    "actuator": ObjectKind("nu", ("actuator_", "")),
    "sensor": ObjectKind("nsensor", ("sensor_",)),
    "numeric": ObjectKind("nnumeric", ("numeric_",)),
    "text": ObjectKind("ntext", ("text_",)),
    "tuple": ObjectKind("ntuple", ("tuple_",)),
    "key": ObjectKind("nkey", ("key_",)),
    "plugin": ObjectKind("nplugin", ("plugin_",)),
}


@attrs.frozen
class Part:
    """The rows of an array that belong to one object: `model.numeric("gains").data`."""

    field: str
    start: str
    """The Model field that says where they begin; -1: there are none."""
    counts: tuple[str, ...]
    """The Model fields whose product is their number."""
    shaped: bool = False
    """Whether the counts are the shape, else rows one after the other."""


def _meshes(kind: str, **counts: str) -> dict[str, Part]:
    """Arrays that all objects of a kind share, as vertices of meshes: `mesh_vert` from `mesh_vertadr` on."""
    return {
        name: Part(f"{kind}_{name}", f"{kind}_{row}adr", (f"{kind}_{row}num",))
        for name, row in counts.items()
    }


PARTS: Mapping[str, Mapping[str, Part]] = {
    "sensor": {"data": Part("sensordata", "sensor_adr", ("sensor_dim",))},
    "actuator": {"act": Part("act", "actuator_actadr", ("actuator_actnum",))},
    "numeric": {"data": Part("numeric_data", "numeric_adr", ("numeric_size",))},
    "text": {"data": Part("text_data", "text_adr", ("text_size",))},
    "tuple": {
        name: Part(f"tuple_{name}", "tuple_adr", ("tuple_size",)) for name in ("objtype", "objid", "objprm")
    },
    "hfield": {"data": Part("hfield_data", "hfield_adr", ("hfield_nrow", "hfield_ncol"), shaped=True)},
    "texture": {
        "data": Part("tex_data", "tex_adr", ("tex_height", "tex_width", "tex_nchannel"), shaped=True)
    },
    "mesh": _meshes(
        "mesh",
        vert="vert",
        face="face",
        normal="normal",
        texcoord="texcoord",
        facenormal="face",
        facetexcoord="face",
    ),
    "skin": _meshes(
        "skin", vert="vert", face="face", bonebindpos="bone", bonebindquat="bone", bonebodyid="bone"
    ),
    "flex": {
        **_meshes("flex", vert="vert", vert0="vert", vertbodyid="vert", edge="edge", node="node"),
        "xpos": Part("flexvert_xpos", "flex_vertadr", ("flex_vertnum",)),
    },
}
"""Rows of shared arrays by kind and attribute, besides the fields that have a row per object."""

_JOINT_WIDTHS = {"nq": (7, 4, 1, 1), "nv": (6, 3, 1, 1)}
"""Numbers per joint of type free, ball, slide, hinge in arrays over nq and nv."""
_JOINT_ADDRESSES = {"nq": "jnt_qposadr", "nv": "jnt_dofadr"}
_JOINT_PREFIXES = ("", "dof_")


def object_id(model: Model, kind: str, which: int | str) -> int:
    """The id of an object given by name or number; a KeyError names the nearest name."""
    names = model.object_names.get(kind, ())
    if isinstance(which, str):
        index = model.name_index(kind).get(which)
        if index is None:
            raise UnknownNameError(f"no {kind} is named {shown(which)}{nearest(which, filter(None, names))}")
        return index
    count = model.sizes[KINDS[kind].size]
    number = as_whole(which)
    if number is None:
        raise ArgumentError(f"a {kind} is given by its name or number, not as {shown(which)}")
    if not -count <= number < count:
        raise UnknownNameError(f"there is no {kind} number {shown(number)}: the model has {count}")
    return number % count


def attributes_of(kind: str, specs: Mapping[str, FieldSpec]) -> dict[str, tuple[FieldSpec, int]]:
    """What an object of a kind has, by attribute: the field it is cut from, and how many axes that takes away.
    Names that repeat the kind (`model.body(1).body_mass`) are left out."""
    found: dict[str, tuple[FieldSpec, int]] = {}
    size, prefixes = KINDS[kind].size, KINDS[kind].prefixes
    places: list[tuple[str, tuple[str, ...], int]] = [(prefix, (size,), 1) for prefix in prefixes]
    if kind == "joint":
        places += [(prefix, tuple(_JOINT_WIDTHS), 0) for prefix in _JOINT_PREFIXES]
    for prefix, sizes, axes in places:
        for name, spec in specs.items():
            repeats = not prefix and name.startswith(prefixes[0])
            if spec.shape and spec.shape[0] in sizes and name.startswith(prefix) and not repeats:
                found.setdefault(name.removeprefix(prefix), (spec, axes))
    for attribute, part in PARTS.get(kind, {}).items():
        if part.field in specs:
            found.setdefault(attribute, (specs[part.field], 0))
    return found


class Named:
    """One object of a Model or Data; its attributes are the owner's fields, cut down to this object."""

    _owner: Model | Data
    _model: Model
    _kind: str
    id: int

    def __init__(self, owner: Model | Data, model: Model, kind: str, which: int | str) -> None:
        set_ = object.__setattr__
        set_(self, "_owner", owner)
        set_(self, "_model", model)
        set_(self, "_kind", kind)
        set_(self, "id", object_id(model, kind, which))

    @property
    def name(self) -> str:
        names = self._model.object_names.get(self._kind, ())
        return names[self.id] if self.id < len(names) else ""

    def _locate(self, attribute: str) -> tuple[str, Any, tuple[int, ...] | None]:
        """The owner's field for an attribute, the index of this object in it, and the shape to show it in if that is
        another."""
        kind = KINDS[self._kind]
        for prefix in kind.prefixes:
            spec = self._owner.specs.get(prefix + attribute)
            if spec is not None and spec.shape and spec.shape[0] == kind.size:
                return spec.name, self.id, None
        if self._kind == "joint":
            for prefix in _JOINT_PREFIXES:
                spec = self._owner.specs.get(prefix + attribute)
                if spec is not None and spec.shape and spec.shape[0] in _JOINT_WIDTHS:
                    return spec.name, self._joint_slice(str(spec.shape[0])), None
        part = PARTS.get(self._kind, {}).get(attribute)
        if part is not None and part.field in self._owner.specs:
            return part.field, *self._rows(part)
        raise UnknownFieldError(
            f"{self._kind} {self.name or self.id!r} has no {attribute!r}{nearest(attribute, self._attributes())}"
        )

    def _joint_slice(self, size: str) -> slice:
        start = int(getattr(self._model, _JOINT_ADDRESSES[size])[self.id])
        return slice(start, start + _JOINT_WIDTHS[size][int(self._model.jnt_type[self.id])])

    def _rows(self, part: Part) -> tuple[slice, tuple[int, ...] | None]:
        """The rows of a shared array that are this object's, and their shape."""
        start = int(getattr(self._model, part.start)[self.id])
        counts = tuple(int(getattr(self._model, name)[self.id]) for name in part.counts)
        rows = slice(0, 0) if start < 0 else slice(start, start + math.prod(counts))
        return rows, counts if part.shaped else None

    def _attributes(self) -> list[str]:
        return list(attributes_of(self._kind, self._owner.specs))

    def _cut(self, attribute: str) -> Any:
        """The numbers of this object, as a view; in a batch those of all worlds."""
        field, index, shape = self._locate(attribute)
        batch = self._owner._nworld is not None
        view = self._owner.field(field)[(slice(None), index) if batch else index]
        return view if shape is None else view.reshape(shape)

    def _read(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return self._cut(attribute)

    def _write(self, attribute: str, value: Any) -> None:
        field, index, shape = self._locate(attribute)
        if shape is not None:
            assign(attribute, self._cut(attribute), value)
            return
        batch = self._owner._nworld is not None
        assign(field, self._owner.field(field), value, (slice(None), index) if batch else index)

    if not TYPE_CHECKING:  # checkers know the attributes from `protocols.pyi`
        __getattr__ = _read
        __setattr__ = _write

    def __dir__(self) -> list[str]:
        return sorted({"id", "name", *self._attributes()})

    def __repr__(self) -> str:
        return f"<{self._kind} {self.name!r} id={self.id}>"


class NamedAccess:
    """Mixin: a method per kind of object."""

    def _named(self, kind: str, which: int | str) -> Named:
        raise TypeError("only Model and Data have named objects")

    def body(self, which: int | str) -> Named:
        return self._named("body", which)

    def joint(self, which: int | str) -> Named:
        return self._named("joint", which)

    def geom(self, which: int | str) -> Named:
        return self._named("geom", which)

    def site(self, which: int | str) -> Named:
        return self._named("site", which)

    def camera(self, which: int | str) -> Named:
        return self._named("camera", which)

    def light(self, which: int | str) -> Named:
        return self._named("light", which)

    def flex(self, which: int | str) -> Named:
        return self._named("flex", which)

    def mesh(self, which: int | str) -> Named:
        return self._named("mesh", which)

    def skin(self, which: int | str) -> Named:
        return self._named("skin", which)

    def hfield(self, which: int | str) -> Named:
        return self._named("hfield", which)

    def texture(self, which: int | str) -> Named:
        return self._named("texture", which)

    def material(self, which: int | str) -> Named:
        return self._named("material", which)

    def pair(self, which: int | str) -> Named:
        return self._named("pair", which)

    def exclude(self, which: int | str) -> Named:
        return self._named("exclude", which)

    def equality(self, which: int | str) -> Named:
        return self._named("equality", which)

    def tendon(self, which: int | str) -> Named:
        return self._named("tendon", which)

    def actuator(self, which: int | str) -> Named:
        return self._named("actuator", which)

    def sensor(self, which: int | str) -> Named:
        return self._named("sensor", which)

    def numeric(self, which: int | str) -> Named:
        return self._named("numeric", which)

    def text(self, which: int | str) -> Named:
        return self._named("text", which)

    def tuple(self, which: int | str) -> Named:
        return self._named("tuple", which)

    def key(self, which: int | str) -> Named:
        return self._named("key", which)
