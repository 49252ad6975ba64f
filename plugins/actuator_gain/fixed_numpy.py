"""A constant gain: gainprm[0]. Compare mjGAIN_FIXED in mj_fwdActuation."""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike


def gain(model: ModelLike, data: DataLike, ids: Array) -> Array:
    """Gains of the actuators `ids`."""
    return model.actuator_gainprm[ids, 0]
