"""The acceleration that each constraint row aims at, in lanes.

velocity = J·qvel; reference = −damping·velocity − stiffness·impedance·violation. What is kept is minus the
reference, to which solvers add J·qacc. Compare mj_referenceConstraint.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.rows.rows_lanes import PYRAMID, DofRows, Links
from dovetail.plugins.shared.vectors_lanes import dot


def constraint_reference(k: Kernel) -> None:
    """Write the offsets of all rows, and count the rows of each world."""
    count = k.kernel_field("row_counts.active")
    count[0] = 0.0
    rows, links = DofRows(k), Links(k)
    if rows.count:
        dof_rows(k, rows, count)
    if links.kinds:
        link_rows(k, links, count)


def dof_rows(k: Kernel, rows: DofRows, count: Any) -> None:
    with k.loop(0, rows.count) as r:
        D = rows.D[r]
        with k.when(k.any(D > 0.0)):
            velocity = k.local(0.0)
            with k.loop(0, rows.column("nnz", r)) as n:
                velocity += rows.coefficient[r, n] * k.data.qvel[rows.dof(r, n)]
            rows.offset[r] = rows.damping[r] * velocity.value + rows.spring[r]
            count[0] += k.select(D > 0.0, 1.0, 0.0)


def link_rows(k: Kernel, links: Links, count: Any) -> None:
    velocity, damping = k.data.cvel, links.damping
    with k.loop(0, links.count) as link:
        D = links.D[link, 0]
        with k.when(k.any(D > 0.0)):
            near, far = links.near[link], links.far[link]
            for row in links.each_base_row(link):
                speed = k.local(dot(links.near_wrench[link, row], velocity[near]))
                with k.when(far > 0):
                    speed += dot(links.far_wrench[link, row], velocity[far])
                own = damping[link, 0 if isinstance(row, int) and row == 0 else 1]
                if not isinstance(row, int):
                    own = k.select(row == 0, damping[link, 0], own)
                links.offset[link, row] = own * speed.value + links.spring[link, row]
            exists = k.select(D > 0.0, 1.0, 0.0)
            for kind in links.each_kind(link):
                size = links.dim[link] * 1.0
                count[0] += exists * (2.0 * (size - 1.0) if kind.name == PYRAMID else size)
