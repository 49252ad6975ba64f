"""Implicit in velocity, in lanes: how forces depend on velocity is taken at the end of the step, to first order.

(M − h·∂f/∂v)·a = qfrc_smooth + qfrc_constraint gives the acceleration that is integrated, with ∂f/∂v of damping,
fluid, actuators, Coriolis and centrifugal forces. The matrix is not symmetric; it is factored as U·L from the leaves
to the root, which keeps the pattern D. Compare mj_implicit.
"""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Int, Kernel, LaneField
from dovetail.plugins.integrate.advance_lanes import advance
from dovetail.plugins.shared.derivative.velocity_lanes import add_force_velocity


def integrate(k: Kernel, evaluation: Int) -> None:
    """Advance the state by one time step; the single evaluation is number 0."""
    m, d = k.model, k.data
    acceleration = k.scratch("acceleration", m.nv)
    if m.nv:
        matrix = k.scratch("matrix", m.nD)
        copy_mass(k, matrix)
        add_force_velocity(k, matrix, -m.opt.timestep)
        with k.loop(0, m.nv) as dof:
            acceleration[dof] = d.qfrc_smooth[dof] + d.qfrc_constraint[dof]
        factor(k, matrix)
        solve(k, matrix, acceleration)
    advance(k, acceleration, d.act_dot)


def copy_mass(k: Kernel, matrix: LaneField) -> None:
    """M in the pattern D; it has no entries where D couples the dofs of a simple body."""
    m, M = k.model, k.data.M
    with k.loop(0, m.nD) as at:
        source = m.mapM2D[at]
        with k.when(source >= 0):
            matrix[at] = M[source]
        with k.otherwise():
            matrix[at] = 0.0


def factor(k: Kernel, entries: LaneField) -> None:
    """Turn a matrix, in place, into U and L of U·L: L with its diagonal in the lower triangle, U, whose diagonal is
    1, above. The n-th entry of a row is that of the dof's n-th ancestor; descendants number on from the dof."""
    m = k.model
    with k.loop(0, m.nv, reverse=True) as dof:
        first, count = m.D_rowadr[dof], m.D_diag[dof]
        inverse = 1.0 / entries[first + count]
        with k.loop(0, count) as n:
            ancestor = m.D_colind[first + n]
            start = m.D_rowadr[ancestor]
            above = start + n + dof - ancestor
            scale = entries[above] * inverse
            entries[above] = scale
            with k.loop(0, n + 1) as i:
                entries[start + i] -= scale * entries[first + i]
            with k.loop(n + 1, count) as i:
                entries[start + n + m.D_colind[first + i] - ancestor] -= scale * entries[first + i]


def solve(k: Kernel, factors: LaneField, x: LaneField) -> None:
    """Replace x (nv) by the solution of U·L·x = it."""
    m = k.model
    with k.loop(0, m.nv, reverse=True) as dof:
        first = m.D_rowadr[dof]
        total = k.local(x[dof])
        with k.loop(first + m.D_diag[dof] + 1, first + m.D_rownnz[dof]) as at:
            total -= factors[at] * x[m.D_colind[at]]
        x[dof] = total.value
    with k.loop(0, m.nv) as dof:
        first = m.D_rowadr[dof]
        total = k.local(x[dof])
        with k.loop(first, first + m.D_diag[dof]) as at:
            total -= factors[at] * x[m.D_colind[at]]
        x[dof] = total.value / factors[first + m.D_diag[dof]]
