"""`<sensor>`: what every sensor measures, and where its numbers go.

A table says of each type on which kind of object it sits, what its numbers are, how many, and which part of the
forward computation it needs (`mjCSensor::Compile`). The rest of this module finds the objects.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import attrs

from dovetail import limits
from dovetail.contracts.enums import (
    ContactData,
    DataType,
    GeomType,
    JointType,
    NeedStage,
    ObjType,
    SensorType,
)
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.elements.plugins import PluginUser, plugin_readings
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

_CONTACT_SIZES = {"found": 1, "force": 3, "torque": 3, "dist": 1, "pos": 3, "normal": 3, "tangent": 3}
_REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
_FRAMES = {"body": ObjType.BODY, "xbody": ObjType.XBODY, "geom": ObjType.GEOM}
_FRAMES |= {"site": ObjType.SITE, "camera": ObjType.CAMERA}
"""Objects that have a pose."""
_LISTS = {ObjType.XBODY: "body"}
"""Kinds whose objects are listed under another kind's name."""


@attrs.define(eq=False, kw_only=True)
class SensorItem(Item):
    """An element of `<sensor>`."""

    type: int = SensorType.TOUCH
    datatype: int = DataType.REAL
    needstage: int = NeedStage.ACC
    objtype: int = ObjType.UNKNOWN
    objid: int = -1
    reftype: int = ObjType.UNKNOWN
    refid: int = -1
    intprm: tuple[int, ...] = (0, 0, 0)
    dim: int = 0
    adr: int = -1
    """Where its numbers begin in sensordata."""
    cutoff: float = 0.0
    noise: float = 0.0
    user: Vec = ()
    plugin: int = -1


COLUMNS: Columns = {
    "sensor_type": "type",
    "sensor_datatype": "datatype",
    "sensor_needstage": "needstage",
    "sensor_objtype": "objtype",
    "sensor_objid": "objid",
    "sensor_reftype": "reftype",
    "sensor_refid": "refid",
    "sensor_intprm": "intprm",
    "sensor_dim": "dim",
    "sensor_adr": "adr",
    "sensor_cutoff": "cutoff",
    "sensor_noise": "noise",
    "sensor_user": "user",
    "sensor_plugin": "plugin",
}


@attrs.frozen
class SensorRule:
    """One type of sensor."""

    attach: Callable[[Context, SensorItem], None]
    stage: NeedStage
    dim: int = 1
    datatype: DataType = DataType.REAL


def read_sensors(context: Context, section: Node) -> None:
    """Read a `<sensor>` section."""
    for node in section.children:
        sensor = SensorItem(node=node, type=int(SensorType.from_keyword(node.tag)))
        overlay(sensor, {n: v for n, v in node.values.items() if n in ("name", "cutoff", "noise", "user")})
        context.add("sensor", sensor)
        if node.tag == "plugin":
            context.plugin_users.append(PluginUser(node, sensor, "sensing", turn=2))


def compile_sensors(context: Context) -> int:
    """Resolve all sensors; returns how many numbers they write together."""
    address = 0
    for sensor in context.objects["sensor"]:
        row = TABLE[SensorType(sensor.type)]
        sensor.needstage, sensor.datatype, sensor.dim = int(row.stage), int(row.datatype), row.dim
        row.attach(context, sensor)
        _check_numbers(sensor)
        sensor.user = context.padded_user(sensor, "nuser_sensor", sensor.user)
        sensor.adr = address
        address += sensor.dim
        if address > limits.SENSOR_NUMBERS:
            most = limits.LIMITS["SENSOR_NUMBERS"]
            raise sensor.place.too_large(
                f"the sensors together write too many numbers; the most is {most}", "dim"
            )
    return address


def _check_numbers(sensor: SensorItem) -> None:
    node = sensor.place
    for attribute in ("noise", "cutoff"):
        if getattr(sensor, attribute) < 0:
            raise node.error(f"{attribute} cannot be negative", attribute)
    unit_vector = sensor.datatype in (DataType.AXIS, DataType.QUATERNION)
    if sensor.cutoff > 0 and unit_vector and sensor.type != SensorType.GEOMNORMAL:
        raise node.error("cutoff would spoil an axis or a quaternion; remove it", "cutoff")


# what a sensor sits on


def _find(context: Context, node: Node, objtype: ObjType, attribute: str) -> int:
    kind = _LISTS.get(objtype, objtype.keyword)
    return context.find(kind, node.values[attribute], node, attribute)


