"""No bias force. Compare mjBIAS_NONE in mj_fwdActuation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.fields import Array


def bias(model: Any, data: Any, ids: Array) -> Array:
    """Bias forces of the actuators `ids`: zero."""
    return np.zeros(len(ids))
