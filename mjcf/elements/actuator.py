"""`<actuator>`: the general actuator and its shortcuts, and what they act on.

A shortcut only presets the general actuator's dynamics, gain and bias (MuJoCo's `mjs_setTo…`). Gains that
are not written keep the value of the default class, which all shortcuts share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs

from dovetail.contracts.enums import AutoBool, BiasType, DynType, GainType, TrnType
from dovetail.mjcf.elements.columns import Columns
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.elements.plugins import PluginUser, plugin_activations
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.mjcf.read.source import Node

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

_MUSCLE_GAINS = ["range", "force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"]
"""In the order of gainprm, where `range` takes two places."""
_OWN = ["kp", "kv", "dampratio", "timeconst", "inheritrange", "area", "diameter", "bias", "gain"]
_OWN += ["tausmooth", "plugin", "instance", *_MUSCLE_GAINS]
"""Attributes that a shortcut translates; all others are the general actuator's."""
_TARGETS = {
    "joint": (TrnType.JOINT, "joint"),
    "jointinparent": (TrnType.JOINTINPARENT, "joint"),
    "tendon": (TrnType.TENDON, "tendon"),
    "site": (TrnType.SITE, "site"),
    "cranksite": (TrnType.SLIDERCRANK, "site"),
    "body": (TrnType.BODY, "body"),
}
"""For each attribute that names a target, the kind of transmission and of object."""
_SECOND = {TrnType.SITE: "refsite", TrnType.SLIDERCRANK: "slidersite"}
"""Transmissions with a second site."""
_MOST_ACTIVATIONS = 10_000_000
"""More activation variables than this would not fit in memory."""
_MUSCLE_DYNAMICS = (0.01, 0.04)
_MUSCLE_GAIN = (0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2)
"""A muscle's numbers where nothing is written: operating range, peak force (−1: from scale), scale, and the
force-length-velocity curve (mjs_setToMuscle)."""


@attrs.define(eq=False, kw_only=True)
class ActuatorItem(Item):
    """An element of `<actuator>`, whichever shortcut it is."""

    group: int = 0
    ctrllimited: int = AutoBool.AUTO
    ctrlrange: Vec = (0.0, 0.0)
    forcelimited: int = AutoBool.AUTO
    forcerange: Vec = (0.0, 0.0)
    actlimited: int = AutoBool.AUTO
    actrange: Vec = (0.0, 0.0)
    lengthrange: Vec = (0.0, 0.0)
    gear: Vec = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    cranklength: float = 0.0
    dyntype: int = 0
    gaintype: int = 0
    biastype: int = 0
    dynprm: Vec = (1.0, *(0.0,) * 9)
    gainprm: Vec = (1.0, *(0.0,) * 9)
    biasprm: Vec = (0.0,) * 10
    actdim: int = -1
    actearly: bool = False
    inheritrange: float = 0.0
    user: Vec = ()
    trntype: int = 0
    trnid: tuple[int, int] = (-1, -1)
    actadr: int = -1
    plugin: int = -1


COLUMNS: Columns = {
    "actuator_trntype": "trntype",
    "actuator_dyntype": "dyntype",
    "actuator_gaintype": "gaintype",
    "actuator_biastype": "biastype",
    "actuator_trnid": "trnid",
    "actuator_actadr": "actadr",
    "actuator_actnum": "actdim",
    "actuator_group": "group",
    "actuator_ctrllimited": "ctrllimited",
    "actuator_forcelimited": "forcelimited",
    "actuator_actlimited": "actlimited",
    "actuator_dynprm": "dynprm",
    "actuator_gainprm": "gainprm",
    "actuator_biasprm": "biasprm",
    "actuator_actearly": "actearly",
    "actuator_ctrlrange": "ctrlrange",
    "actuator_forcerange": "forcerange",
    "actuator_actrange": "actrange",
    "actuator_gear": "gear",
    "actuator_cranklength": "cranklength",
    "actuator_lengthrange": "lengthrange",
    "actuator_user": "user",
    "actuator_plugin": "plugin",
}


def _set(vector: Vec, index: int, value: float) -> Vec:
    return (*vector[:index], value, *vector[index + 1 :])


def _types(actuator: ActuatorItem, dynamics: int, gain: int, bias: int) -> None:
    actuator.dyntype, actuator.gaintype, actuator.biastype = dynamics, gain, bias


def _general(actuator: ActuatorItem, node: Node) -> None:
    """Nothing to preset."""


def _motor(actuator: ActuatorItem, node: Node) -> None:
    """Force = gear · ctrl."""
    actuator.gainprm = _set(actuator.gainprm, 0, 1.0)
    _types(actuator, DynType.NONE, GainType.FIXED, BiasType.NONE)


