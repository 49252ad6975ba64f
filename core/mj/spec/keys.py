"""Keyframes of specs that were attached to one another: kept by joint, actuator and body until all is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dovetail.mj.spec.spec import MjSpec

PARTS = ("qpos", "qvel", "act", "ctrl", "mpos", "mquat")
_POSITIONS, _VELOCITIES = (7, 4, 1, 1), (6, 3, 1, 1)
"""Numbers of a joint that is free, a ball, a slide or a hinge."""


def layout(spec: MjSpec, part: str) -> list[tuple[Any, int]]:
    """Elements whose numbers a part of the state holds, with how many, in order."""
    if part in ("qpos", "qvel"):
        widths = _POSITIONS if part == "qpos" else _VELOCITIES
        return [(joint, widths[int(joint.type)]) for joint in spec._of_kind("joint")]
    if part == "act":
        return [(actuator, activations(actuator)) for actuator in spec._lists["actuator"]]
    if part == "ctrl":
        return [(actuator, 1) for actuator in spec._lists["actuator"]]
    return [(body, 3 if part == "mpos" else 4) for body in spec._of_kind("body") if body.mocap]


def activations(actuator: Any) -> int:
    """How many activations an actuator has."""
    if actuator.actdim >= 0:
        return int(actuator.actdim)
    return int(int(actuator.dyntype) != 0)


def taken_apart(spec: MjSpec, key: Any) -> dict[str, dict[int, Any]]:
    """The numbers of a key by element; a part that does not fit the spec is left out."""
    found: dict[str, dict[int, Any]] = {}
    for part in PARTS:
        numbers, places = np.array(list(key._values[part])), layout(spec, part)
        if numbers.size and numbers.size == sum(width for _, width in places):
            ends = np.cumsum([0, *(width for _, width in places)])
            found[part] = {
                element._serial: numbers[ends[k] : ends[k + 1]] for k, (element, _) in enumerate(places)
            }
    return found


def settle_keys(spec: MjSpec) -> None:
    """Write the keys of attached specs, and those from before, as vectors over the whole spec."""
    for key, parts in spec._pending:
        for part, known in parts.items():
            values: list[float] = []
            for element, width in layout(spec, part):
                values += list(known.get(element._serial, _reference(element, part, width)))
            setattr(key, part, values)
        if not any(other is key for other in spec._lists["key"]):
            spec._lists["key"].append(key)
            spec._changed()
    spec._pending.clear()


def _reference(element: Any, part: str, width: int) -> Any:
    """Numbers of an element that a key knows nothing of."""
    from dovetail.mj.spec.units import in_radians, pose_quat

    if part == "qpos":
        kind = int(element.type)
        if kind == 0:
            return [*element._parent.pos, *pose_quat(element._parent)]
        return [1.0, 0.0, 0.0, 0.0] if kind == 1 else [in_radians(element, "ref", element.ref)]
    if part == "mpos":
        return element.pos
    return pose_quat(element) if part == "mquat" else [0.0] * width
