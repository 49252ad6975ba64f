"""The activation integrates the control, in lanes. Compare mjDYN_INTEGRATOR in mj_fwdActuation."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel


def dynamics(k: Kernel, i: Int, ctrl: Any) -> Any:
    """Rate of change for the clamped control `ctrl`."""
    return ctrl
