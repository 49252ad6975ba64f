"""Taking elements out of a spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail.errors import ArgumentError, shown
from dovetail.mj.spec.defaults import MjsDefault
from dovetail.mj.spec.element import Element
from dovetail.mj.spec.problems import SpecError
from dovetail.mj.spec.references import referred
from dovetail.mj.spec.tree import CHILD_KINDS, MjsBody

if TYPE_CHECKING:
    from dovetail.mj.spec.spec import MjSpec

_CASCADING = ("pair", "exclude", "equality", "tendon", "actuator", "sensor", "skin", "flex")
"""What goes with a body that it refers to."""


def delete(spec: MjSpec, element: Any) -> None:
    """Delete an element; of what refers to it, only that goes along which refers to something in a deleted body."""
    if isinstance(element, MjsDefault):
        _delete_class(spec, element)
        return
    if not isinstance(element, Element):
        raise ArgumentError(f"only elements of the spec can be deleted, not {shown(element)}")
    element._alive()
    if element._spec is not spec:
        raise SpecError(f"this {element.KIND} is not of this spec")
    if element is spec.worldbody:
        raise SpecError("the world cannot be deleted")
    if isinstance(element, MjsBody):
        _delete_body(spec, element)
    elif element.KIND == "frame":
        _delete_frame(element)
    elif element.KIND in spec._lists:
        _remove(spec._lists[element.KIND], element)
    else:
        _remove(element._parent._children[element.KIND], element)
    element._deleted = True
    spec._changed()


def _remove(listed: list[Any], element: Any) -> None:
    """Take one object out of a list, by what it is and not by what it is equal to."""
    listed[:] = [other for other in listed if other is not element]


def _delete_class(spec: MjSpec, default: MjsDefault) -> None:
    default._alive()
    if default._spec is not spec:
        raise SpecError("this default class is not of this spec")
    if default is spec.default:
        raise SpecError("the top default class cannot be deleted")
    gone = default._all()
    assert default._parent is not None
    _remove(default._parent._children, default)
    for kind in (*CHILD_KINDS, *spec._lists):
        for element in spec._of_kind(kind):
            if any(element._class is one for one in gone):
                element._class = spec.default
            if element._values.get("childclass") in [one.name for one in gone]:
                element._values["childclass"] = "main" if kind == "body" else ""
    for one in gone:
        one._deleted = True
    spec._changed()


def _delete_frame(frame: Any) -> None:
    """Delete a frame with all that stands in it."""
    parent = frame._parent
    inside = [frame]
    for other in parent._children["frame"]:
        if any(other._frame is one for one in inside):
            inside.append(other)
    for kind in CHILD_KINDS:
        for child in list(parent._children[kind]):
            if any(child._frame is one for one in inside):
                delete(child._spec, child)
    _remove(parent._children["frame"], frame)


def _delete_body(spec: MjSpec, body: MjsBody) -> None:
    """Delete a body with all below it, and what refers to something there."""
    gone: set[tuple[str, str]] = set()
    moving = False
    for part in body._subtree():
        for element in (part, *(child for kind in CHILD_KINDS for child in part._children[kind])):
            if element._values["name"]:
                gone.add((element.KIND, element._values["name"]))
            element._deleted = True
        moving = moving or bool(part._children["joint"]) or bool(part._values["mocap"])
    assert body._parent is not None
    _remove(body._parent._children["body"], body)
    before = -1
    while before != len(gone):
        before = len(gone)
        for kind in _CASCADING:
            for element in list(spec._lists[kind]):
                if any(reference in gone for reference in referred(element)):
                    gone.add((kind, element._values["name"]))
                    _remove(spec._lists[kind], element)
                    element._deleted = True
    if moving:  # as in MuJoCo: saved states no longer fit
        for key in spec._lists["key"]:
            key._deleted = True
        spec._lists["key"].clear()
        spec._pending.clear()
