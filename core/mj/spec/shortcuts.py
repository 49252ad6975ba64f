"""Methods of elements that follow the compiler's own rules: kinds of actuators, built-in meshes, sensor sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.errors import MJCFError, shown
from dovetail.mj.spec.problems import SpecError

if TYPE_CHECKING:
    from dovetail.mj.spec.lists import MjsActuator, MjsMesh, MjsSensor

_NUMBERS = ("gainprm", "biasprm", "dynprm")
_TYPES = ("gaintype", "biastype", "dyntype")
_LIMITS = ("ctrllimited", "actlimited")
_CHECKED = {
    ("damper", "kv"): "damping coefficient cannot be negative",
    ("adhesion", "gain"): "adhesion gain cannot be negative",
}
"""Numbers that may not be negative, and MuJoCo's words."""


def pair(value: Any) -> tuple[float, float]:
    """Two numbers, or one for both."""
    numbers = np.broadcast_to(np.asarray(value, float).reshape(-1), (2,))
    return float(numbers[0]), float(numbers[1])


def set_to(actuator: MjsActuator, tag: str, **numbers: Any) -> None:
    """Give an actuator the gains, biases and dynamics of a kind, as its MJCF shortcut does."""
    from dovetail.mjcf.elements.actuator import SHORTCUTS, ActuatorItem
    from dovetail.mjcf.read.source import Node

    actuator._alive()
    for (kind, name), words in _CHECKED.items():
        if tag == kind and numbers[name] < 0:
            raise SpecError(words)
    if numbers.get("kv", -1) >= 0 and numbers.get("dampratio", -1) >= 0:
        raise SpecError("kv and dampratio cannot both be defined")
    inherited = numbers.pop("inheritrange", 0.0)
    given = {
        name: value for name, value in numbers.items() if not isinstance(value, float | int) or value >= 0
    }
    values = actuator._values
    item = ActuatorItem()
    for name in _NUMBERS:
        setattr(item, name, tuple(values[name].tolist()))
    for name in (*_TYPES, *_LIMITS):
        setattr(item, name, int(values[name]))
    if tag == "intvelocity" and "timeconst" in given:
        item.dynprm = (given["timeconst"], *item.dynprm[1:])
    try:
        SHORTCUTS[tag](item, Node(tag, "", 0, {}, values=given))
    except MJCFError as problem:
        raise SpecError(problem.reason) from None
    for name in _NUMBERS:
        setattr(actuator, name, getattr(item, name))
    for name in _TYPES:
        setattr(actuator, name, actuator.FIELDS[name].enum(int(getattr(item, name))))  # type: ignore[attr-defined]
    for name in _LIMITS:
        setattr(actuator, name, int(getattr(item, name)))
    if inherited:
        field = "actrange" if tag == "intvelocity" else "ctrlrange"
        if np.any(values[field]):
            raise SpecError(f"{field} and inheritrange cannot both be defined")
        actuator.inheritrange = inherited


def build_mesh(mesh: MjsMesh, shape: str, params: tuple[float, ...]) -> None:
    """Give a mesh the vertices, normals and faces of a built-in shape."""
    from dovetail.contracts.enums import MeshBuiltin
    from dovetail.mjcf.geometry.builtin_meshes import ShapeError, make_builtin

    mesh._alive()
    try:
        numbers = tuple(float(value) for value in params)
        parts = make_builtin(int(MeshBuiltin.from_keyword(shape)), numbers)
    except ShapeError as problem:
        raise SpecError(str(problem)) from None
    except (TypeError, ValueError):
        raise SpecError(f"the parameters of a {shape} are numbers, not {shown(params)}") from None
    for field, part in (("uservert", "vertex"), ("usernormal", "normal"), ("userface", "face")):
        setattr(mesh, field, np.asarray(parts.get(part, ())).reshape(-1))


def sensor_size(sensor: MjsSensor) -> int:
    """How many numbers a sensor measures."""
    from dovetail.contracts.enums import ContactData, SensorType
    from dovetail.mjcf.elements.sensor import _CONTACT_SIZES, TABLE

    kind = SensorType(int(sensor.type))
    if kind == SensorType.CONTACT:
        bits = int(sensor.intprm[0])
        widths = [_CONTACT_SIZES[field.keyword] for field in ContactData if bits >> int(field) & 1]
        return int(sensor.intprm[2]) * sum(widths)
    if kind == SensorType.TACTILE:
        found = sensor._owner().mesh(sensor.objname)
        return 0 if found is None else len(found.uservert)
    if kind in (SensorType.USER, SensorType.PLUGIN):
        return int(sensor.dim)
    return TABLE[kind].dim
