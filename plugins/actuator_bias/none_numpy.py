"""No bias force. Compare mjBIAS_NONE in mj_fwdActuation."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike


def bias(model: ModelLike, data: DataLike, ids: Array) -> Array:
    """Bias forces of the actuators `ids`: zero."""
    return np.zeros(len(ids))
