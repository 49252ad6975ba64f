"""No bias force, in lanes. Compare mjBIAS_NONE in mj_fwdActuation."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Int, Kernel


def bias(k: Kernel, i: Int) -> float:
    """The actuator's bias force: zero."""
    return 0.0