def _on(attribute: str, objtype: ObjType) -> Callable[[Context, SensorItem], None]:
    def attach(context: Context, sensor: SensorItem) -> None:
        sensor.objtype = int(objtype)
        sensor.objid = _find(context, sensor.place, objtype, attribute)

    return attach


def _nothing(context: Context, sensor: SensorItem) -> None:
    """Measures the whole model."""


def _single_joint(context: Context, sensor: SensorItem) -> None:
    _on("joint", ObjType.JOINT)(context, sensor)
    if context.joints[sensor.objid].type in (JointType.BALL, JointType.FREE):
        raise sensor.place.error("needs a hinge or slide joint", "joint")


def _ball_joint(context: Context, sensor: SensorItem) -> None:
    _on("joint", ObjType.JOINT)(context, sensor)
    if context.joints[sensor.objid].type != JointType.BALL:
        raise sensor.place.error("needs a ball joint", "joint")


def _limited_joint(context: Context, sensor: SensorItem) -> None:
    _on("joint", ObjType.JOINT)(context, sensor)
    if not context.joints[sensor.objid].limited:
        raise sensor.place.error("needs a joint with a limit; add range to the joint", "joint")


def _limited_tendon(context: Context, sensor: SensorItem) -> None:
    _on("tendon", ObjType.TENDON)(context, sensor)
    if not context.objects["tendon"][sensor.objid].limited:
        raise sensor.place.error("needs a tendon with a limit; add range to the tendon", "tendon")


def _projected(context: Context, sensor: SensorItem) -> None:
    """A site in the image of a camera."""
    _on("site", ObjType.SITE)(context, sensor)
    sensor.reftype = int(ObjType.CAMERA)
    sensor.refid = _find(context, sensor.place, ObjType.CAMERA, "camera")


def _frame(context: Context, sensor: SensorItem) -> None:
    """An object with a pose, perhaps seen from another one."""
    node = sensor.place
    sensor.objtype = int(_frame_type(node, "objtype"))
    sensor.objid = _find(context, node, ObjType(sensor.objtype), "objname")
    if "refname" in node.values and "reftype" not in node.values:
        raise node.error("refname needs reftype; say what kind of object it is", "refname")
    if "reftype" not in node.values:
        return
    if "refname" not in node.values:
        raise node.error("reftype needs refname; name the object", "reftype")
    # like MuJoCo 3.4, take a word that names no kind of object as no reference at all
    if _is_kind(node.values["reftype"]):
        sensor.reftype = int(_frame_type(node, "reftype"))
        sensor.refid = _find(context, node, ObjType(sensor.reftype), "refname")


def _is_kind(word: str) -> bool:
    return any(word == member.keyword for member in ObjType)


def _frame_type(node: Node, attribute: str) -> ObjType:
    word = node.values[attribute]
    if word not in _FRAMES:
        raise node.error(f"{word!r} has no pose; choose from {', '.join(_FRAMES)}", attribute)
    return _FRAMES[word]


def _inside(context: Context, sensor: SensorItem) -> None:
    """An object and the site that it may be in."""
    _frame(context, sensor)
    sensor.reftype = int(ObjType.SITE)
    sensor.refid = _find(context, sensor.place, ObjType.SITE, "site")


def _distance(context: Context, sensor: SensorItem) -> None:
    """Two geoms, or all geoms of bodies."""
    ends = []
    for side in "12":
        written = [name for name in (f"geom{side}", f"body{side}") if name in sensor.place.values]
        if len(written) != 1:
            raise sensor.place.error(
                f"write either geom{side} or body{side}", written[-1] if written else None
            )
        objtype = ObjType.GEOM if written[0].startswith("geom") else ObjType.BODY
        ends.append((int(objtype), _find(context, sensor.place, objtype, written[0])))
    (sensor.objtype, sensor.objid), (sensor.reftype, sensor.refid) = ends
    if ends[0] == ends[1]:
        raise sensor.place.error("both ends are the same object; choose two different ones")
    named = [context.geoms[index] for objtype, index in ends if objtype == ObjType.GEOM]
    if any(geom.type == GeomType.HFIELD for geom in named):
        raise sensor.place.error("MJCF has no distance to a height field; choose another geom")


_CONTACT_SIDES = {
    "1": {"geom1": ObjType.GEOM, "body1": ObjType.BODY, "subtree1": ObjType.XBODY, "site": ObjType.SITE},
    "2": {"geom2": ObjType.GEOM, "body2": ObjType.BODY, "subtree2": ObjType.XBODY},
}
"""What may restrict each side of a contact; a subtree is stored as a body's own frame."""


