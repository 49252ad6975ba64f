"""No dynamics: an activation that nothing drives. Compare mjDYN_NONE in mj_fwdActuation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array


def dynamics(model: Any, data: Any, ids: Array, ctrl: Array) -> Array:
    """Rates of change for the actuators `ids`: zero."""
    return np.zeros(len(ids))
