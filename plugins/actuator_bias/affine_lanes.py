"""A bias affine in length and velocity: p0 + p1·length + p2·velocity, in lanes. Compare mjBIAS_AFFINE."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel


def bias(k: Kernel, i: Int) -> Any:
    """The actuator's bias."""
    constant, stiffness, damping = k.model.actuator_biasprm[i, :3]
    d = k.data
    return constant + stiffness * d.actuator_length[i] + damping * d.actuator_velocity[i]
