"""The activation integrates the control. Compare mjDYN_INTEGRATOR in mj_fwdActuation."""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike


def dynamics(model: ModelLike, data: DataLike, ids: Array, ctrl: Array) -> Array:
    """Rates of change for the actuators `ids`, whose clamped controls are `ctrl`."""
    return ctrl
