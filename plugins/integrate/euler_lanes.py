"""Semi-implicit Euler in lanes: new velocity from the acceleration, new position from the new velocity.

Where joints are damped, damping is taken at the new velocity, which keeps stiff dampers stable:
(M + h·diag(damping))·a = qfrc_smooth + qfrc_constraint gives the acceleration that is integrated; qacc itself
stays as it was. The flags eulerdamp and damper switch that off. Compare mj_Euler.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Int, Kernel, LaneField
from dovetail.contracts.enums import DisableBit
from dovetail.plugins.integrate.advance_lanes import advance
from dovetail.plugins.shared.ldl_lanes import copy, factor, solve


def integrate(k: Kernel, evaluation: Int) -> None:
    """Advance the state by one time step; the single evaluation is number 0."""
    m, d = k.model, k.data
    acceleration = k.scratch("acceleration", m.nv)
    damped = damps(k)
    with k.when(k.any(damped)):
        implicit_acceleration(k, acceleration)
        if k.varies("dof_damping"):
            with k.loop(0, m.nv) as dof:
                acceleration[dof] = k.select(damped, acceleration[dof], d.qacc[dof])
    with k.otherwise():
        copy(k, d.qacc, acceleration)
    advance(k, acceleration, d.act_dot)


def damps(k: Kernel) -> Any:
    """Whether damping is to be taken implicitly; a Mask if damping differs between worlds."""
    m = k.model
    if k.varies("dof_damping"):
        return damps_by_world(k)
    damped = k.local(0)
    with k.loop(0, m.nv) as dof:
        damped.set(k.select(m.dof_damping[dof] > 0.0, 1, damped.value))
    off = DisableBit.EULERDAMP | DisableBit.DAMPER
    return (damped.value > 0) & ~k.disabled(off)


def damps_by_world(k: Kernel) -> Any:
    """Mask of the worlds that take damping implicitly."""
    m = k.model
    damped = k.local(0.0)
    with k.loop(0, m.nv) as dof:
        damped.set(k.select(m.dof_damping[dof] > 0.0, 1.0, damped.value))
    return k.select(k.disabled(DisableBit.EULERDAMP | DisableBit.DAMPER), 0.0, damped.value) > 0.5


def implicit_acceleration(k: Kernel, acceleration: LaneField) -> None:
    """The acceleration under which damping forces are those of the new velocity."""
    m, d = k.model, k.data
    damped, inverse = k.scratch("damped", m.nC), k.scratch("inverse", m.nv)
    copy(k, d.M, damped)
    with k.loop(0, m.nv) as dof:
        damped[m.M_rowadr[dof] + m.M_rownnz[dof] - 1] += m.opt.timestep * m.dof_damping[dof]
        acceleration[dof] = d.qfrc_smooth[dof] + d.qfrc_constraint[dof]
    factor(k, damped, inverse)
    solve(k, damped, inverse, acceleration)
