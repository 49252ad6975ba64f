"""A constant gain: gainprm[0], in lanes. Compare mjGAIN_FIXED in mj_fwdActuation."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel


def gain(k: Kernel, i: Int) -> Any:
    """The actuator's gain."""
    return k.model.actuator_gainprm[i, 0]
