"""`<keyframe>`: saved states. What a key does not write is the model's reference state."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail import limits
from dovetail.contracts.enums import DynType, JointType
from dovetail.contracts.types import full_sizes
from dovetail.errors import CapacityError
from dovetail.mjcf.compose.key_layout import KeyLayout, mocap_bodies
from dovetail.mjcf.elements.actuator import ActuatorItem, apply_actuator
from dovetail.mjcf.elements.columns import column
from dovetail.mjcf.elements.items import Item, overlay
from dovetail.mjcf.elements.joint import JointItem
from dovetail.mjcf.geometry.rotation import IDENTITY, Vec
from dovetail.mjcf.read.source import Node
from dovetail.plugins.shared.constants import EPS, MINVAL

if TYPE_CHECKING:
    from dovetail.mjcf.model.context import Context

REST = math.nan
"""Stands in a key for the number of the reference state; files cannot contain it."""
_WIDTHS = {JointType.FREE: (7, 6), JointType.BALL: (4, 3)}
"""Numbers in qpos and in qvel; other joints have one."""


@attrs.define(eq=False, kw_only=True)
class KeyItem(Item):
    """A `<key>`."""

    time: float = 0.0
    qpos: Vec | None = None
    qvel: Vec | None = None
    act: Vec | None = None
    ctrl: Vec | None = None
    mpos: Vec | None = None
    mquat: Vec | None = None
    layout: KeyLayout | None = None
    """Whose numbers these are, if the key was copied with a part of a model."""


def read_keyframe(context: Context, section: Node) -> None:
    """Read a `<keyframe>` section."""
    for node in section.children:
        key = KeyItem(node=node)
        overlay(key, node.values)
        context.add("key", key)


def fill_keys(context: Context, lengths: dict[str, int]) -> None:
    """Check the length of every vector of every key, and make up the keys that `nkey` asks for."""
    _check_amount(max(len(context.objects["key"]), context.sizes["nkey"]), sum(lengths.values()))
    for key in context.objects["key"]:
        if key.layout:
            _spread(context, key, key.layout)
        for name, length in lengths.items():
            values = getattr(key, name)
            if values and len(values) < length:
                setattr(key, name, _continued(context, name, values, length))
            elif values is not None and len(values) not in (0, length):
                raise key.place.error(f"{name} has {len(values)} numbers; this model needs {length}", name)
            if values == ():
                setattr(key, name, None)
    while len(context.objects["key"]) < context.sizes["nkey"]:
        context.add("key", KeyItem())


def _check_amount(keys: int, length: int) -> None:
    if keys > limits.KEYS or keys * length > limits.KEY_NUMBERS:
        raise CapacityError(
            f"{keys:,} keyframes of {length:,} numbers each: the most is {limits.LIMITS['KEYS']} and "
            f"{limits.LIMITS['KEY_NUMBERS']} in all; make nkey smaller"
        )


def _continued(context: Context, name: str, values: Vec, length: int) -> Vec:
    """A vector that stops early, as MuJoCo completes it: at rest, joints as they were written.

    In a model that attaches others, keys may stop where the model's own part ends; the rest is the reference state.
    """
    if name in _MOCAP:
        values = values[: len(values) - len(values) % _MOCAP[name]]
    rest: Vec = (REST,) * length
    if name == "qpos":
        rest = tuple(number for joint in context.joints for number in _as_written(context, joint))
    return values + rest[len(values) :]


_MOCAP = {"mpos": 3, "mquat": 4}


def _as_written(context: Context, joint: JointItem) -> Vec:
    """qpos of a joint before the compiler knows bodies' poses and converts angles."""
    if joint.nq > 1:
        return (0.0,) * (joint.nq - 4) + (1.0, 0.0, 0.0, 0.0)
    turned = joint.type == JointType.HINGE and context.compiler_of(joint.node).degrees
    return (math.degrees(joint.ref) if turned else joint.ref,)


def _spread(context: Context, key: KeyItem, layout: KeyLayout) -> None:
    """Replace the vectors of a copied key by vectors of the whole model, which rest wherever it says nothing."""
    joints = {joint.node: joint for joint in context.joints if joint.node}
    for index, name in enumerate(("qpos", "qvel")):
        numbers = getattr(key, name)
        if numbers:
            pieces = [_joint_width(context, joints, node, layout)[index] for node in layout.joints]
            numbers = _extended(context, joints, layout, numbers, pieces, index)
            found = _cut(key, name, numbers, layout.joints, pieces)
            rest = _written_references(context, joints, layout) if name == "qpos" else {}
            setattr(key, name, _joined(context.joints, {**rest, **_moved(found, layout)}, index))
    _spread_actuators(context, key, layout)
    bodies = mocap_bodies(layout.worlds)
    for name, width in (("mpos", 3), ("mquat", 4)):
        numbers = getattr(key, name)
        if numbers and layout.worlds:
            found = _moved(_cut(key, name, numbers, bodies, [width] * len(bodies)), layout)
            mocap = [body for body in context.bodies if body.mocap]
            setattr(key, name, tuple(x for b in mocap for x in found.get(b.node, (REST,) * width)))


