"""Implicit in velocity, except for Coriolis and centrifugal forces.

(M − h·∂f/∂v)·a = qfrc_smooth + qfrc_constraint gives the acceleration that is integrated, with ∂f/∂v of damping,
fluid (its symmetric part) and actuators. Only entries that M has are used, lower triangle, so the matrix is
factored like M itself; a damper that couples dofs of different branches acts explicitly there. Compare
mj_implicit with the integrator `implicitfast`.
"""

from __future__ import annotations

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.integrate.advance_numpy import advance
from dovetail.plugins.shared.derivative.velocity_numpy import force_velocity
from dovetail.plugins.shared.ldl_numpy import factor, solve


def integrate(model: ModelLike, data: DataLike, evaluation: int) -> None:
    """Advance the state by one time step; the single evaluation is number 0. Writes qDeriv, qH, qHDiagInv too."""
    if model.nv:
        data.qDeriv[:] = force_velocity(model, data, symmetric=True)
        data.qH[:], data.qHDiagInv[:] = factor(model, implicit_matrix(model, data))
    advance_factored(model, data)


def advance_factored(model: ModelLike, data: DataLike) -> None:
    """Advance the state with the matrix whose factors qH and qHDiagInv hold."""
    acceleration = solve(model, data.qH, data.qHDiagInv, data.qfrc_smooth + data.qfrc_constraint)
    advance(model, data, acceleration, data.act_dot)


def implicit_matrix(model: ModelLike, data: DataLike) -> Array:
    """M − h·qDeriv in M's layout."""
    return data.M - model.opt.timestep * data.qDeriv[model.mapD2M]
