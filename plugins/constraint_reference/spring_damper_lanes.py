"""The acceleration that each constraint row aims at, in lanes.

velocity = J·qvel; reference = −damping·velocity − stiffness·impedance·violation. What is kept is minus the
reference, to which solvers add J·qacc. Compare mj_referenceConstraint.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.rows.rows_lanes import PYRAMID, BodyRows, DofRows


def constraint_reference(k: Kernel) -> None:
    """Write the offsets of all rows, and count the rows of each world."""
    count = k.kernel_field("row_counts.active")
    count[0] = 0.0
    rows, body_rows = DofRows(k), BodyRows(k)
    if rows.count:
        dof_rows(k, rows, count)
    if body_rows.kinds:
        bond_rows(k, body_rows, count)


def dof_rows(k: Kernel, rows: DofRows, count: Any) -> None:
    with k.loop(0, rows.count) as r:
        D = rows.D[r]
        with k.when(k.any(D != 0.0)):
            velocity = k.local(0.0)
            with k.loop(0, rows.column("nnz", r)) as n:
                velocity += rows.coefficient[r, n] * k.data.qvel[rows.dof(r, n)]
            rows.offset[r] = rows.damping[r] * velocity.value + rows.spring[r]
            count[0] += k.select(D != 0.0, 1.0, 0.0)


def bond_rows(k: Kernel, body_rows: BodyRows, count: Any) -> None:
    velocity, damping = k.data.cvel, body_rows.damping
    with k.loop(0, body_rows.count) as bond:
        D = body_rows.D[bond, 0]
        with k.when(k.any(D != 0.0)):
            for row, (speed,) in body_rows.each_product(bond, velocity):
                own = damping[bond, 0 if isinstance(row, int) and row == 0 else 1]
                if not isinstance(row, int):
                    own = k.select(row == 0, damping[bond, 0], own)
                body_rows.offset[bond, row] = own * speed + body_rows.spring[bond, row]
            exists = k.select(D != 0.0, 1.0, 0.0)
            for kind in body_rows.each_kind(bond):
                size = body_rows.dim[bond] * 1.0
                count[0] += exists * (2.0 * (size - 1.0) if kind.name == PYRAMID else size)
