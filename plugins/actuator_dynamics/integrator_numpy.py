"""The activation integrates the control. Compare mjDYN_INTEGRATOR in mj_fwdActuation."""

from __future__ import annotations

from typing import Any

from dovetail.contracts.fields import Array


def dynamics(model: Any, data: Any, ids: Array, ctrl: Array) -> Array:
    """Rates of change for the actuators `ids`, whose clamped controls are `ctrl`."""
    return ctrl
