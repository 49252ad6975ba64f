"""Implicit in velocity, except for Coriolis and centrifugal forces, in lanes.

(M − h·∂f/∂v)·a = qfrc_smooth + qfrc_constraint gives the acceleration that is integrated, with ∂f/∂v of damping,
fluid (its symmetric part) and actuators. Only entries that M has are used, lower triangle, so the matrix is factored
like M itself; a damper that couples dofs of different branches acts explicitly there. Compare mj_implicit with the
integrator `implicitfast`.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Int, Kernel
from dovetail.plugins.integrate.advance_lanes import advance
from dovetail.plugins.shared.derivative.actuator_lanes import add_actuators
from dovetail.plugins.shared.derivative.fluid_lanes import add_fluid
from dovetail.plugins.shared.derivative.passive_lanes import add_dampers
from dovetail.plugins.shared.ldl_lanes import copy, factor, solve


def integrate(k: Kernel, evaluation: Int) -> None:
    """Advance the state by one time step; the single evaluation is number 0."""
    m, d = k.model, k.data
    acceleration = k.scratch("acceleration", m.nv)
    if m.nv:
        matrix, inverse = k.scratch("matrix", m.nC), k.scratch("inverse", m.nv)
        copy(k, d.M, matrix)
        add_actuators(k, matrix, -m.opt.timestep)
        add_dampers(k, matrix, -m.opt.timestep)
        if k.has("medium.present"):
            add_fluid(k, matrix, -m.opt.timestep)
        with k.loop(0, m.nv) as dof:
            acceleration[dof] = d.qfrc_smooth[dof] + d.qfrc_constraint[dof]
        factor(k, matrix, inverse)
        solve(k, matrix, inverse, acceleration)
    advance(k, acceleration, d.act_dot)