def _contact(context: Context, sensor: SensorItem) -> None:
    """Contacts between two sides, each a geom, a body, a subtree or anything; the first may be a site's volume."""
    node = sensor.place
    ends = []
    for kinds in _CONTACT_SIDES.values():
        written = [name for name in kinds if name in node.values]
        if len(written) > 1:
            raise node.error(f"at most one of {', '.join(kinds)} can be given", written[1])
        ends.append(
            (int(kinds[written[0]]), _find(context, node, kinds[written[0]], written[0]))
            if written
            else (int(ObjType.UNKNOWN), -1)
        )
    (sensor.objtype, sensor.objid), (sensor.reftype, sensor.refid) = ends
    fields, slots = _contact_fields(node), node.values.get("num", 1)
    if slots <= 0:
        raise node.error("num must be positive", "num")
    bits = sum(1 << int(ContactData.from_keyword(field)) for field in fields)
    sensor.intprm = (bits, _REDUCTIONS.index(node.values.get("reduce", "none")), slots)
    sensor.dim = slots * sum(_CONTACT_SIZES[field] for field in fields)


def _contact_fields(node: Node) -> tuple[str, ...]:
    fields: tuple[str, ...] = node.values.get("data") or ("found",)
    order = [list(_CONTACT_SIZES).index(field) for field in fields]
    if any(b <= a for a, b in pairwise(order)):
        raise node.error(f"data must be in order and without repetition: {' '.join(_CONTACT_SIZES)}", "data")
    return fields


def _user(context: Context, sensor: SensorItem) -> None:
    """Numbers that a callback provides."""
    node = sensor.place
    for attribute, other in (("objtype", "objname"), ("objname", "objtype")):
        if attribute in node.values and other not in node.values:
            raise node.error(f"{attribute} needs {other}; add it", attribute)
    if "objtype" in node.values and _is_kind(node.values["objtype"]):
        objtype = ObjType.from_keyword(node.values["objtype"])
        if _LISTS.get(objtype, objtype.keyword) not in context.objects:
            raise node.error(f"a sensor cannot sit on a {objtype.keyword}; choose another kind", "objtype")
        sensor.objtype, sensor.objid = int(objtype), _find(context, node, objtype, "objname")
    sensor.dim = node.values["dim"]
    sensor.datatype = node.values.get("datatype", sensor.datatype)
    sensor.needstage = node.values.get("needstage", sensor.needstage)
    if sensor.dim < 0:
        raise node.error("dim cannot be negative", "dim")
    for datatype, dim in ((DataType.AXIS, 3), (DataType.QUATERNION, 4)):
        if sensor.datatype == datatype and sensor.dim != dim:
            raise node.error(f'datatype="{datatype.keyword}" needs dim="{dim}"', "dim")


def _tactile(context: Context, sensor: SensorItem) -> None:
    """Pressure and shear on a geom at every vertex of a mesh."""
    _on("mesh", ObjType.MESH)(context, sensor)
    sensor.reftype = int(ObjType.GEOM)
    sensor.refid = _find(context, sensor.place, ObjType.GEOM, "geom")
    sensor.dim = 3 * len(context.objects["mesh"][sensor.objid].surface.vertex)


def _plugin(context: Context, sensor: SensorItem) -> None:
    """What an engine plugin measures; the known one, touch_grid, sits on a site."""
    node = sensor.place
    for kind, name in (("objtype", "objname"), ("reftype", "refname")):
        if _is_kind(node.values.get(kind, "")) != bool(node.values.get(name)):
            raise node.error(f"{kind} and {name} say together what object it is; write both", kind)
    if node.values.get("objtype") != ObjType.SITE.keyword:
        raise node.error('this plugin needs a site; write objtype="site" and objname', "objtype")
    sensor.objtype, sensor.objid = int(ObjType.SITE), _find(context, node, ObjType.SITE, "objname")
    if node.values.get("refname"):
        sensor.reftype = int(_frame_type(node, "reftype"))
        sensor.refid = _find(context, node, ObjType(sensor.reftype), "refname")
    sensor.dim = plugin_readings(context, sensor)


_SITE = _on("site", ObjType.SITE)
_BODY = _on("body", ObjType.BODY)
_TENDON = _on("tendon", ObjType.TENDON)
_ACTUATOR = _on("actuator", ObjType.ACTUATOR)
_POS, _VEL, _ACC = NeedStage.POS, NeedStage.VEL, NeedStage.ACC
_POSITIVE, _AXIS, _QUATERNION = DataType.POSITIVE, DataType.AXIS, DataType.QUATERNION

