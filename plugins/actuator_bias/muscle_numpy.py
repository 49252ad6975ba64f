"""Passive force of a muscle stretched beyond its resting length: a half-parabola, then a straight line.

biasprm has the parameters of the muscle's gain, see actuator_gain/muscle_numpy.py. Compare mju_muscleBias.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.muscle_numpy import normalized_length, peak_force


def bias(model: ModelLike, data: DataLike, ids: Array) -> Array:
    """Bias forces of the actuators `ids`."""
    parameters = model.actuator_biasprm[ids].T
    lmax, fpmax = parameters[5], parameters[7]
    length, _ = normalized_length(model, data, ids, parameters)
    half = 0.5 * (1.0 + lmax) - 1.0
    stretch = (length - 1.0) / np.maximum(MINVAL, half)
    beyond = 0.5 + (length - 1.0 - half) / np.maximum(MINVAL, half)
    curve = np.where(length <= 1.0 + half, 0.5 * np.square(stretch), beyond)
    return np.where(length <= 1.0, 0.0, -peak_force(model, ids, parameters) * fpmax * curve)
