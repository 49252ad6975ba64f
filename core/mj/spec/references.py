"""What elements outside of the tree refer to by name: to rename it, to find it, to delete with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dovetail.contracts.enums import EqType, ObjType, TrnType

Rename = Callable[[str, str], str]
"""(kind, name) → another name."""
TREE = {
    "geom": {"material": "material", "hfieldname": "hfield", "meshname": "mesh"},
    "site": {"material": "material"},
    "camera": {"targetbody": "body"},
    "light": {"targetbody": "body", "texture": "texture"},
}
"""Attributes of elements of the tree that name something."""
PLAIN = {
    **TREE,
    "mesh": {"material": "material"},
    "skin": {"material": "material", "bodyname": "body"},
    "flex": {"material": "material", "vertbody": "body", "nodebody": "body"},
    "material": {"textures": "texture"},
    "tendon": {"material": "material"},
    "pair": {"geomname1": "geom", "geomname2": "geom"},
    "exclude": {"bodyname1": "body", "bodyname2": "body"},
}
"""The same of all kinds whose attributes always name one kind of object."""
_TARGETS: dict[int, str] = {
    TrnType.JOINT: "joint",
    TrnType.JOINTINPARENT: "joint",
    TrnType.TENDON: "tendon",
    TrnType.SITE: "site",
    TrnType.SLIDERCRANK: "site",
    TrnType.BODY: "body",
}
_EQUATED: dict[int, str] = {EqType.JOINT: "joint", EqType.TENDON: "tendon", EqType.FLEX: "flex"}


def attributes(element: Any) -> Iterator[tuple[str, str]]:
    """Attribute of an element, and the kind of object that it names."""
    values = element._values
    yield from PLAIN.get(element.KIND, {}).items()
    if element.KIND == "equality":
        kind = _EQUATED.get(int(values["type"]), "site" if values["objtype"] == ObjType.SITE else "body")
        yield from (("name1", kind), ("name2", kind))
    elif element.KIND == "actuator":
        yield "target", _TARGETS.get(int(values["trntype"]), "")
        yield from (("refsite", "site"), ("slidersite", "site"))
    elif element.KIND == "sensor":
        for attribute, kind in (("objname", "objtype"), ("refname", "reftype")):
            yield attribute, object_kind(int(values[kind]))


def object_kind(number: int) -> str:
    """The kind of object that an mjtObj stands for; empty for none."""
    if number == ObjType.XBODY:
        return "body"
    known = {int(member): member.keyword for member in ObjType}
    return known.get(number, "") if number else ""


def referred(element: Any) -> Iterator[tuple[str, str]]:
    """Kind and name of all that an element outside of the tree refers to, materials aside."""
    for attribute, kind in attributes(element):
        if kind in ("material", "texture"):
            continue
        named = element._values[attribute]
        yield from ((kind, name) for name in ([named] if isinstance(named, str) else named) if name)
    for wrap in getattr(element, "_path", ()):
        if wrap._name:
            yield wrap._kind, wrap._name
        if wrap._side:
            yield "site", wrap._side
    if element.KIND == "tuple":
        values = element._values
        for number, name in zip(values["objtype"], values["objname"], strict=False):
            yield object_kind(number), name


def rename_references(element: Any, rename: Rename) -> None:
    """Let an element refer to things under their new names."""
    for attribute, kind in attributes(element):
        named = element._values[attribute]
        if isinstance(named, str):
            element._values[attribute] = rename(kind, named) if named else named
        else:
            for place, name in enumerate(named):
                named[place] = rename(kind, name) if name else name
    for wrap in getattr(element, "_path", ()):
        wrap._name = rename(wrap._kind, wrap._name) if wrap._name else ""
        wrap._side = rename("site", wrap._side) if wrap._side else ""
    if element.KIND == "tuple":
        values = element._values
        for place, number in enumerate(values["objtype"]):
            values["objname"][place] = rename(object_kind(number), values["objname"][place])
