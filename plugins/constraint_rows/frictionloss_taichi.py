"""Rows of friction loss of dofs, in lanes.

Each row is the velocity of a dof; the solver opposes it with a force of at most the friction loss. There is no
position to restore: the violation and the stiffness are zero. Compare mj_instantiateFriction.
"""

from __future__ import annotations

from dovetail.backends.taichi.lanes import Kernel
from dovetail.plugins.constraint_lanes import DofRows
from dovetail.plugins.constraint_rows.softness_taichi import softness


def frictionloss(k: Kernel) -> None:
    """Write the rows of dofs with friction loss."""
    m, rows = k.model, DofRows(k)
    with k.loop(rows.first_friction, rows.first_limit) as r:
        dof = rows.column("ids", r)
        soft = softness(k, m.dof_solref[dof], m.dof_solimp[dof])
        rows.coefficient[r, 0] = 1.0
        rows.D[r] = 1.0 / soft.regularisation(k, m.dof_invweight0[dof])
        rows.spring[r] = 0.0
        rows.damping[r] = soft.damping
