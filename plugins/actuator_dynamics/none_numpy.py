"""No dynamics: an activation that nothing drives. Compare mjDYN_NONE in mj_fwdActuation."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike


def dynamics(model: ModelLike, data: DataLike, ids: Array, ctrl: Array) -> Array:
    """Rates of change for the actuators `ids`: zero."""
    return np.zeros(len(ids))
