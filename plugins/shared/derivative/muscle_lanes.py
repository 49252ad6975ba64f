"""How the gain of a muscle changes with velocity, in lanes.

The gain is −peak force × length curve × velocity curve. The slope of the velocity curve is 0 where the muscle
shortens faster than it can, falls from 2 to 0 while it lengthens up to y = fvmax − 1, and is 0 beyond. Compare
mjd_actuator_vel.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.muscle_lanes import force_by_length, normalized_length, peak_force


def gain_velocity(k: Kernel, i: Int) -> Any:
    """Derivative of the gain of a muscle with respect to its velocity."""
    parameters = k.model.actuator_gainprm[i]
    lmin, lmax, vmax = parameters[4:7]
    length, rest = normalized_length(k, i, parameters)
    fastest = k.max(MINVAL, rest * vmax)
    slope = velocity_slope(k, k.data.actuator_velocity[i] / fastest, parameters[8]) / fastest
    return -peak_force(k, i, parameters) * force_by_length(k, length, lmin, lmax) * slope


def velocity_slope(k: Kernel, velocity: Any, fvmax: Any) -> Any:
    """Slope of the force-velocity curve."""
    room = fvmax - 1.0
    shortening = 2.0 * k.max(velocity + 1.0, 0.0)
    lengthening = k.select(velocity <= room, 2.0 * (room - velocity) / k.max(MINVAL, room), 0.0)
    return k.select(velocity <= 0.0, shortening, lengthening)
