"""A gain affine in length and velocity: p0 + p1·length + p2·velocity. Compare mjGAIN_AFFINE."""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike


def gain(model: ModelLike, data: DataLike, ids: Array) -> Array:
    """Gains of the actuators `ids`."""
    constant, stiffness, damping = model.actuator_gainprm[ids, :3].T
    return constant + stiffness * data.actuator_length[ids] + damping * data.actuator_velocity[ids]
