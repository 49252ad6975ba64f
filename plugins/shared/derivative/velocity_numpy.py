"""Derivatives of the smooth forces with respect to joint velocities: actuation + passive − bias.

Stored in the pattern D: each dof with its ancestors and descendants (D_rownnz, D_rowadr, D_colind). Implicit
integrators solve with M − h·qDeriv: `implicit` with all of it, `implicitfast` without the bias forces and with
fluid forces made symmetric, so that the result is symmetric. Compare mjd_smooth_vel.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.derivative.actuator_numpy import add_actuators
from dovetail.plugins.shared.derivative.passive_numpy import add_passive


def force_velocity(model: ModelLike, data: DataLike, symmetric: bool = False) -> Array:
    """∂(qfrc_actuator + qfrc_passive)/∂qvel; if `symmetric`, of fluid forces only the symmetric part."""
    deriv = np.zeros(model.nD)
    add_actuators(model, data, deriv)
    add_passive(model, data, deriv, symmetric)
    return deriv
