"""Passive force of a muscle stretched beyond its resting length: a half-parabola, then a straight line, in lanes.

biasprm has the parameters of the muscle's gain, see actuator_gain/muscle_lanes.py. Compare mju_muscleBias.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.muscle_lanes import normalized_length, peak_force


def bias(k: Kernel, i: Int) -> Any:
    """The actuator's bias force."""
    parameters = k.model.actuator_biasprm[i]
    lmax, fpmax = parameters[5], parameters[7]
    length, _ = normalized_length(k, i, parameters)
    half = 0.5 * (1.0 + lmax) - 1.0
    stretch = (length - 1.0) / k.max(MINVAL, half)
    beyond = 0.5 + (length - 1.0 - half) / k.max(MINVAL, half)
    curve = k.select(length <= 1.0 + half, 0.5 * (stretch * stretch), beyond)
    return k.select(length <= 1.0, 0.0, -peak_force(k, i, parameters) * fpmax * curve)
