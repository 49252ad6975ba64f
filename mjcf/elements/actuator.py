"""`<actuator>`: the general actuator and its shortcuts, and their transmissions to joints.

A shortcut only presets the general actuator's dynamics, gain and bias (MuJoCo's `mjs_setTo…`). Gains that
are not written keep the value of the default class, which all shortcuts share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from dovetail.contracts.enums import AutoBool, BiasType, DynType, GainType, JointType, TrnType

from ..kinds import Vec
from ..source import Node
from ..tree import Actuator, overlay

if TYPE_CHECKING:
    from ..context import Context

_DYNAMICS = (DynType.NONE, DynType.INTEGRATOR, DynType.FILTER, DynType.FILTEREXACT)
_GAINS = (GainType.FIXED, GainType.AFFINE)
_BIASES = (BiasType.NONE, BiasType.AFFINE)
_OWN = ["kp", "kv", "dampratio", "timeconst", "inheritrange", "area", "diameter", "bias", "gain"]
"""Attributes that a shortcut translates; all others are the general actuator's."""
_TARGETS = {"joint": TrnType.JOINT, "jointinparent": TrnType.JOINTINPARENT}


def _set(vector: Vec, index: int, value: float) -> Vec:
    return (*vector[:index], value, *vector[index + 1 :])


def _types(actuator: Actuator, dynamics: int, gain: int, bias: int) -> None:
    actuator.dyntype, actuator.gaintype, actuator.biastype = dynamics, gain, bias


def _general(actuator: Actuator, node: Node) -> None:
    """Nothing to preset."""


def _motor(actuator: Actuator, node: Node) -> None:
    """Force = gear · ctrl."""
    actuator.gainprm = _set(actuator.gainprm, 0, 1.0)
    _types(actuator, DynType.NONE, GainType.FIXED, BiasType.NONE)


def _servo(actuator: Actuator, node: Node) -> None:
    """Position feedback: force = kp·(ctrl − length) − kv·velocity."""
    kp = node.values.get("kp", actuator.gainprm[0])
    actuator.gainprm = _set(actuator.gainprm, 0, kp)
    actuator.biasprm = _set(actuator.biasprm, 1, -kp)
    if "kv" in node.values and "dampratio" in node.values:
        raise node.error("kv and dampratio both give the damping; write one", "dampratio")
    if "kv" in node.values:
        actuator.biasprm = _set(actuator.biasprm, 2, -node.values["kv"])
    if "dampratio" in node.values:
        # a positive number here is a ratio; finalize_model, which knows the inertia, makes it a damping
        actuator.biasprm = _set(actuator.biasprm, 2, _not_negative(node, "dampratio"))
    actuator.inheritrange = node.values.get("inheritrange", actuator.inheritrange)
    actuator.gaintype, actuator.biastype = GainType.FIXED, BiasType.AFFINE


def _position(actuator: Actuator, node: Node) -> None:
    if "kv" in node.values:
        _not_negative(node, "kv")
    _servo(actuator, node)
    if "timeconst" in node.values:
        actuator.dynprm = _set(actuator.dynprm, 0, _not_negative(node, "timeconst"))
        actuator.dyntype = DynType.FILTEREXACT if node.values["timeconst"] else DynType.NONE
    if actuator.inheritrange > 0 and any(actuator.ctrlrange):
        raise node.error("ctrlrange and inheritrange both give the range; write one", "inheritrange")


def _intvelocity(actuator: Actuator, node: Node) -> None:
    """A position servo whose target is the integral of ctrl."""
    _servo(actuator, node)
    actuator.dyntype = DynType.INTEGRATOR
    actuator.actlimited = AutoBool.TRUE
    if actuator.inheritrange > 0 and any(actuator.actrange):
        raise node.error("actrange and inheritrange both give the range; write one", "inheritrange")


def _velocity(actuator: Actuator, node: Node) -> None:
    """Velocity feedback: force = kv·(ctrl − velocity)."""
    kv = node.values.get("kv", actuator.gainprm[0])
    actuator.gainprm = _set(actuator.gainprm, 0, kv)
    actuator.biasprm = _set((0.0,) * 10, 2, -kv)
    _types(actuator, DynType.NONE, GainType.FIXED, BiasType.AFFINE)


def _damper(actuator: Actuator, node: Node) -> None:
    """Active damping: force = −kv · velocity · ctrl."""
    kv = _not_negative(node, "kv") if "kv" in node.values else 0.0
    actuator.gainprm = _set((0.0,) * 10, 2, -kv)
    actuator.ctrllimited = AutoBool.TRUE
    _types(actuator, DynType.NONE, GainType.AFFINE, BiasType.NONE)
    if min(actuator.ctrlrange) < 0:
        raise node.error("a damper's control range cannot be negative; start it at 0", "ctrlrange")


def _cylinder(actuator: Actuator, node: Node) -> None:
    """Pneumatic or hydraulic cylinder: pressure is filtered ctrl, force = area · pressure + bias."""
    actuator.dynprm = _set(actuator.dynprm, 0, node.values.get("timeconst", actuator.dynprm[0]))
    # of the three numbers of `bias` MuJoCo 3.4 uses only the first (mjs_setToCylinder takes one)
    actuator.biasprm = _set(actuator.biasprm, 0, node.values.get("bias", actuator.biasprm)[0])
    area = node.values.get("area", actuator.gainprm[0])
    if "diameter" in node.values:
        area = math.pi / 4 * node.values["diameter"] * node.values["diameter"]
    actuator.gainprm = _set(actuator.gainprm, 0, area)
    _types(actuator, DynType.FILTER, GainType.FIXED, BiasType.AFFINE)


