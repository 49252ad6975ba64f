"""Muscles switch on faster than off: (ctrl − act)/tau, both within 0 and 1 where tau is concerned.

tau = tau_act·(½ + 3/2·act) when the control is above the activation and tau_deact/(½ + 3/2·act) when below, with
dynprm = (tau_act, tau_deact, width). A width above zero blends the two over controls up to half of it away.
Compare mju_muscleDynamics; the time constants are those of Millard et al. (2013), doi 10.1115/1.4023390.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL


def dynamics(model: ModelLike, data: DataLike, ids: Array, ctrl: Array) -> Array:
    """Rates of change for the actuators `ids`, whose clamped controls are `ctrl`."""
    act = data.act[model.actuator_actadr[ids] + model.actuator_actnum[ids] - 1]
    towards = np.clip(ctrl, 0.0, 1.0) - act
    rise, fall, width = model.actuator_dynprm[ids, :3].T
    stretch = 0.5 + 1.5 * np.clip(act, 0.0, 1.0)
    share = rising_share(towards, width)
    tau = share * (rise * stretch) + (1.0 - share) * (fall / stretch)
    return towards / np.maximum(MINVAL, tau)


def rising_share(towards: Array, width: Array) -> Array:
    """How much of the rising time constant applies: 0 or 1, or with a width a smooth step between."""
    hard = width < MINVAL
    at = towards / np.where(hard, 1.0, width) + 0.5
    return np.where(hard, towards > 0.0, smooth_step(np.clip(at, 0.0, 1.0)))


def smooth_step(x: Array) -> Array:
    """The quintic from 0 to 1 whose first two derivatives vanish at both ends."""
    return x**3 * (6.0 * x**2 - 15.0 * x + 10.0)
