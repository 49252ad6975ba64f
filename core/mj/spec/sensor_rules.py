"""What a sensor may be attached to, checked before it is written; MuJoCo's words where scripts look for them."""

from __future__ import annotations

from typing import Any

from dovetail.contracts.enums import ContactData, ObjType, SensorType
from dovetail.mj.spec.problems import SpecError
from dovetail.mjcf.read.schema import MUJOCO

_ROWS = MUJOCO.children["sensor"].children
_SIMPLE = ("site", "joint", "tendon", "actuator", "body")
_KINDS = {kind: ObjType.from_keyword(kind) for kind in _SIMPLE}
_FIRST = (ObjType.BODY, ObjType.XBODY, ObjType.GEOM, ObjType.SITE)
_SECOND = (ObjType.BODY, ObjType.XBODY, ObjType.GEOM)
_REDUCTIONS = 4


def check_sensor(sensor: Any, kind: SensorType) -> None:
    """Refuse a sensor that no MJCF element could say."""
    if kind == SensorType.CONTACT:
        _check_contact(sensor)
        return
    row = _ROWS[kind.keyword]
    wanted = next((word for word in _SIMPLE if word in row.required), None)
    if wanted is None or "objtype" in row.attributes or kind == SensorType.CAMPROJECTION:
        return
    if int(sensor._values["objtype"]) != int(_KINDS[wanted]):
        raise _problem(sensor, f"sensor of type {kind.keyword} must be attached to a {wanted}; set objtype")


def _problem(sensor: Any, words: str) -> SpecError:
    values = sensor._values
    told = f", {values['info']}" if values["info"] else ""
    return SpecError(f"Error: {words}\nElement name '{values['name']}', id {max(sensor.id, 0)}{told}")


def _check_contact(sensor: Any) -> None:
    """The three numbers of a contact sensor, and its two sides."""
    values = sensor._values
    first, second = int(values["objtype"]), int(values["reftype"])
    if first and first not in [int(kind) for kind in _FIRST]:
        raise _problem(sensor, "first matching criterion: if set, must be (x)body, geom or site")
    if second and second not in [int(kind) for kind in _SECOND]:
        raise _problem(sensor, "second matching criterion: if set, must be (x)body or geom")
    bits, reduction, slots = (int(number) for number in values["intprm"])
    known = (1 << len(ContactData)) - 1
    if bits <= 0:
        raise _problem(sensor, f"data spec (intprm[0]) must be positive, got {bits}")
    if not bits & known:
        raise _problem(
            sensor, f"data spec intprm[0]={bits} must have at least one bit set of the first mjNCONDATA bits"
        )
    if bits & ~known:
        raise _problem(sensor, f"data spec intprm[0]={bits} has bits set beyond the first mjNCONDATA bits")
    if not 0 <= reduction < _REDUCTIONS:
        raise _problem(sensor, f"unknown reduction criterion. got {reduction}")
    if slots <= 0:
        raise _problem(sensor, "num (intprm[2]) must be positive in sensor")
