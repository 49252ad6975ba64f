"""Active force of a muscle at full activation, by its length and velocity, in lanes; it pulls, so it is negative.

gainprm = (range 2, force, scale, lmin, lmax, vmax, fpmax, fvmax). Length and velocity are in units of the resting
length, which follows from the operating `range` that corresponds to actuator_lengthrange; a negative force means
scale/acc0. The curves are quadratic splines. Compare mju_muscleGain.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.muscle_lanes import (
    force_by_length,
    force_by_velocity,
    normalized_length,
    peak_force,
)


def gain(k: Kernel, i: Int) -> Any:
    """The actuator's gain."""
    parameters = k.model.actuator_gainprm[i]
    lmin, lmax, vmax = parameters[4:7]
    length, rest = normalized_length(k, i, parameters)
    velocity = k.data.actuator_velocity[i] / k.max(MINVAL, rest * vmax)
    peak = peak_force(k, i, parameters)
    return -peak * force_by_length(k, length, lmin, lmax) * force_by_velocity(k, velocity, parameters[8])
