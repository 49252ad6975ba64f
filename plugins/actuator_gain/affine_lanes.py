"""A gain affine in length and velocity: p0 + p1·length + p2·velocity, in lanes. Compare mjGAIN_AFFINE."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel


def gain(k: Kernel, i: Int) -> Any:
    """The actuator's gain."""
    constant, stiffness, damping = k.model.actuator_gainprm[i, :3]
    d = k.data
    return constant + stiffness * d.actuator_length[i] + damping * d.actuator_velocity[i]