def _not_negative(node: Node, attribute: str) -> float:
    value = float(node.values[attribute])
    if value < 0:
        raise node.error(f"{attribute} cannot be negative; write 0 or more", attribute)
    return value


def _unsupported_shortcut(actuator: Actuator, node: Node) -> None:
    """muscle and adhesion: their defaults are checked but have no effect, as their elements are refused."""


SHORTCUTS: dict[str, Callable[[Actuator, Node], None]] = {
    "general": _general,
    "motor": _motor,
    "position": _position,
    "velocity": _velocity,
    "intvelocity": _intvelocity,
    "damper": _damper,
    "cylinder": _cylinder,
    "muscle": _unsupported_shortcut,
    "adhesion": _unsupported_shortcut,
}


def apply_actuator(actuator: Actuator, node: Node) -> None:
    """Lay an actuator element, of whichever shortcut, over an actuator."""
    if SHORTCUTS[node.tag] is _unsupported_shortcut:
        return
    skip = {*_OWN, *_TARGETS}
    overlay(actuator, {name: value for name, value in node.values.items() if name not in skip})
    SHORTCUTS[node.tag](actuator, node)


def read_actuators(context: Context, section: Node) -> None:
    """Read an `<actuator>` section."""
    for node in section.children:
        actuator = context.defaults.of(node).make(Actuator)
        actuator.node = node
        apply_actuator(actuator, node)
        context.add("actuator", actuator)


def compile_actuators(context: Context) -> None:
    """Resolve targets, ranges and activation addresses of all actuators (`mjCActuator::Compile`)."""
    address = 0
    for actuator in context.actuators:
        _check_types(actuator)
        _find_target(context, actuator)
        _inherit_range(context, actuator)
        _check_limits(context, actuator)
        _set_activation(actuator)
        actuator.actadr = address if actuator.actdim else -1
        address += actuator.actdim
        actuator.user = context.padded_user(actuator, "nuser_actuator", actuator.user)


def _check_types(actuator: Actuator) -> None:
    for attribute, enum, known in (
        ("dyntype", DynType, _DYNAMICS),
        ("gaintype", GainType, _GAINS),
        ("biastype", BiasType, _BIASES),
    ):
        value = getattr(actuator, attribute)
        if value not in known:
            word = enum(value).keyword
            raise actuator.place.unsupported(f'{attribute}="{word}"', attribute)


def _find_target(context: Context, actuator: Actuator) -> None:
    node = actuator.place
    written = [name for name in _TARGETS if name in node.values]
    if len(written) != 1:
        problem = "has no transmission target" if not written else "has several transmission targets"
        raise node.error(f"{problem}; write one of joint, jointinparent", written[1] if written else None)
    (attribute,) = written
    joint = context.joints[context.find("joint", node.values[attribute], node, attribute)]
    if joint.type in (JointType.BALL, JointType.FREE):
        raise node.unsupported(f"an actuator on a {JointType(joint.type).keyword} joint", attribute)
    actuator.trntype = int(_TARGETS[attribute])
    actuator.trnid = (joint.id, -1)


def _inherit_range(context: Context, actuator: Actuator) -> None:
    """inheritrange: take the range of the joint, scaled about its middle."""
    same_unit = (
        actuator.gaintype == GainType.FIXED
        and actuator.biastype == BiasType.AFFINE
        and actuator.gainprm[0] == -actuator.biasprm[1]
    )
    if not same_unit or actuator.inheritrange <= 0:
        return
    node = actuator.place
    if actuator.dyntype == DynType.FILTER:
        raise node.error("inheritrange is only for position and intvelocity actuators", "inheritrange")
    if actuator.trntype != TrnType.JOINT:
        raise node.error("inheritrange needs a target given as joint", "inheritrange")
    low, high = context.joints[actuator.trnid[0]].range
    if low == high:
        raise node.error(
            "inheritrange needs a joint that has a range; add range to the joint", "inheritrange"
        )
    middle, radius = 0.5 * (high + low), 0.5 * (high - low) * actuator.inheritrange
    scaled = (middle - radius, middle + radius)
    if actuator.dyntype == DynType.INTEGRATOR:
        actuator.actrange = scaled
    else:
        actuator.ctrlrange = scaled


def _check_limits(context: Context, actuator: Actuator) -> None:
    for prefix in ("force", "ctrl", "act"):
        limits = getattr(actuator, f"{prefix}range")
        limited = context.resolve_limited(actuator, prefix, getattr(actuator, f"{prefix}limited"), limits)
        setattr(actuator, f"{prefix}limited", int(limited))
        if limited and limits[0] >= limits[1]:
            raise actuator.place.error(
                f"{prefix}range must increase, it is {limits[0]:g} {limits[1]:g}", f"{prefix}range"
            )
    if actuator.actlimited and actuator.dyntype == DynType.NONE:
        raise actuator.place.error('actrange needs an activation, but dyntype is "none"', "actrange")


def _set_activation(actuator: Actuator) -> None:
    stateful = actuator.dyntype != DynType.NONE
    if actuator.actdim >= 0 and actuator.actdim != int(stateful):
        needed = "1 for an actuator with dynamics" if stateful else "0 or left out without dynamics"
        raise actuator.place.error(f"actdim {actuator.actdim} does not fit; it must be {needed}", "actdim")
    actuator.actdim = int(stateful)
