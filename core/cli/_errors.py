"""Comparison results as a table: the worst of each stage or every field, and all that is out of tolerance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dovetail.cli._output import say, table, title

if TYPE_CHECKING:
    from dovetail.compare.errors import FieldError


def show_errors(rows: Iterable[FieldError], *, fields: bool) -> None:
    """Print them; those out of tolerance come again after it, with all that is known."""
    from dovetail.compare.tables import worst_per_slot

    rows = list(rows)
    table(
        ("slot", "field", "error", "tolerance", "", "worst at"),
        [_cells(row) for row in (rows if fields else worst_per_slot(rows))],
        numeric=("error", "tolerance"),
        optional=("worst at",),  # of what is out of tolerance it is said below
    )
    failures = [row for row in rows if not row.ok]
    if failures:
        title("Out of tolerance")
        for row in failures:
            say(f"  {row}")


def _cells(row: FieldError) -> tuple[object, ...]:
    verdict = "ok" if row.ok else "FAIL"
    return (
        row.slot,
        row.field,
        f"{row.error:.1e}",
        f"{row.tolerance:.0e}",
        verdict,
        row.note or row.where.strip(),
    )
