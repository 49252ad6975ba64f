"""Rows of friction loss of dofs and tendons, in lanes.

Each row is the velocity of a dof or of a tendon's length; the solver opposes it with a force of at most the friction
loss. There is no position to restore: the violation and the stiffness are zero. Compare mj_instantiateFriction.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.constraint_rows.softness_lanes import softness
from dovetail.plugins.constraint_rows.tendon_lanes import write_coefficients
from dovetail.plugins.shared.rows.rows_lanes import DofRows


def frictionloss(k: Kernel) -> None:
    """Write the rows of dofs and tendons with friction loss."""
    m, rows = k.model, DofRows(k)
    for r in rows.each_row("frictionloss_dofs"):
        dof = rows.column("ids", r)
        rows.coefficient[r, 0] = 1.0
        rows.loss[r] = m.dof_frictionloss[dof]
        write(k, rows, r, m.dof_solref[dof], m.dof_solimp[dof], m.dof_invweight0[dof])
        if k.varies("dof_frictionloss"):
            leave_out_lossless(k, rows, r)
    for r in rows.each_row("frictionloss_tendons"):
        tendon = rows.column("ids", r)
        write_coefficients(k, rows, r, tendon, 1.0)
        rows.loss[r] = m.tendon_frictionloss[tendon]
        solref, solimp = m.tendon_solref_fri[tendon], m.tendon_solimp_fri[tendon]
        write(k, rows, r, solref, solimp, m.tendon_invweight0[tendon])
        if k.varies("tendon_frictionloss"):
            leave_out_lossless(k, rows, r)


def leave_out_lossless(k: Kernel, rows: DofRows, r: Any) -> None:
    """No row in worlds whose own friction loss is zero."""
    rows.D[r] = k.select(rows.loss[r] > 0.0, rows.D[r], 0.0)


def write(k: Kernel, rows: DofRows, r: Any, solref: Any, solimp: Any, inverse_inertia: Any) -> None:
    """Weight and damping."""
    soft = softness(k, solref, solimp)
    rows.D[r] = 1.0 / soft.regularisation(k, inverse_inertia)
    rows.spring[r] = 0.0
    rows.damping[r] = soft.damping
