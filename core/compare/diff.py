"""Two Data, field by field."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from dovetail.compare.errors import FieldError, Worst, compare_data
from dovetail.compare.reports import Report
from dovetail.compare.tables import error_table
from dovetail.contracts.types import Data
from dovetail.errors import ValidationError, nearest


@attrs.frozen(kw_only=True)
class DiffReport(Report):
    """How two Data differ: fields both have, worst first, and fields only one has."""

    rows: tuple[FieldError, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]

    @property
    def identical(self) -> bool:
        """Whether every common field is equal exactly."""
        return all(row.error == 0.0 for row in self.rows)

    def table(self) -> str:
        """As text: the fields that differ at all."""
        different = [row for row in self.rows if row.error > 0.0]
        parts = [
            f"{len(self.rows)} common fields, {len(different)} differ, {len(self.failures)} beyond tolerance"
        ]
        if different:
            parts.append(error_table(different))
        for which, names in (("first", self.only_first), ("second", self.only_second)):
            if names:
                parts.append(f"only in the {which}: {', '.join(names)}")
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "identical": self.identical,
            "rows": self.rows_as_dicts(),
            "only_first": list(self.only_first),
            "only_second": list(self.only_second),
        }


def diff(first: Data, second: Data, *, fields: Iterable[str] | None = None) -> DiffReport:
    """Compare the fields two Data have in common (or the named ones), `second` the authority.

    They may differ in precision and in layout, but must have the same model sizes and as many worlds.
    """
    problems = []
    if first.nworld != second.nworld:
        problems.append(f"nworld is {first.nworld} and {second.nworld}")
    problems += [
        f"{name} is {first.model.sizes[name]} and {second.model.sizes[name]}"
        for name in ("nq", "nv", "nu", "na", "nbody")
        if first.model.sizes[name] != second.model.sizes[name]
    ]
    here = [name for name, _ in first.fields()]
    there = {name for name, _ in second.fields()}
    wanted = here if fields is None else list(fields)
    problems += [
        f"unknown field, or not in both: {n!r}{nearest(n, here)}"
        for n in (wanted if fields is not None else ())
        if n not in here or n not in there
    ]
    if problems:
        raise ValidationError("these two Data cannot be compared", problems)
    worst = Worst(first.model, "f32" if "f32" in (first.precision, second.precision) else "f64")
    specs = [first.specs[name] for name in wanted if name in there]
    for spec in specs:
        compare_data(worst, spec.writer or "set by the user", [spec], first, second)
    return DiffReport(
        rows=tuple(sorted(worst.sorted_rows(), key=lambda row: -row.error)),
        only_first=tuple(n for n in here if n not in there),
        only_second=tuple(n for n in sorted(there) if n not in here),
    )
