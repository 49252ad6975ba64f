"""Angles of elements, which are in degrees or radians as the compiler of their own spec says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dovetail.mj.spec.problems import SpecError

if TYPE_CHECKING:
    from dovetail.mj.spec.element import Element, MjsOrientation

_ANGULAR = (1, 3)
"""Joints whose range is an angle: ball and hinge."""
_HINGE = 3


def quaternion(orientation: MjsOrientation, degrees: bool, sequence: str) -> tuple[float, ...] | None:
    """The quaternion of an orientation given in another way; None if it is not."""
    from dovetail.mjcf.geometry import rotation

    chosen = orientation.chosen
    if chosen is None:
        return None
    try:
        return rotation.resolve(chosen[0], chosen[1], degrees, sequence)
    except rotation.OrientationError as problem:
        raise SpecError(f"Error: {chosen[0]}: {problem}") from None


def pose_quat(element: Element, quat: str = "quat", alt: str = "alt") -> tuple[float, ...]:
    """The orientation of an element as a quaternion, from whichever way it was given."""
    settings: Any = element._settings
    resolved = quaternion(element._values[alt], bool(settings.degree), "".join(settings.eulerseq))
    return resolved if resolved is not None else tuple(element._values[quat].tolist())


def in_radians(element: Element, name: str, value: Any) -> Any:
    """A number of a joint in radians, or as it is where it is no angle."""
    settings: Any = element._settings
    if element.KIND != "joint" or not settings.degree:
        return value
    kind = int(element._values["type"])
    if name == "range":
        angular = kind in _ANGULAR and _limited(
            element
        )  # as the compiler: a range that does not count stays as it is
    else:
        angular = kind == _HINGE and name in ("ref", "springref")
    return value * (math.pi / 180) if angular else value


def _limited(joint: Any) -> bool:
    """Whether the range of a joint counts: as it says, or if it increases."""
    values = joint._values
    return bool(values["limited"]) and (values["limited"] == 1 or values["range"][0] < values["range"][1])
