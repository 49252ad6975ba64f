"""What elements outside of the tree have in MJCF besides plain attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.enums import ObjType, SensorType, TrnType
from dovetail.mjcf.elements.actuator import _TARGETS
from dovetail.mjcf.read.source import Node


def _mesh(reader: Any, element: Any, node: Node) -> None:
    for child in node.children:
        reader.use_plugin(element, child)


def _hfield(reader: Any, element: Any, node: Node) -> None:
    values = element._values
    data = np.array(node.values.get("elevation", ()), np.float32)
    if data.size and data.size == values["nrow"] * values["ncol"]:
        data = data.reshape(values["nrow"], values["ncol"])[::-1]
    element.userdata = data.reshape(-1)


def _texture(reader: Any, element: Any, node: Node) -> None:
    from dovetail.mj.spec.writing_lists import _FACES, _MARKS

    values = element._values
    values["mark"] = _MARKS.index(node.values.get("mark", "none"))
    for place, name in enumerate(_FACES):
        values["cubefiles"][place] = node.values.get(name, "")
    for place, letter in enumerate(node.values.get("gridlayout", "")[:12]):
        values["gridlayout"][place] = letter


def _tuple(reader: Any, element: Any, node: Node) -> None:
    rows = [child.values for child in node.children]
    element.objtype = [int(ObjType.from_keyword(row["objtype"])) for row in rows]
    element.objname = [row["objname"] for row in rows]
    element.objprm = [row.get("prm", 0.0) for row in rows]


def _skin(reader: Any, element: Any, node: Node) -> None:
    bones = [child.values for child in node.children]
    element.bodyname = [bone["body"] for bone in bones]
    element.bindpos = [x for bone in bones for x in bone["bindpos"]]
    element.bindquat = [x for bone in bones for x in bone["bindquat"]]
    element.vertid = [list(bone["vertid"]) for bone in bones]
    element.vertweight = [list(bone["vertweight"]) for bone in bones]


def _flex(reader: Any, element: Any, node: Node) -> None:
    from dovetail.mj.spec.writing_lists import _ELASTIC

    element.vertbody = node.values.get("body", "").split()
    element.nodebody = node.values.get("node", "").split()
    for child in node.children:
        values = dict(child.values)
        if child.tag == "edge":
            values = {f"edge{name}": value for name, value in values.items()}
        if "elastic2d" in values:
            values["elastic2d"] = _ELASTIC.index(values["elastic2d"])
        reader.set_fields(element, values)


def _pair(reader: Any, element: Any, node: Node) -> None:
    element._values.update(geomname1=node.values.get("geom1", ""), geomname2=node.values.get("geom2", ""))


def _equality(reader: Any, element: Any, node: Node) -> None:
    given, values = node.values, element._values
    values["type"] = element.FIELDS["type"].enum(
        ["connect", "weld", "joint", "tendon", "flex"].index(node.tag)
    )
    word = next((word for word in ("site", "body", "joint", "tendon") if f"{word}1" in given), "flex")
    first, second = (word, "") if word == "flex" else (f"{word}1", f"{word}2")
    values["name1"], values["name2"] = given.get(first, ""), given.get(second, "")
    if word in ("site", "body"):
        values["objtype"] = element.FIELDS["objtype"].enum(int(ObjType.from_keyword(word)))
        values["data"][:10] = 0.0
    if "polycoef" in given:
        values["data"][: len(given["polycoef"])] = given["polycoef"]
    values["data"][:3] = given.get("anchor", values["data"][:3])
    values["data"][3:10] = given.get("relpose", values["data"][3:10])
    values["data"][10] = given.get("torquescale", values["data"][10])


def _tendon(reader: Any, element: Any, node: Node) -> None:
    for child in node.children:
        values = child.values
        name = values.get(child.tag, "")
        number = values.get("coef", values.get("divisor", 0.0))
        element._wrap(child.tag, name, values.get("sidesite", ""), number)


def _actuator(reader: Any, element: Any, node: Node) -> None:
    values = element._values
    for attribute, (kind, _) in _TARGETS.items():
        if node.values.get(attribute):
            values["trntype"] = element.FIELDS["trntype"].enum(int(TrnType(kind)))
            values["target"] = node.values[attribute]
    values["refsite"] = node.values.get("refsite", "")
    values["slidersite"] = node.values.get("slidersite", "")
    if node.tag == "plugin":
        reader.use_plugin(element, node)


_SIDES = {"geom": ObjType.GEOM, "body": ObjType.BODY, "subtree": ObjType.XBODY, "site": ObjType.SITE}


def _sensor(reader: Any, element: Any, node: Node) -> None:
    from dovetail.mj.spec.sensor_rules import _SIMPLE

    given, values = node.values, element._values
    kind = SensorType.from_keyword(node.tag)
    values["type"] = element.FIELDS["type"].enum(int(kind))
    _sense(element, "obj", given.get("objtype", ""), given.get("objname", ""))
    _sense(element, "ref", given.get("reftype", ""), given.get("refname", ""))
    for side, end in (("1", "obj"), ("2", "ref")):
        for word, objtype in _SIDES.items():
            name = given.get(word + side)
            if name:
                _sense(element, end, objtype.keyword, name)
    second = {"camprojection": "camera", "insidesite": "site", "tactile": "geom"}.get(node.tag)
    first = "mesh" if node.tag == "tactile" else next((word for word in _SIMPLE if word in given), "")
    if second:
        _sense(element, "ref", second, given.get(second, ""))
    if first and node.tag != "insidesite":
        _sense(element, "obj", first, given.get(first, ""))
    if kind == SensorType.CONTACT:
        _contact(values, given)
    if kind == SensorType.USER:
        values["dim"] = given["dim"]
        for name in ("datatype", "needstage"):
            values[name] = element.FIELDS[name].enum(int(given.get(name, values[name])))
    if node.tag == "plugin":
        reader.use_plugin(element, node)


def _sense(element: Any, end: str, word: str, name: str) -> None:
    known = {kind.keyword: int(kind) for kind in ObjType}
    if word in known:
        element._values[f"{end}type"] = element.FIELDS[f"{end}type"].enum(known[word])
        element._values[f"{end}name"] = name


def _contact(values: Any, given: Any) -> None:
    from dovetail.contracts.enums import ContactData
    from dovetail.mjcf.write.words import REDUCTIONS

    fields = given.get("data") or ("found",)
    bits = sum(1 << int(ContactData.from_keyword(field)) for field in fields)
    values["intprm"][:] = bits, REDUCTIONS.index(given.get("reduce", "none")), given.get("num", 1)


def _numeric(reader: Any, element: Any, node: Node) -> None:
    element.size = node.values.get("size", len(node.values.get("data", ())))


MORE: dict[str, Any] = {
    "mesh": _mesh,
    "hfield": _hfield,
    "texture": _texture,
    "tuple": _tuple,
    "skin": _skin,
    "flex": _flex,
    "pair": _pair,
    "equality": _equality,
    "tendon": _tendon,
    "actuator": _actuator,
    "sensor": _sensor,
    "numeric": _numeric,
}
