"""Curves of a muscle: length in units of its resting length, peak force, force by length and by velocity. Compare
mju_muscleGainLength and mju_muscleGain. In lanes: muscle_lanes.py.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL


def normalized_length(model: ModelLike, data: DataLike, ids: Array, parameters: Array) -> tuple[Array, Array]:
    """Muscle lengths in units of the resting length, and the resting lengths."""
    low, high = parameters[:2]
    shortest, longest = model.actuator_lengthrange[ids].T
    rest = (longest - shortest) / np.maximum(MINVAL, high - low)
    return low + (data.actuator_length[ids] - shortest) / np.maximum(MINVAL, rest), rest


def peak_force(model: ModelLike, ids: Array, parameters: Array) -> Array:
    """The given force, or where it is negative the one that accelerates like `scale` newtons."""
    force, scale = parameters[2:4]
    return np.where(force < 0.0, scale / np.maximum(MINVAL, model.actuator_acc0[ids]), force)


def force_by_length(length: Array, lmin: Array, lmax: Array) -> Array:
    """One at the resting length, falling to zero at lmin and lmax; in half-parabolas that meet midway."""
    below = length <= 1.0
    reach = np.maximum(MINVAL, 0.5 * np.where(below, 1.0 - lmin, lmax - 1.0))
    away = np.abs(length - 1.0)
    near = 1.0 - 0.5 * np.square(away / reach)
    far = 0.5 * np.square(np.where(below, length - lmin, lmax - length) / reach)
    middle = np.where(below, 0.5 * (lmin + 1.0), 0.5 * (1.0 + lmax))
    is_far = np.where(below, length <= middle, length > middle)
    return np.where((lmin <= length) & (length <= lmax), np.where(is_far, far, near), 0.0)


def force_by_velocity(velocity: Array, fvmax: Array) -> Array:
    """Zero when shortening at the largest speed or faster, one at rest, up to fvmax when lengthening."""
    room = fvmax - 1.0
    shortening = np.square(np.maximum(velocity, -1.0) + 1.0)
    lengthening = fvmax - np.square(room - velocity) / np.maximum(MINVAL, room)
    return np.where(velocity <= 0.0, shortening, np.where(velocity <= room, lengthening, fvmax))
