"""Objects by name in the drop-in: `model.geom("foot").friction`, `data.joint("knee").qpos`.

Attributes and texts are those of MuJoCo's bindings: every attribute is an array, one number too; the same object is
given for a name and for its number; a mistake lists what there is. What else dovetail knows of an object can be read
as well (`model.mesh("hull").vert`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail.contracts.named import KINDS, Named
from dovetail.contracts.types import Data, Model
from dovetail.errors import UnknownFieldError
from dovetail.mj.structs.base import put, shown
from dovetail.mj.structs.fields import late_array
from dovetail.mj.structs.lasting import ISLAND_ARRAYS, LATE

MODEL_KINDS: dict[str, str] = {
    "actuator": "acc0 actadr actlimited actnum actrange biasprm biastype cranklength ctrllimited ctrlrange dynprm"
    " dyntype forcelimited forcerange gainprm gaintype gear group length0 lengthrange trnid trntype user",
    "body": "dofadr dofnum geomadr geomnum inertia invweight0 ipos iquat jntadr jntnum mass mocapid parentid pos quat"
    " rootid sameframe simple subtreemass user weldid",
    "camera": "bodyid fovy ipd mat0 mode pos pos0 poscom0 quat targetbodyid user",
    "equality": "active0 data obj1id obj2id solimp solref type",
    "exclude": "signature",
    "geom": "bodyid conaffinity condim contype dataid friction gap group margin matid pos priority quat rbound rgba"
    " sameframe size solimp solmix solref type user",
    "hfield": "adr data ncol nrow size",
    "joint": "M0 Madr armature axis bodyid damping dofadr frictionloss group invweight0 jntid limited margin parentid"
    " pos qpos0 qpos_spring qposadr range simplenum solimp solref stiffness type user",
    "key": "act ctrl mpos mquat qpos qvel time",
    "light": "active ambient attenuation bodyid castshadow cutoff diffuse dir dir0 exponent mode pos pos0 poscom0"
    " specular targetbodyid type",
    "material": "emission reflectance rgba shininess specular texid texrepeat texuniform",
    "mesh": "faceadr facenum graphadr texcoordadr vertadr vertnum",
    "numeric": "adr data size",
    "pair": "dim friction gap geom1 geom2 margin signature solimp solref",
    "sensor": "adr cutoff datatype dim needstage noise objid objtype refid reftype type user",
    "site": "bodyid group matid pos quat rgba sameframe size type user",
    "skin": "boneadr bonenum faceadr facenum inflate matid rgba texcoordadr vertadr vertnum",
    "tendon": "",
    "texture": "adr data height nchannel type width",
    "tuple": "adr objid objprm objtype size",
    "flex": "",
    "text": "adr data size",
}
"""Attributes that objects of a model show, by kind."""

DATA_KINDS: dict[str, str] = {
    "actuator": "ctrl force length moment velocity",
    "body": "cacc cfrc_ext cfrc_int cinert crb cvel subtree_angmom subtree_com subtree_linvel xfrc_applied ximat"
    " xipos xmat xpos xquat",
    "camera": "xmat xpos",
    "geom": "xmat xpos",
    "joint": "cdof cdof_dot qLDiagInv qacc qacc_smooth qacc_warmstart qfrc_actuator qfrc_applied qfrc_bias"
    " qfrc_constraint qfrc_inverse qfrc_passive qfrc_smooth qpos qvel xanchor xaxis",
    "light": "xdir xpos",
    "sensor": "data",
    "site": "xmat xpos",
    "tendon": "J J_colind J_rowadr J_rownnz length velocity wrapadr wrapnum",
}
"""The same of data."""

ALIASES = {
    "camera": "cam",
    "equality": "eq",
    "joint": "jnt",
    "key": "keyframe",
    "material": "mat",
    "texture": "tex",
    "tendon": "ten",
}
"""Second names of the methods that find objects."""

_OTHERWISE = {("joint", "bodyid"): "dof_bodyid"}
"""Where MuJoCo shows another field than the nearest."""


class Views:
    """One object; its attributes are arrays."""

    __slots__ = ("__weakref__", "_arrays", "_named", "_shows")
    _named: Named
    _arrays: dict[str, Any]

    def __init__(self, named: Named, shows: tuple[str, ...]) -> None:
        set_ = object.__setattr__
        set_(self, "_named", named)
        set_(self, "_arrays", {})
        set_(self, "_shows", shows)

    @property
    def id(self) -> int:
        """Its number."""
        return self._named.id

    @property
    def name(self) -> str:
        """Its name, or an empty text."""
        return self._named.name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        known = self._arrays.get(name)
        if known is not None:
            return known
        array, lasting = self._array(name)
        if lasting:
            self._arrays[name] = array
        return array

    def _array(self, name: str) -> tuple[Any, bool]:
        """An attribute as a view, and whether it stays where it is."""
        named = self._named
        if (named._kind, name) == ("actuator", "moment") and isinstance(named._owner, Data):
            return _moment(named._model, named._owner, named.id), False
        try:
            field, index, shape = named._locate(_OTHERWISE.get((named._kind, name), name))
        except UnknownFieldError as problem:
            raise AttributeError(f"{type(self).__name__}: {problem}") from None
        if isinstance(index, int):
            index = slice(index, index + 1)
            shape = named._owner.field(field).shape[1:] or (1,)
        owner = named._owner
        rows: Any = owner.field(field)[index]
        view = rows if shape is None else rows.reshape(shape)
        if field in LATE and isinstance(owner, Data):
            return late_array(owner, view, field), True
        return view, field not in owner.arena.late.names and field not in ISLAND_ARRAYS

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("id", "name"):
            raise AttributeError(f"{name} of {type(self).__name__} cannot be set")
        put(name, getattr(self, name), value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._shows, *self._named._attributes()})

    def __repr__(self) -> str:
        names = sorted(("id", "name", *self._shows))
        return shown(type(self).__name__, ((name, getattr(self, name)) for name in names))


def _moment(model: Model, data: Data, actuator: int) -> Any:
    """Moments of one actuator about all degrees of freedom; a copy, because the matrix is sparse."""
    row = np.zeros(model.nv)
    start = int(data.moment_rowadr[actuator])
    entries = slice(start, start + int(data.moment_rownnz[actuator]))
    row[data.moment_colind[entries]] = data.actuator_moment[entries]
    row.flags.writeable = False
    return row


class Finder:
    """Finds the objects of a Model or Data, each of them once."""

    def __init__(self, owner: Model | Data, model: Model, kinds: dict[str, str], whose: str) -> None:
        self._owner, self._model, self._whose = owner, model, whose
        self._shows = {kind: tuple(words.split()) for kind, words in kinds.items()}
        self._found: dict[tuple[str, int], Views] = {}

    def find(self, kind: str, which: Any) -> Views:
        number = self._number(kind, which)
        found = self._found.get((kind, number))
        if found is None:
            cls = _view_class(f"_Mj{self._whose}{_NAMES.get(kind, kind).capitalize()}Views")
            found = cls(Named(self._owner, self._model, kind, number), self._shows[kind])
            self._found[kind, number] = found
        return found

    def _number(self, kind: str, which: Any) -> int:
        if isinstance(which, str):
            index = self._model.name_index(kind)
            if which not in index:
                raise KeyError(f"Invalid name {which!r}. Valid names: {sorted(index)}")
            return index[which]
        try:
            number = operator.index(which)
        except TypeError:
            raise TypeError(f"{kind}(): an object is found by its name or number, not by {which!r}") from None
        count = self._model.sizes[KINDS[kind].size]
        if not 0 <= number < count:
            raise IndexError(f"Invalid index {number}. Valid indices from 0 to {count - 1}")
        return number


_NAMES = {"key": "keyframe"}
_CLASSES: dict[str, type[Views]] = {}


def _view_class(name: str) -> type[Views]:
    if name not in _CLASSES:
        _CLASSES[name] = type(name, (Views,), {"__slots__": (), "__module__": __name__})
    return _CLASSES[name]


def give_methods(cls: type, kinds: dict[str, str]) -> None:
    """A method per kind of object, and one per second name: `model.joint("x")`, `model.jnt("x")`."""
    for kind in kinds:
        for name in (kind, ALIASES.get(kind, kind)):
            setattr(cls, name, _method(name, kind))


def _method(name: str, kind: str) -> Callable[..., Views]:
    def find(self: Any, name: Any = "", /) -> Views:
        found: Views = self._finder.find(kind, name)
        return found

    find.__name__ = name
    find.__doc__ = f"The {kind} of a name or number."
    return find
