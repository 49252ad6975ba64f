"""No active constraints: the acceleration is the smooth one. Compare mj_fwdConstraint with nefc = 0."""

from __future__ import annotations

from dovetail.contracts.protocols import DataLike, ModelLike


def solve_constraints(model: ModelLike, data: DataLike) -> None:
    """Write qacc and qfrc_constraint."""
    data.qacc[:] = data.qacc_smooth
    data.qfrc_constraint[:] = 0.0
