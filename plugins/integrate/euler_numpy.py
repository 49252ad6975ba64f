"""Semi-implicit Euler: new velocity from the acceleration, new position from the new velocity.

Where joints are damped, damping is taken at the new velocity, which keeps stiff dampers stable:
(M + h·diag(damping))·a = qfrc_smooth + qfrc_constraint gives the acceleration that is integrated; qacc itself
stays as it was. The flags eulerdamp and damper switch that off. Compare mj_Euler.
"""

from __future__ import annotations

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.integrate.advance_numpy import advance
from dovetail.plugins.shared.ldl_numpy import factor, solve


def integrate(model: ModelLike, data: DataLike, evaluation: int) -> None:
    """Advance the state by one time step; the single evaluation is number 0. Where joints are damped, writes qH and
    qHDiagInv too."""
    advance(model, data, implicit_acceleration(model, data) if damps(model) else data.qacc, data.act_dot)


def damps(model: ModelLike) -> bool:
    """Whether damping is to be taken implicitly."""
    off = model.opt.disableflags & (DisableBit.EULERDAMP | DisableBit.DAMPER)
    return not off and bool((model.dof_damping > 0.0).any())


def implicit_acceleration(model: ModelLike, data: DataLike) -> Array:
    """The acceleration under which damping forces are those of the new velocity."""
    damped = data.M.copy()
    damped[model.M_rowadr + model.M_rownnz - 1] += model.opt.timestep * model.dof_damping
    data.qH[:], data.qHDiagInv[:] = factor(model, damped)
    return solve(model, data.qH, data.qHDiagInv, data.qfrc_smooth + data.qfrc_constraint)