TABLE: dict[SensorType, SensorRule] = {
    SensorType.TOUCH: SensorRule(_SITE, _ACC, 1, _POSITIVE),
    SensorType.ACCELEROMETER: SensorRule(_SITE, _ACC, 3),
    SensorType.VELOCIMETER: SensorRule(_SITE, _VEL, 3),
    SensorType.GYRO: SensorRule(_SITE, _VEL, 3),
    SensorType.FORCE: SensorRule(_SITE, _ACC, 3),
    SensorType.TORQUE: SensorRule(_SITE, _ACC, 3),
    SensorType.MAGNETOMETER: SensorRule(_SITE, _POS, 3),
    SensorType.RANGEFINDER: SensorRule(_SITE, _POS, 1, _POSITIVE),
    SensorType.CAMPROJECTION: SensorRule(_projected, _POS, 2),
    SensorType.JOINTPOS: SensorRule(_single_joint, _POS),
    SensorType.JOINTVEL: SensorRule(_single_joint, _VEL),
    SensorType.TENDONPOS: SensorRule(_TENDON, _POS),
    SensorType.TENDONVEL: SensorRule(_TENDON, _VEL),
    SensorType.ACTUATORPOS: SensorRule(_ACTUATOR, _POS),
    SensorType.ACTUATORVEL: SensorRule(_ACTUATOR, _VEL),
    SensorType.ACTUATORFRC: SensorRule(_ACTUATOR, _ACC),
    SensorType.JOINTACTFRC: SensorRule(_single_joint, _ACC),
    SensorType.TENDONACTFRC: SensorRule(_TENDON, _ACC),
    SensorType.BALLQUAT: SensorRule(_ball_joint, _POS, 4, _QUATERNION),
    SensorType.BALLANGVEL: SensorRule(_ball_joint, _VEL, 3),
    SensorType.JOINTLIMITPOS: SensorRule(_limited_joint, _POS),
    SensorType.JOINTLIMITVEL: SensorRule(_limited_joint, _VEL),
    SensorType.JOINTLIMITFRC: SensorRule(_limited_joint, _ACC),
    SensorType.TENDONLIMITPOS: SensorRule(_limited_tendon, _POS),
    SensorType.TENDONLIMITVEL: SensorRule(_limited_tendon, _VEL),
    SensorType.TENDONLIMITFRC: SensorRule(_limited_tendon, _ACC),
    SensorType.FRAMEPOS: SensorRule(_frame, _POS, 3),
    SensorType.FRAMEQUAT: SensorRule(_frame, _POS, 4, _QUATERNION),
    SensorType.FRAMEXAXIS: SensorRule(_frame, _POS, 3, _AXIS),
    SensorType.FRAMEYAXIS: SensorRule(_frame, _POS, 3, _AXIS),
    SensorType.FRAMEZAXIS: SensorRule(_frame, _POS, 3, _AXIS),
    SensorType.FRAMELINVEL: SensorRule(_frame, _VEL, 3),
    SensorType.FRAMEANGVEL: SensorRule(_frame, _VEL, 3),
    SensorType.FRAMELINACC: SensorRule(_frame, _ACC, 3),
    SensorType.FRAMEANGACC: SensorRule(_frame, _ACC, 3),
    SensorType.SUBTREECOM: SensorRule(_BODY, _POS, 3),
    SensorType.SUBTREELINVEL: SensorRule(_BODY, _VEL, 3),
    SensorType.SUBTREEANGMOM: SensorRule(_BODY, _VEL, 3),
    SensorType.INSIDESITE: SensorRule(_inside, _POS, 1, _POSITIVE),
    SensorType.GEOMDIST: SensorRule(_distance, _POS),
    SensorType.GEOMNORMAL: SensorRule(_distance, _POS, 3, _AXIS),
    SensorType.GEOMFROMTO: SensorRule(_distance, _POS, 6),
    SensorType.CONTACT: SensorRule(_contact, _ACC),
    SensorType.E_POTENTIAL: SensorRule(_nothing, _POS),
    # MuJoCo 3.4 declares the position stage although the kinetic energy depends on velocity
    SensorType.E_KINETIC: SensorRule(_nothing, _POS),
    SensorType.CLOCK: SensorRule(_nothing, _POS),
    SensorType.TACTILE: SensorRule(_tactile, _ACC),
    SensorType.PLUGIN: SensorRule(_plugin, _ACC),
    SensorType.USER: SensorRule(_user, _ACC),
}
