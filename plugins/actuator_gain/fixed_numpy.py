"""A constant gain: gainprm[0]. Compare mjGAIN_FIXED in mj_fwdActuation."""

from __future__ import annotations

from typing import Any

from dovetail.contracts.fields import Array


def gain(model: Any, data: Any, ids: Array) -> Array:
    """Gains of the actuators `ids`."""
    return model.actuator_gainprm[ids, 0]
