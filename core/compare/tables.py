"""Comparison results as plain text, aligned; the command line draws the same rows in colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dovetail.compare.errors import FieldError


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns padded to their widest entry."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def error_table(rows: Iterable[FieldError], *, fields: bool = True) -> str:
    """One line per field, or (fields=False) per slot its worst field."""
    chosen = list(rows) if fields else worst_per_slot(rows)
    cells = [
        [
            row.slot,
            row.field,
            f"{row.error:.1e}",
            f"{row.tolerance:.0e}",
            "ok" if row.ok else "FAIL",
            row.note or row.where.strip(),
        ]
        for row in chosen
    ]
    return text_table(["slot", "field", "error", "tolerance", "", "worst at"], cells)


def worst_per_slot(rows: Iterable[FieldError]) -> list[FieldError]:
    """Of each slot the field that is worst: a failing one first, then by error over tolerance."""
    worst: dict[str, FieldError] = {}
    for row in rows:
        known = worst.get(row.slot)
        if known is None or _badness(row) > _badness(known):
            worst[row.slot] = row
    return list(worst.values())


def _badness(row: FieldError) -> tuple[bool, float]:
    return (not row.ok, row.error / row.tolerance if row.tolerance else row.error)
