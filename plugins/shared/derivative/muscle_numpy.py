"""How the gain of a muscle changes with velocity.

The gain is −peak force × length curve × velocity curve. The slope of the velocity curve is 0 where the muscle
shortens faster than it can, falls from 2 to 0 while it lengthens up to y = fvmax − 1, and is 0 beyond. Compare
mjd_actuator_vel.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.muscle_numpy import force_by_length, normalized_length, peak_force


def gain_velocity(model: ModelLike, data: DataLike, ids: Array) -> Array:
    """Derivative of the gain of the muscles `ids` with respect to their velocity."""
    parameters = model.actuator_gainprm[ids].T
    lmin, lmax, vmax = parameters[4:7]
    length, rest = normalized_length(model, data, ids, parameters)
    fastest = np.maximum(MINVAL, rest * vmax)
    slope = velocity_slope(data.actuator_velocity[ids] / fastest, parameters[8]) / fastest
    return -peak_force(model, ids, parameters) * force_by_length(length, lmin, lmax) * slope


def velocity_slope(velocity: Array, fvmax: Array) -> Array:
    """Slope of the force-velocity curve."""
    room = fvmax - 1.0
    shortening = 2.0 * np.maximum(velocity + 1.0, 0.0)
    lengthening = np.where(velocity <= room, 2.0 * (room - velocity) / np.maximum(MINVAL, room), 0.0)
    return np.where(velocity <= 0.0, shortening, lengthening)