def _servo(actuator: ActuatorItem, node: Node) -> None:
    """Position feedback: force = kp·(ctrl − length) − kv·velocity."""
    kp = node.values.get("kp", actuator.gainprm[0])
    actuator.gainprm = _set(actuator.gainprm, 0, kp)
    actuator.biasprm = _set(actuator.biasprm, 1, -kp)
    if "kv" in node.values and "dampratio" in node.values:
        raise node.error("kv and dampratio both give the damping; write one", "dampratio")
    if "kv" in node.values:
        actuator.biasprm = _set(actuator.biasprm, 2, -_not_negative(node, "kv"))
    if "dampratio" in node.values:
        # a positive number here is a ratio; finalize_model, which knows the inertia, makes it a damping
        actuator.biasprm = _set(actuator.biasprm, 2, _not_negative(node, "dampratio"))
    actuator.inheritrange = node.values.get("inheritrange", actuator.inheritrange)
    actuator.gaintype, actuator.biastype = GainType.FIXED, BiasType.AFFINE


def _position(actuator: ActuatorItem, node: Node) -> None:
    _servo(actuator, node)
    if "timeconst" in node.values:
        actuator.dynprm = _set(actuator.dynprm, 0, _not_negative(node, "timeconst"))
        actuator.dyntype = DynType.FILTEREXACT if node.values["timeconst"] else DynType.NONE
    if actuator.inheritrange > 0 and any(actuator.ctrlrange):
        raise node.error("ctrlrange and inheritrange both give the range; write one", "inheritrange")


def _intvelocity(actuator: ActuatorItem, node: Node) -> None:
    """A position servo whose target is the integral of ctrl."""
    _servo(actuator, node)
    actuator.dyntype = DynType.INTEGRATOR
    actuator.actlimited = AutoBool.TRUE
    if actuator.inheritrange > 0 and any(actuator.actrange):
        raise node.error("actrange and inheritrange both give the range; write one", "inheritrange")


def _velocity(actuator: ActuatorItem, node: Node) -> None:
    """Velocity feedback: force = kv·(ctrl − velocity)."""
    kv = node.values.get("kv", actuator.gainprm[0])
    actuator.gainprm = _set(actuator.gainprm, 0, kv)
    actuator.biasprm = _set((0.0,) * 10, 2, -kv)
    _types(actuator, DynType.NONE, GainType.FIXED, BiasType.AFFINE)


def _damper(actuator: ActuatorItem, node: Node) -> None:
    """Active damping: force = −kv · velocity · ctrl."""
    kv = _not_negative(node, "kv") if "kv" in node.values else 0.0
    actuator.gainprm = _set((0.0,) * 10, 2, -kv)
    actuator.ctrllimited = AutoBool.TRUE
    _types(actuator, DynType.NONE, GainType.AFFINE, BiasType.NONE)
    if min(actuator.ctrlrange) < 0:
        raise node.error("a damper's control range cannot be negative; start it at 0", "ctrlrange")


def _cylinder(actuator: ActuatorItem, node: Node) -> None:
    """Pneumatic or hydraulic cylinder: pressure is filtered ctrl, force = area · pressure + bias."""
    actuator.dynprm = _set(actuator.dynprm, 0, node.values.get("timeconst", actuator.dynprm[0]))
    # of the three numbers of `bias` MuJoCo 3.4 uses only the first (mjs_setToCylinder takes one)
    actuator.biasprm = _set(actuator.biasprm, 0, node.values.get("bias", actuator.biasprm)[0])
    area = node.values.get("area", actuator.gainprm[0])
    if node.values.get("diameter", -1.0) >= 0:  # MuJoCo ignores a negative one
        area = math.pi / 4 * node.values["diameter"] * node.values["diameter"]
    actuator.gainprm = _set(actuator.gainprm, 0, area)
    _types(actuator, DynType.FILTER, GainType.FIXED, BiasType.AFFINE)


def _not_negative(node: Node, attribute: str) -> float:
    value = float(node.values[attribute])
    if value < 0:
        raise node.error(f"{attribute} cannot be negative; write 0 or more", attribute)
    return value


def _muscle(actuator: ActuatorItem, node: Node) -> None:
    """Hill-type muscle; what still has the general actuator's built-in number takes the muscle's."""
    builtin = ActuatorItem()
    dynamics = _replaced(actuator.dynprm, builtin.dynprm, _MUSCLE_DYNAMICS)
    gain = _replaced(actuator.gainprm, builtin.gainprm, _MUSCLE_GAIN)
    written = [*node.values.get("range", (-1.0, -1.0))]
    written += [node.values.get(name, -1.0) for name in _MUSCLE_GAINS[1:]]
    if node.values.get("tausmooth", 0.0) < 0:
        raise node.error("tausmooth cannot be negative; write 0 or more", "tausmooth")
    times = (*node.values.get("timeconst", (-1.0, -1.0)), node.values.get("tausmooth", -1.0))
    actuator.dynprm = _where_given(times, dynamics)
    actuator.gainprm = actuator.biasprm = _where_given(written, gain)
    _types(actuator, DynType.MUSCLE, GainType.MUSCLE, BiasType.MUSCLE)


