"""What reports of comparisons have in common: errors field by field, and the verdict that follows from them."""

from __future__ import annotations

from typing import Any

from dovetail.compare.errors import FieldError


class Report:
    """The errors of compared fields, each with its tolerance."""

    __slots__ = ()

    @property
    def rows(self) -> tuple[FieldError, ...]:
        """The worst error of every compared field."""
        raise NotImplementedError

    @property
    def failures(self) -> tuple[FieldError, ...]:
        """The fields that are beyond their tolerance."""
        return tuple(row for row in self.rows if not row.ok)

    @property
    def ok(self) -> bool:
        """Whether every compared field is within its tolerance."""
        return not self.failures

    def rows_as_dicts(self) -> list[dict[str, Any]]:
        """The rows as plain values."""
        return [row.to_dict() for row in self.rows]
