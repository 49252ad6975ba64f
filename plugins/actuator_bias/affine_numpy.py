"""A bias force affine in length and velocity: p0 + p1·length + p2·velocity. Compare mjBIAS_AFFINE."""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike


def bias(model: ModelLike, data: DataLike, ids: Array) -> Array:
    """Bias forces of the actuators `ids`."""
    constant, stiffness, damping = model.actuator_biasprm[ids, :3].T
    return constant + stiffness * data.actuator_length[ids] + damping * data.actuator_velocity[ids]
