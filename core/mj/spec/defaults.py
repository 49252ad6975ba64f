"""Default classes of a spec: for each kind of element one that new ones are copies of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail.mj.spec.element import Record
from dovetail.mj.spec.fields import Text
from dovetail.mj.spec.lists import MjsActuator, MjsEquality, MjsFlex, MjsMaterial, MjsMesh, MjsPair
from dovetail.mj.spec.problems import SpecError
from dovetail.mj.spec.tendon import MjsTendon
from dovetail.mj.spec.tree import MjsCamera, MjsGeom, MjsJoint, MjsLight, MjsSite

if TYPE_CHECKING:
    from dovetail.mj.spec.spec import MjSpec

PROTOTYPES: dict[str, Any] = {
    kind.KIND: kind
    for kind in (
        MjsJoint,
        MjsGeom,
        MjsSite,
        MjsCamera,
        MjsLight,
        MjsFlex,
        MjsMesh,
        MjsMaterial,
        MjsPair,
        MjsEquality,
        MjsTendon,
        MjsActuator,
    )
}
"""Kinds of elements that have defaults."""


class MjsDefault(Record):
    """One class. A new one starts as a copy of its parent, and does not follow it afterwards."""

    name = Text()

    def __init__(self, spec: MjSpec | None = None, name: str = "", parent: MjsDefault | None = None) -> None:
        super().__init__()
        self._spec, self._parent, self._deleted = spec, parent, False
        self._values["name"] = name
        self._children: list[MjsDefault] = []
        self._prototypes: dict[str, Any] = {kind: cls() for kind, cls in PROTOTYPES.items()}
        for kind, prototype in self._prototypes.items():
            if parent is not None:
                prototype._take(parent._prototypes[kind])
            prototype._class = self
            prototype._spec, prototype._settings = None, spec.compiler if spec is not None else None

    def _alive(self) -> None:
        if self._deleted:
            raise SpecError(f"the default class {self._values['name']!r} was deleted from its spec")

    def _prototype(self, kind: str) -> Any:
        self._alive()
        return self._prototypes[kind]

    def _all(self) -> list[MjsDefault]:
        """This class and those in it, parents first."""
        return [self, *(below for child in self._children for below in child._all())]


def _access(kind: str) -> property:
    def get(self: MjsDefault) -> Any:
        return self._prototype(kind)

    return property(get, doc=f"What a new {kind} of the class is a copy of.")


for _kind in PROTOTYPES:
    setattr(MjsDefault, _kind, _access(_kind))
