"""How sensors, equalities and actuators say in MJCF what they are attached to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from dovetail.contracts.enums import ContactData, EqType, ObjType, SensorType, TrnType
from dovetail.mjcf.write.text import numbers, written

TARGETS = {
    TrnType.JOINT: "joint",
    TrnType.JOINTINPARENT: "jointinparent",
    TrnType.TENDON: "tendon",
    TrnType.SITE: "site",
    TrnType.SLIDERCRANK: "cranksite",
    TrnType.BODY: "body",
}
"""Attribute that names the target of each kind of transmission."""
REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
"""How a contact sensor chooses, in the order of their numbers."""
_BETWEEN = (SensorType.GEOMDIST, SensorType.GEOMNORMAL, SensorType.GEOMFROMTO)
_SIDES = {ObjType.XBODY: "subtree", ObjType.SITE: "site"}


@attrs.frozen
class Sensed:
    """What is known of a sensor besides its plain attributes."""

    kind: SensorType
    objects: tuple[int, int]
    """Kinds of the object and of the one that it is seen from; 0 for none."""
    names: tuple[str, str]
    parameters: tuple[int, ...]
    user: tuple[int, int, int]
    """Of a user sensor: data type, stage, how many numbers."""


def object_word(number: int) -> str:
    """The word for a kind of object, where an attribute is called like it; empty for none."""
    if not number:
        return ""
    return "body" if number == ObjType.XBODY else ObjType(number).keyword


def sensor_attributes(sensed: Sensed, row: Any) -> dict[str, str]:
    """What a sensor is attached to, in the words of its element."""
    return {name: text for name, text in _sensor(sensed, row).items() if text}


def _sensor(sensed: Sensed, row: Any) -> dict[str, str]:
    kind, names = sensed.kind, sensed.names
    words = [object_word(number) for number in sensed.objects]
    if kind in _BETWEEN:
        return {f"{word}{side}": name for word, side, name in zip(words, "12", names, strict=True) if word}
    if kind == SensorType.CONTACT:
        return _contact(sensed)
    if kind in (SensorType.CAMPROJECTION, SensorType.TACTILE):
        return dict(zip(words, names, strict=True))
    found: dict[str, str] = {}
    if "objtype" in row.attributes:
        spoken = [ObjType(number).keyword if number else "" for number in sensed.objects]
        found = {"objtype": spoken[0], "objname": names[0]}
        if kind == SensorType.INSIDESITE:
            found["site"] = names[1]
        elif "reftype" in row.attributes:
            found |= {"reftype": spoken[1], "refname": names[1]}
    elif words[0]:
        found = {words[0]: names[0]}
    if kind == SensorType.USER:
        datatype, stage, dim = sensed.user
        found["datatype"] = written(row.attributes["datatype"], datatype)
        found["needstage"] = written(row.attributes["needstage"], stage)
        found["dim"] = str(dim)
    return found


def _contact(sensed: Sensed) -> dict[str, str]:
    found: dict[str, str] = {}
    for side, number, name in zip("12", sensed.objects, sensed.names, strict=True):
        if number:
            word = _SIDES.get(ObjType(number), ObjType(number).keyword)
            found[word if word == "site" else word + side] = name
    bits, reduction, slots = sensed.parameters
    fields = [field.keyword for field in ContactData if bits >> int(field) & 1]
    return found | {"data": " ".join(fields), "reduce": REDUCTIONS[reduction], "num": str(slots)}


def equality_attributes(
    kind: EqType, objtype: int, names: tuple[str, str], data: Sequence[float]
) -> dict[str, str]:
    """What an equality holds together, and how."""
    on = {EqType.JOINT: "joint", EqType.TENDON: "tendon", EqType.FLEX: "flex"}.get(kind)
    on = on or ("site" if objtype == ObjType.SITE else "body")
    keys = ("flex",) if on == "flex" else (f"{on}1", f"{on}2")
    found = {key: name for key, name in zip(keys, names, strict=False) if name}
    if on in ("joint", "tendon"):
        found["polycoef"] = numbers(data[:5])
    if on == "body":
        found["anchor"] = numbers(data[:3])
        found |= {"relpose": numbers(data[3:10])} if kind == EqType.WELD else {}
    if kind == EqType.WELD:
        found["torquescale"] = numbers(data[10:11])
    return found
