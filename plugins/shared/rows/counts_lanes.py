"""How many constraint rows each world has, in lanes: of equalities, friction loss and limits, and in all.

Bonds have as many rows as their kind makes of their directions: a pyramid two for each direction of friction, an
elliptic cone one for each direction. A row exists in the worlds where its weight is not zero. With a dense
Jacobian, MuJoCo leaves out rows of tendons and edges that no dof can change where they are; so are they here. The
counts are computed only in kernels from which somebody takes them. Compare mj_makeConstraint.
"""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.plugins.shared.jacobian_rows_numpy import is_sparse
from dovetail.plugins.shared.rows.rows_lanes import EQUALITY, FRICTIONLESS, PYRAMID, BodyRows, DofRows

NAME = "row_counts.by_kind"
"""The kernel field that holds them."""

EQUALITIES, FRICTION, LIMITS, ALL = range(4)
"""Places in it."""

GROUPS = {
    "coupled_joints": EQUALITIES,
    "coupled_tendons": EQUALITIES,
    "flex_edges": EQUALITIES,
    "frictionloss_dofs": FRICTION,
    "frictionloss_tendons": FRICTION,
    "scalar_limits": LIMITS,
    "ball_limits": LIMITS,
    "tendon_limits": LIMITS,
}
"""What dof rows count as, by their source."""

MAY_VANISH = ("coupled_tendons", "flex_edges", "frictionloss_tendons", "tendon_limits")
"""Sources of rows whose Jacobian can be zero."""


def count_rows(k: Kernel) -> None:
    """Count the rows; they must all be there."""
    counts = k.group("row_counts").by_kind
    counts[:] = 0.0
    rows = DofRows(k)
    for source, group in GROUPS.items():
        for r in rows.each_row(source):
            add(k, counts, group, exists(k, rows, r, source), 1.0)
    count_bonds(k, counts)


def add(k: Kernel, counts: LaneField, group: int, mask: Any, number: Any) -> None:
    """Count `number` rows where the mask holds."""
    more = k.select(mask, number, 0.0)
    counts[group] = counts[group] + more
    if group != ALL:
        counts[ALL] = counts[ALL] + more


def exists(k: Kernel, rows: DofRows, r: Any, source: str) -> Any:
    """Mask of the worlds that have a dof row."""
    there = rows.D[r] != 0.0
    if source not in MAY_VANISH or is_sparse(k.frozen_model):
        return there
    square = k.local(0.0)
    with k.loop(0, rows.column("nnz", r)) as n:
        square.set(k.max(square.value, k.abs(rows.coefficient[r, n])))
    return there & (square.value > 0.0)


def count_bonds(k: Kernel, counts: LaneField) -> None:
    """Rows of connects, welds and contacts."""
    body_rows = BodyRows(k)
    if not body_rows.kinds:
        return
    with k.loop(0, body_rows.count) as bond:
        there = body_rows.D[bond, 0] != 0.0
        for kind in body_rows.each_kind(bond):
            dim = body_rows.dim[bond] * 1.0
            number = 1.0 if kind.name == FRICTIONLESS else 2.0 * (dim - 1.0) if kind.name == PYRAMID else dim
            add(k, counts, EQUALITIES if kind.name == EQUALITY else ALL, there, number)
