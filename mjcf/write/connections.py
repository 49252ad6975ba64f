"""What connects the objects of a compiled Model, as MJCF: contacts, equalities, tendons, actuators and the like."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.enums import EqType, SensorType, TrnType, WrapType
from dovetail.mjcf.elements import actuator, contact, equality, sensor, skin, tendon
from dovetail.mjcf.read.schema import MUJOCO
from dovetail.mjcf.read.source import Node
from dovetail.mjcf.write.text import numbers
from dovetail.mjcf.write.words import TARGETS, Sensed, equality_attributes, object_word, sensor_attributes

if TYPE_CHECKING:
    from dovetail.mjcf.write.compiled import ModelWriter

_ROWS = MUJOCO.children
_DEFAULT = _ROWS["default"].children


def contact_nodes(writer: ModelWriter) -> list[Node]:
    return [
        *writer.each("pair", partial(pair_node, writer)),
        *writer.each("exclude", partial(exclude_node, writer)),
    ]


def pair_node(writer: ModelWriter, number: int) -> Node:
    model, what = writer.model, f"pair {writer.label('pair', number)}"
    ends = {
        f"geom{side}": writer.refer("geom", int(ids[number]), what)
        for side, ids in (("1", model.pair_geom1), ("2", model.pair_geom2))
    }
    row = _ROWS["contact"].children["pair"]
    raw = writer.columns(contact.PAIR_COLUMNS, number, contact.PairItem(), row)
    return writer.node("pair", {**writer.named("pair", number), **ends, **raw})


def exclude_node(writer: ModelWriter, number: int) -> Node:
    signature = int(writer.model.exclude_signature[number])
    what = f"exclude {writer.label('exclude', number)}"
    ends = {
        "body1": writer.refer("body", signature >> 16, what),
        "body2": writer.refer("body", signature & 0xFFFF, what),
    }
    return writer.node("exclude", {**writer.named("exclude", number), **ends})


def skin_node(writer: ModelWriter, number: int) -> Node:
    model = writer.model

    def rows(data: Any, start: Any, count: Any) -> Any:
        return data[int(start[number]) : int(start[number]) + int(count[number])]

    raw = writer.columns(skin.COLUMNS, number, skin.SkinItem(), _ROWS["deformable"].children["skin"])
    raw["vertex"] = numbers(rows(model.skin_vert, model.skin_vertadr, model.skin_vertnum), True)
    if model.skin_texcoordadr[number] >= 0:
        raw["texcoord"] = numbers(rows(model.skin_texcoord, model.skin_texcoordadr, model.skin_vertnum), True)
    faces = rows(model.skin_face, model.skin_faceadr, model.skin_facenum).reshape(-1)
    raw["face"] = " ".join(map(str, faces))
    raw |= writer.material_of("skin", int(model.skin_matid[number]), number)
    node = writer.node("skin", {**writer.named("skin", number), **raw})
    first = int(model.skin_boneadr[number])
    for bone in range(first, first + int(model.skin_bonenum[number])):
        start = int(model.skin_bonevertadr[bone])
        part = slice(start, start + int(model.skin_bonevertnum[bone]))
        what = f"skin {writer.label('skin', number)}"
        node.children.append(
            writer.node(
                "bone",
                {
                    "body": writer.refer("body", int(model.skin_bonebodyid[bone]), what),
                    "bindpos": numbers(model.skin_bonebindpos[bone], True),
                    "bindquat": numbers(model.skin_bonebindquat[bone], True),
                    "vertid": " ".join(map(str, model.skin_bonevertid[part])),
                    "vertweight": numbers(model.skin_bonevertweight[part], True),
                },
            )
        )
    return node


def equality_node(writer: ModelWriter, number: int) -> Node:
    model = writer.model
    kind, objtype = EqType(int(model.eq_type[number])), int(model.eq_objtype[number])
    words = {EqType.JOINT: "joint", EqType.TENDON: "tendon", EqType.FLEX: "flex"}
    word = words.get(kind) or object_word(objtype)
    what = f"equality {writer.label('equality', number)}"
    ids = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
    names = tuple(writer.refer(word, place, what) if place >= 0 else "" for place in ids)
    row = _ROWS["equality"].children[kind.keyword]
    raw = writer.columns(equality.COLUMNS, number, equality.EqualityItem(), row)
    raw |= equality_attributes(kind, objtype, (names[0], names[1]), model.eq_data[number])
    return writer.node(kind.keyword, {**writer.named("equality", number), **raw})


def tendon_node(writer: ModelWriter, number: int) -> Node:
    model = writer.model
    start = int(model.tendon_adr[number])
    path = range(start, start + int(model.tendon_num[number]))
    fixed = int(model.wrap_type[start]) == WrapType.JOINT
    row = _ROWS["tendon"].children["fixed" if fixed else "spatial"]
    raw = writer.columns(tendon.COLUMNS, number, tendon.TendonItem(), row)
    looks = writer.columns(tendon.COLUMNS, number, tendon.TendonItem(), _DEFAULT["tendon"])
    looks |= writer.material_of("tendon", int(model.tendon_matid[number]), number)
    looks = {name: text for name, text in looks.items() if name in ("width", "rgba", "material")}
    if fixed and looks:  # MJCF lets a fixed tendon say these only by a default class
        raw["class"] = writer.class_name("tendon", looks)
    else:
        raw |= looks
    what = f"tendon {writer.label('tendon', number)}"
    children = [wrap_node(writer, place, what) for place in path]
    return writer.node(row.tag, {**writer.named("tendon", number), **raw}, children)


def wrap_node(writer: ModelWriter, place: int, what: str) -> Node:
    model = writer.model
    kind, number, prm = (
        WrapType(int(model.wrap_type[place])),
        int(model.wrap_objid[place]),
        model.wrap_prm[place],
    )
    if kind == WrapType.PULLEY:
        return writer.node("pulley", {"divisor": numbers([prm])})
    if kind == WrapType.JOINT:
        return writer.node("joint", {"joint": writer.refer("joint", number, what), "coef": numbers([prm])})
    if kind == WrapType.SITE:
        return writer.node("site", {"site": writer.refer("site", number, what)})
    side = {"sidesite": writer.refer("site", int(prm), what)} if prm >= 0 else {}
    return writer.node("geom", {"geom": writer.refer("geom", number, what), **side})


def actuator_node(writer: ModelWriter, number: int) -> Node:
    model = writer.model
    plugin, kind = int(model.actuator_plugin[number]), TrnType(int(model.actuator_trntype[number]))
    row = _ROWS["actuator"].children["plugin" if plugin >= 0 else "general"]
    skip = ("cranklength", "actdim", "plugin")
    raw = writer.columns(actuator.COLUMNS, number, actuator.ActuatorItem(), row, skip)
    raw["lengthrange"] = numbers(model.actuator_lengthrange[number])
    if not np.any(model.actuator_lengthrange[number]):
        del raw["lengthrange"]
    first, second = (int(place) for place in model.actuator_trnid[number])
    what = f"actuator {writer.label('actuator', number)}"
    word = TARGETS[kind]
    raw[word] = writer.refer({"jointinparent": "joint", "cranksite": "site"}.get(word, word), first, what)
    if kind == TrnType.SLIDERCRANK:
        raw["slidersite"] = writer.refer("site", second, what)
        raw["cranklength"] = numbers([model.actuator_cranklength[number]])
    elif second >= 0:
        raw["refsite"] = writer.refer("site", second, what)
    if model.actuator_actnum[number] > 1 and plugin < 0:
        raw["actdim"] = str(int(model.actuator_actnum[number]))
    children: list[Node] = []
    if plugin >= 0:
        used, children = writer.plugin_use(plugin)
        raw |= used
    return writer.node(row.tag, {**writer.named("actuator", number), **raw}, children)


def sensor_node(writer: ModelWriter, number: int) -> Node:
    model, what = writer.model, f"sensor {writer.label('sensor', number)}"
    kind = SensorType(int(model.sensor_type[number]))
    row = _ROWS["sensor"].children[kind.keyword]
    objects = int(model.sensor_objtype[number]), int(model.sensor_reftype[number])
    ids = int(model.sensor_objid[number]), int(model.sensor_refid[number])
    names = [
        writer.refer(object_word(word), place, what) if word and place >= 0 else ""
        for word, place in zip(objects, ids, strict=True)
    ]
    sensed = Sensed(
        kind,
        objects,
        (names[0], names[1]),
        tuple(int(x) for x in model.sensor_intprm[number]),
        (
            int(model.sensor_datatype[number]),
            int(model.sensor_needstage[number]),
            int(model.sensor_dim[number]),
        ),
    )
    skip = ("objtype", "reftype", "datatype", "needstage", "dim", "plugin")
    raw = writer.columns(sensor.COLUMNS, number, sensor.SensorItem(), row, skip) | sensor_attributes(
        sensed, row
    )
    children: list[Node] = []
    if kind == SensorType.PLUGIN:
        used, children = writer.plugin_use(int(model.sensor_plugin[number]))
        raw |= used
    return writer.node(row.tag, {**writer.named("sensor", number), **raw}, children)


def key_node(writer: ModelWriter, number: int) -> Node:
    model = writer.model
    raw = {**writer.named("key", number), "time": numbers([model.key_time[number]])}
    for name in ("qpos", "qvel", "act", "ctrl", "mpos", "mquat"):
        values = np.asarray(model.field(f"key_{name}"))[number]
        raw |= {name: numbers(values)} if values.size else {}
    return writer.node("key", raw)
