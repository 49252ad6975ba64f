"""Coefficients of constraint rows that are tendons' Jacobians, in lanes."""

from __future__ import annotations

from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.shared.rows.rows_lanes import DofRows
from dovetail.plugins.shared.tendons.rows_lanes import entry, row_entries


def write_coefficients(k: Kernel, rows: DofRows, r: Any, tendon: Any, sign: Any) -> None:
    """A row that is a tendon's Jacobian, or minus that; its dofs descend where the tendon's ascend."""
    last = k.local(rows.column("nnz", r))
    with row_entries(k, tendon) as (_dof, place):
        last -= 1
        rows.coefficient[r, last.value] = sign * entry(k, place)


def add_coefficients(k: Kernel, rows: DofRows, r: Any, tendon: Any, factor: Any) -> None:
    """Add a multiple of a tendon's Jacobian to a row that has other dofs, too."""
    with (
        row_entries(k, tendon) as (dof, place),
        k.loop(0, rows.column("nnz", r)) as n,
        k.when(rows.dof(r, n) == dof),
    ):
        rows.coefficient[r, n] += factor * entry(k, place)
