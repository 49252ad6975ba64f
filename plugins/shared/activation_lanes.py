"""Activations one time step later, in lanes, shared by the integrators and by actuators with `actearly`.

Euler's rule act + h·act_dot, except for filterexact, whose linear filter is integrated in closed form; then
actrange. Compare mj_nextActivation.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.contracts.enums import DynType
from dovetail.plugins.shared.constants import MINVAL

LAST_GROUP = 30
"""Groups above it can never be disabled."""


def next_activation(k: Kernel, actuator: Int, act: Any, act_dot: Any) -> Any:
    """An activation of the actuator after one time step at the rate act_dot."""
    m = k.model
    timestep = m.opt.timestep
    duration = timestep
    if k.has("dyn.filterexact"):
        # act_dot·tau is the distance to the target, of which the filter covers 1 − exp(−h/tau) in a step.
        tau = k.max(MINVAL, m.actuator_dynprm[actuator, 0])
        exact = tau * (1.0 - k.exp(-timestep / tau))
        duration = k.select(m.actuator_dyntype[actuator] == DynType.FILTEREXACT, exact, timestep)
    following = act + act_dot * duration
    low, high = m.actuator_actrange[actuator]
    return k.select(m.actuator_actlimited[actuator] != 0, k.clip(following, low, high), following)


def disabled_actuators(k: Kernel, actuator: Int) -> Any:
    """Whether the actuator is in a group that actuatorgroupdisable switches off."""
    m = k.model
    group = m.actuator_group[actuator]
    in_range = (group >= 0) & (group <= LAST_GROUP)
    bit = 1 << k.select(in_range, group, 0)
    return in_range & ((m.opt.disableactuator & bit) != 0)
