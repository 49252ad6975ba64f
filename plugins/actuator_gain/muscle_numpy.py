"""Active force of a muscle at full activation, by its length and velocity; it pulls, so it is negative.

gainprm = (range 2, force, scale, lmin, lmax, vmax, fpmax, fvmax). Length and velocity are in units of the resting
length, which follows from the operating `range` that corresponds to actuator_lengthrange; a negative force means
scale/acc0. The curves are quadratic splines. Compare mju_muscleGain.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.muscle_numpy import (
    force_by_length,
    force_by_velocity,
    normalized_length,
    peak_force,
)


def gain(model: ModelLike, data: DataLike, ids: Array) -> Array:
    """Gains of the actuators `ids`."""
    parameters = model.actuator_gainprm[ids].T
    lmin, lmax, vmax = parameters[4:7]
    length, rest = normalized_length(model, data, ids, parameters)
    velocity = data.actuator_velocity[ids] / np.maximum(MINVAL, rest * vmax)
    peak = peak_force(model, ids, parameters)
    return -peak * force_by_length(length, lmin, lmax) * force_by_velocity(velocity, parameters[8])
