"""The activation follows the control as a first-order filter: (ctrl − act)/tau, tau = dynprm[0].

Compare mjDYN_FILTER in mj_fwdActuation.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL


def dynamics(model: ModelLike, data: DataLike, ids: Array, ctrl: Array) -> Array:
    """Rates of change for the actuators `ids`, whose clamped controls are `ctrl`."""
    tau = np.maximum(MINVAL, model.actuator_dynprm[ids, 0])
    last = model.actuator_actadr[ids] + model.actuator_actnum[ids] - 1
    return (ctrl - data.act[last]) / tau