def _extended(
    context: Context,
    joints: dict[Node, JointItem],
    layout: KeyLayout,
    numbers: Vec,
    widths: list[int],
    index: int,
) -> Vec:
    """The numbers of a key that stops early, up to the joints that were there when a model was attached."""
    rest: list[float] = []
    for node, width in zip(layout.joints[: layout.padded], widths, strict=False):
        joint = None if index else joints.get(layout.target(node) or node)
        rest += _as_written(context, joint) if joint else (REST,) * width
    return numbers + tuple(rest[len(numbers) :])


def _spread_actuators(context: Context, key: KeyItem, layout: KeyLayout) -> None:
    if layout.actuators is None:
        return
    widths = [_activations(context, node) for node in layout.actuators]
    for name, pieces in (("ctrl", [1] * len(widths)), ("act", widths)):
        numbers = getattr(key, name)
        if numbers:
            found = _moved(_cut(key, name, numbers, layout.actuators, pieces), layout)
            spread = [
                found.get(a.node, (REST,) * (1 if name == "ctrl" else a.actdim)) for a in context.actuators
            ]
            setattr(key, name, tuple(x for piece in spread for x in piece))


def _cut(
    key: KeyItem, name: str, numbers: Vec, owners: Iterable[Node], widths: list[int]
) -> dict[Node | None, Vec]:
    """The numbers of each element, one after the other."""
    if len(numbers) != sum(widths):
        raise key.place.error(f"{name} has {len(numbers)} numbers; its model needs {sum(widths)}", name)
    found: dict[Node | None, Vec] = {}
    start = 0
    for owner, width in zip(owners, widths, strict=True):
        found[owner] = numbers[start : start + width]
        start += width
    return found


def _moved(found: dict[Node | None, Vec], layout: KeyLayout) -> dict[Node | None, Vec]:
    return {layout.target(node): numbers for node, numbers in found.items() if node and layout.target(node)}


def _joined(joints: list[JointItem], found: dict[Node | None, Vec], index: int) -> Vec:
    rest = [found.get(joint.node, (REST,) * (joint.nv if index else joint.nq)) for joint in joints]
    return tuple(x for piece in rest for x in piece)


def _joint_width(
    context: Context, joints: dict[Node, JointItem], node: Node, layout: KeyLayout
) -> tuple[int, int]:
    item = joints.get(layout.target(node) or node)
    if item is None:
        classes = context.defaults.classes_of(node.model)
        item = context.defaults.of(node, classes.get(layout.classes.get(node, ""))).make(JointItem)
        item.type = JointType.FREE if node.tag == "freejoint" else node.values.get("type", item.type)
    return _WIDTHS.get(JointType(item.type), (1, 1))


def _activations(context: Context, node: Node) -> int:
    item: Item | None = next((a for a in context.actuators if a.node is node), None)
    if item is None:
        item = context.defaults.of(node).make(ActuatorItem)
        apply_actuator(item, node)
    assert isinstance(item, ActuatorItem)
    return item.actdim if item.actdim >= 0 else int(item.dyntype != DynType.NONE)


def _written_references(
    context: Context, joints: dict[Node, JointItem], layout: KeyLayout
) -> dict[Node | None, Vec]:
    """Scalar joints of other copies rest at `ref` as written: MuJoCo stores the key before angles are converted."""
    found: dict[Node | None, Vec] = {}
    for node in layout.raw:
        if joints[node].nq == 1:
            found[node] = _as_written(context, joints[node])
    return found


def key_fields(context: Context, values: dict[str, Any]) -> dict[str, Any]:
    """Keyframes, with quaternions normalised."""
    keys: list[KeyItem] = context.objects["key"]
    mocap = [body for body in context.bodies if body.mocap]
    rest = {
        "qpos": values["qpos0"],
        "qvel": np.zeros(context.sizes["nv"]),
        "act": np.zeros(context.sizes["na"]),
        "ctrl": np.zeros(context.sizes["nu"]),
        "mpos": np.array([x for body in mocap for x in body.pos]),
        "mquat": np.array([x for body in mocap for x in body.quat]),
    }
    sizes = full_sizes(context.sizes)
    fields: dict[str, Any] = {"key_time": column("key_time", [key.time for key in keys])}
    for name, default in rest.items():
        rows = [default if getattr(key, name) is None else getattr(key, name) for key in keys]
        written = column(f"key_{name}", rows, sizes)
        # NaN marks what rests: parts of the model that the key, written in another document, does not know
        fields[f"key_{name}"] = np.where(np.isnan(written), default, written)
    for joint in context.joints:
        if joint.type in (JointType.FREE, JointType.BALL):
            start = joint.qposadr + (3 if joint.type == JointType.FREE else 0)
            _normalize_rows(fields["key_qpos"][:, start : start + 4], MINVAL)
            _replace_zeros(fields["key_qpos"][:, start : start + 4])
    for index in range(len(mocap)):
        _normalize_rows(fields["key_mquat"][:, 4 * index : 4 * index + 4], math.sqrt(EPS))
    return fields


def _normalize_rows(quats: np.ndarray, least: float) -> None:
    """Make unit quaternions of all that are not shorter than `least`."""
    length = np.linalg.norm(quats, axis=1, keepdims=True)
    np.divide(quats, length, out=quats, where=length >= least)


def _replace_zeros(quats: np.ndarray) -> None:
    """What has no length is no rotation (mju_normalize4)."""
    quats[np.linalg.norm(quats, axis=1) < MINVAL] = IDENTITY