def _replaced(vector: Vec, builtin: Vec, new: Vec) -> Vec:
    """The vector with new numbers where it still has the built-in ones."""
    start = [n if v == b else v for v, b, n in zip(vector, builtin, new, strict=False)]
    return (*start, *vector[len(start) :])


def _where_given(written: Sequence[float], vector: Vec) -> Vec:
    """Written numbers over a vector; a negative one counts as not written."""
    start = [w if w >= 0 else v for w, v in zip(written, vector, strict=False)]
    return (*start, *vector[len(start) :])


def _adhesion(actuator: ActuatorItem, node: Node) -> None:
    """Pull on what the body touches: force = gain · ctrl, ctrl not negative."""
    gain = node.values.get("gain", actuator.gainprm[0])  # the class's gain may be another shortcut's
    if gain < 0:
        raise node.error(f"gain cannot be negative, and that of this adhesion is {gain:g}", "gain")
    actuator.gainprm = _set(actuator.gainprm, 0, gain)
    actuator.ctrllimited = AutoBool.TRUE
    actuator.gaintype, actuator.biastype = GainType.FIXED, BiasType.NONE
    if min(actuator.ctrlrange) < 0:
        raise node.error("the control range of adhesion cannot be negative; start it at 0", "ctrlrange")


SHORTCUTS: dict[str, Callable[[ActuatorItem, Node], None]] = {
    "general": _general,
    "motor": _motor,
    "position": _position,
    "velocity": _velocity,
    "intvelocity": _intvelocity,
    "damper": _damper,
    "cylinder": _cylinder,
    "muscle": _muscle,
    "adhesion": _adhesion,
    "plugin": _general,
}


def apply_actuator(actuator: ActuatorItem, node: Node) -> None:
    """Lay an actuator element, of whichever shortcut, over an actuator."""
    skip = {*_OWN, *_TARGETS, *_SECOND.values()}
    overlay(actuator, {name: value for name, value in node.values.items() if name not in skip})
    SHORTCUTS[node.tag](actuator, node)


def read_actuators(context: Context, section: Node) -> None:
    """Read an `<actuator>` section."""
    for node in section.children:
        actuator = context.defaults.of(node).make(ActuatorItem)
        actuator.node = node
        apply_actuator(actuator, node)
        context.add("actuator", actuator)
        if node.tag == "plugin":
            context.plugin_users.append(PluginUser(node, actuator, "actuation", turn=1))


def compile_actuators(context: Context) -> None:
    """Resolve targets, ranges and activation addresses of all actuators (`mjCActuator::Compile`)."""
    address = 0
    for actuator in context.actuators:
        _find_target(context, actuator)
        _inherit_range(context, actuator)
        _check_limits(context, actuator)
        _check_muscle(actuator)
        if actuator.plugin < 0:
            _set_activation(actuator)
        else:
            _set_plugin_activation(context, actuator)
        actuator.actadr = address if actuator.actdim else -1
        address += actuator.actdim
        if address > _MOST_ACTIVATIONS:
            raise actuator.place.error(f"more than {_MOST_ACTIVATIONS} activation variables", "actdim")
        actuator.user = context.padded_user(actuator, "nuser_actuator", actuator.user)


def _find_target(context: Context, actuator: ActuatorItem) -> None:
    node = actuator.place
    written = [name for name in _TARGETS if name in node.values]
    if len(written) > 1:
        raise node.error("has several transmission targets; keep one", written[1])
    if not written or not node.values[written[0]]:
        known = ", ".join(name for name in _TARGETS if name in node.schema.attributes)
        raise node.error(f"has no transmission target; write one of {known}")
    kind, objects = _TARGETS[written[0]]
    second = -1
    for transmission, attribute in _SECOND.items():
        if kind == transmission and node.values.get(attribute):
            second = context.find("site", node.values[attribute], node, attribute)
        elif kind != transmission and attribute in node.values:
            owner = next(name for name, (other, _) in _TARGETS.items() if other == transmission)
            raise node.error(f"{attribute} needs a target given as {owner}", attribute)
    _check_crank(actuator, kind, second)
    actuator.trntype = int(kind)
    actuator.trnid = (context.find(objects, node.values[written[0]], node, written[0]), second)


def _check_crank(actuator: ActuatorItem, kind: TrnType, slidersite: int) -> None:
    node = actuator.place
    if kind != TrnType.SLIDERCRANK:
        if "cranklength" in node.values:
            raise node.error("cranklength needs a target given as cranksite", "cranklength")
        return
    if slidersite < 0:
        raise node.error("a slider-crank needs two sites; add slidersite", "cranksite")
    if actuator.cranklength <= 0:
        raise node.error("a slider-crank needs a rod; write a positive cranklength", "cranklength")


