"""Curves of a muscle, in lanes, with the names of muscle_numpy.py."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.plugins.shared.constants import MINVAL


def normalized_length(k: Kernel, i: Int, parameters: Any) -> tuple[Any, Any]:
    """The muscle's length in units of the resting length, and the resting length."""
    low, high = parameters[:2]
    shortest, longest = k.model.actuator_lengthrange[i]
    rest = (longest - shortest) / k.max(MINVAL, high - low)
    return low + (k.data.actuator_length[i] - shortest) / k.max(MINVAL, rest), rest


def peak_force(k: Kernel, i: Int, parameters: Any) -> Any:
    """The given force, or if it is negative the one that accelerates like `scale` newtons."""
    force, scale = parameters[2:4]
    return k.select(force < 0.0, scale / k.max(MINVAL, k.model.actuator_acc0[i]), force)


def force_by_length(k: Kernel, length: Any, lmin: Any, lmax: Any) -> Any:
    """One at the resting length, falling to zero at lmin and lmax; in half-parabolas that meet midway."""
    below = length <= 1.0
    reach = k.max(MINVAL, 0.5 * k.select(below, 1.0 - lmin, lmax - 1.0))
    away = k.abs(length - 1.0) / reach
    rest = k.select(below, length - lmin, lmax - length) / reach
    middle = k.select(below, 0.5 * (lmin + 1.0), 0.5 * (1.0 + lmax))
    far = (below & (length <= middle)) | (~below & (length > middle))
    curve = k.select(far, 0.5 * (rest * rest), 1.0 - 0.5 * (away * away))
    return k.select((length >= lmin) & (length <= lmax), curve, 0.0)


def force_by_velocity(k: Kernel, velocity: Any, fvmax: Any) -> Any:
    """Zero when shortening at the largest speed or faster, one at rest, up to fvmax when lengthening."""
    room = fvmax - 1.0
    faster, slack = k.max(velocity, -1.0) + 1.0, room - velocity
    lengthening = fvmax - slack * slack / k.max(MINVAL, room)
    return k.select(velocity <= 0.0, faster * faster, k.select(velocity <= room, lengthening, fvmax))
