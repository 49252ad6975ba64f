"""Where two runs first part: step, slot, field, entry, world and both values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from dovetail.compare.errors import FieldError, Worst, compare_data
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.types import Data

WHOLE_STEP = "step"
"""The slot of a divergence that no stage shows by itself."""


@attrs.frozen(kw_only=True)
class Divergence:
    """One number that two implementations, or two plans, compute differently."""

    step: int
    """Steps that were taken before the one in which it shows."""
    time: float
    world: int
    slot: str
    """The first slot that differs when it gets the same inputs on both sides."""
    field: str
    where: str
    """Index and object, as `[3] (joint "knee")`."""
    ours: float
    theirs: float
    error: float
    tolerance: float
    first: str
    """What computed `ours`, as `crb@native`."""
    second: str
    """What computed `theirs`, the authority."""
    note: str = ""

    @classmethod
    def of(
        cls,
        row: FieldError,
        *,
        step: int,
        time: float,
        world: int,
        first: str,
        second: str,
        slot: str = "",
        note: str = "",
    ) -> Divergence:
        return cls(
            step=step,
            time=time,
            world=world,
            slot=slot or row.slot,
            field=row.field,
            where=row.where.strip(),
            ours=row.ours,
            theirs=row.theirs,
            error=row.error,
            tolerance=row.tolerance,
            first=first,
            second=second,
            note=note or row.note,
        )

    def to_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    def __str__(self) -> str:
        text = (
            f"step {self.step} (time {self.time:.6g}), world {self.world}: {self.slot} {self.field}{self.where} is "
            f"{self.ours!r} with {self.first} and {self.theirs!r} with {self.second} (error {self.error:.1e}, "
            f"tolerance {self.tolerance:.1e})"
        )
        return text + (f"; {self.note}" if self.note else "")


def world_errors(
    ours: Data,
    theirs: Data,
    specs: Iterable[FieldSpec],
    *,
    reference: bool,
    tolerance: float | None = None,
    slack: float = 1.0,
) -> tuple[FieldError, ...]:
    """The errors of one world's fields, each under the slot that writes it; `slack` multiplies the tolerances of
    real numbers."""
    worst = Worst(ours.model, ours.precision, tolerance=tolerance)
    for spec in specs:
        compare_data(worst, spec.writer or "set by the user", [spec], ours, theirs, reference=reference)
    rows = worst.sorted_rows()
    if tolerance is not None or slack == 1.0:
        return rows
    return tuple(attrs.evolve(row, tolerance=slack * row.tolerance) for row in rows)


def first_failure(rows: Iterable[FieldError]) -> FieldError | None:
    """The first row out of tolerance."""
    return next((row for row in rows if not row.ok), None)


def as_divergence(values: Mapping[str, Any] | None) -> Divergence | None:
    """A divergence out of a file."""
    return None if values is None else Divergence(**values)