def actuated_bodies(context: Context) -> set[int]:
    """The bodies that actuators act on; of two sites, only the first one's."""
    bodies: set[int] = set()
    for actuator in context.actuators:
        target = actuator.trnid[0]
        bodies.update(_BODIES_OF[TrnType(actuator.trntype)](context, target))
    return bodies


def _joint_bodies(context: Context, joint: int) -> list[int]:
    return [context.joints[joint].bodyid]


def _site_bodies(context: Context, site: int) -> list[int]:
    return [context.sites[site].bodyid]


def _tendon_bodies(context: Context, tendon: int) -> list[int]:
    return [wrap.bodyid for wrap in context.objects["tendon"][tendon].path if wrap.bodyid >= 0]


_BODIES_OF: dict[TrnType, Callable[[Context, int], list[int]]] = {
    TrnType.JOINT: _joint_bodies,
    TrnType.JOINTINPARENT: _joint_bodies,
    TrnType.TENDON: _tendon_bodies,
    TrnType.SITE: _site_bodies,
    TrnType.SLIDERCRANK: _site_bodies,
    TrnType.BODY: lambda context, body: [body],
}


def _inherit_range(context: Context, actuator: ActuatorItem) -> None:
    """inheritrange: take the range of the joint or tendon, scaled about its middle."""
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
    if actuator.trntype not in (TrnType.JOINT, TrnType.TENDON):
        raise node.error("inheritrange needs a target given as joint or tendon", "inheritrange")
    kind = "joint" if actuator.trntype == TrnType.JOINT else "tendon"
    low, high = context.objects[kind][actuator.trnid[0]].range
    if low == high:
        raise node.error(
            f"inheritrange needs a {kind} that has a range; add range to the {kind}", "inheritrange"
        )
    middle, radius = 0.5 * (high + low), 0.5 * (high - low) * actuator.inheritrange
    scaled = (middle - radius, middle + radius)
    if actuator.dyntype == DynType.INTEGRATOR:
        actuator.actrange = scaled
    else:
        actuator.ctrlrange = scaled


def _check_limits(context: Context, actuator: ActuatorItem) -> None:
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


def _check_muscle(actuator: ActuatorItem) -> None:
    """The numbers of a muscle's force-length-velocity curve."""
    parts = (("gaintype", GainType.MUSCLE, actuator.gainprm), ("biastype", BiasType.MUSCLE, actuator.biasprm))
    for attribute, muscle, numbers in parts:
        if getattr(actuator, attribute) != muscle:
            continue
        node, (low, high, _, scale, lmin, lmax, vmax, fpmax, fvmax, _) = actuator.place, numbers
        if low >= high:
            raise node.error(f"a muscle's range must increase, it is {low:g} {high:g}", "range")
        if not lmin < 1 < lmax:
            raise node.error("a muscle needs lmin below 1 and lmax above 1", "lmin")
        if min(scale, vmax, fpmax, fvmax) <= 0:
            raise node.error("a muscle needs positive scale, vmax, fpmax and fvmax")


def _set_activation(actuator: ActuatorItem) -> None:
    node, stateful = actuator.place, actuator.dyntype != DynType.NONE
    if actuator.actdim < 0:
        actuator.actdim = int(stateful)
    if actuator.actdim > 1 and actuator.dyntype != DynType.USER:
        raise node.error(f'actdim {actuator.actdim} does not fit; above 1 it needs dyntype="user"', "actdim")
    if bool(actuator.actdim) != stateful:
        needed = "1 or more for an actuator with dynamics" if stateful else "0 or left out without dynamics"
        raise node.error(f"actdim {actuator.actdim} does not fit; it must be {needed}", "actdim")


def _set_plugin_activation(context: Context, actuator: ActuatorItem) -> None:
    """An engine plugin says how many activations there must be, but the element has to write them."""
    if actuator.actdim < 0:
        actuator.actdim = int(actuator.dyntype != DynType.NONE)
    needed = plugin_activations(context, actuator)
    if actuator.actdim != needed:
        raise actuator.place.error(
            f'has {actuator.actdim} activations, but its plugin needs {needed}; write actdim="{needed}"',
            "actdim",
        )


def moment_nonzeros(context: Context) -> int:
    """nJmom: room for the actuator moment matrix; what acts on anything but a joint may move every dof."""
    joints, nv = {int(TrnType.JOINT), int(TrnType.JOINTINPARENT)}, context.sizes["nv"]
    return sum(context.joints[a.trnid[0]].nv if a.trntype in joints else nv for a in context.actuators)
