"""No active constraints: the acceleration is the smooth one, in lanes. Compare mj_fwdConstraint with nefc = 0."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel


def solve_constraints(k: Kernel) -> None:
    """Write qacc and qfrc_constraint."""
    with k.loop(0, k.model.nv) as dof:
        k.data.qacc[dof] = k.data.qacc_smooth[dof]
        k.data.qfrc_constraint[dof] = 0.0
