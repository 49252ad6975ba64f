"""Derivatives of all smooth forces by velocity, in closed form: see `shared.derivative`. Compare mjd_smooth_vel."""

from __future__ import annotations

from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.derivative.rne_numpy import bias_velocity
from dovetail.plugins.shared.derivative.velocity_numpy import force_velocity


def derivative(model: ModelLike, data: DataLike) -> None:
    """Write qDeriv, with all terms."""
    data.qDeriv[:] = force_velocity(model, data) - bias_velocity(model, data)
