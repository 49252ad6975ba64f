"""No dynamics: an activation that nothing drives, in lanes. Compare mjDYN_NONE in mj_fwdActuation."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel


def dynamics(k: Kernel, i: Int, ctrl: Any) -> float:
    """Rate of change: zero."""
    return 0.0
