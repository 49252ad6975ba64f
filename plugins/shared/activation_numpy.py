"""Activations one time step later, shared by the integrators and by actuators with `actearly`.

Euler's rule act + h·act_dot, except for filterexact, whose linear filter is integrated in closed form; then
actrange. Compare mj_nextActivation.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.enums import DynType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.ordered_numpy import clip


def next_activation(model: ModelLike, act: Array, act_dot: Array) -> Array:
    """Every activation after one time step at the rates act_dot."""
    timestep = model.opt.timestep
    owner = activation_owners(model)
    duration = np.full(model.na, timestep)
    exact = model.actuator_dyntype[owner] == DynType.FILTEREXACT
    if exact.any():
        # act_dot·tau is the distance to the target, of which the filter covers 1 − exp(−h/tau) in a step.
        tau = np.maximum(MINVAL, model.actuator_dynprm[owner[exact], 0])
        duration[exact] = tau * (1.0 - np.exp(-timestep / tau))
    following = act + act_dot * duration
    limited = model.actuator_actlimited[owner].astype(bool)
    bounds = model.actuator_actrange[owner]
    return np.where(limited, clip(following, bounds[:, 0], bounds[:, 1]), following)


def activation_owners(model: ModelLike) -> Array:
    """The actuator each activation belongs to."""
    owner = np.empty(model.na, dtype=np.intp)
    for actuator in np.flatnonzero(model.actuator_actadr >= 0):
        first = model.actuator_actadr[actuator]
        owner[first : first + model.actuator_actnum[actuator]] = actuator
    return owner


def disabled_actuators(model: ModelLike) -> Array:
    """Which actuators are in a group that actuatorgroupdisable switches off; groups above 30 never are."""
    group = model.actuator_group
    in_range = (group >= 0) & (group <= 30)
    bit = np.left_shift(1, np.where(in_range, group, 0))
    return in_range & ((bit & model.opt.disableactuator) != 0)
