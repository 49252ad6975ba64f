"""A second implementation beside the first, inside a running Simulation: a wrapper that costs only its slot.

    shadow = Shadow("mass_matrix", "crb@numpy")
    sim = dovetail.Simulation(model, nworld=64, backend="taichi", wrap=[shadow])
    sim.step(100)
    print(shadow.table())

The first implementation's results go on; the shadow's are only compared, with the shadow as the authority.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import attrs

from dovetail.backend import REFERENCE, Slot
from dovetail.compare.errors import FieldError, Worst, compare_data
from dovetail.compare.isolate import Isolated, Worlds, isolate
from dovetail.compare.reports import Report
from dovetail.compare.tables import error_table
from dovetail.contracts.derive import make_data
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import DATA_SPECS, Data
from dovetail.errors import DovetailError, NotKeptError, SelectionError
from dovetail.registry import Registry

OnDeviation = Literal["record", "warn", "raise"]


class DeviationError(DovetailError):
    """A stage and its shadow disagree beyond tolerance."""


class DeviationWarning(UserWarning):
    """A stage and its shadow disagree beyond tolerance."""


@attrs.define
class Shadow(Report):
    """Runs `implementation` (`name@backend`) beside the slot `stage` and compares what both write.

    `on_deviation`: only record (default), warn, or raise DeviationError. `tolerance` replaces the fields' own.
    """

    stage: str
    implementation: str
    on_deviation: OnDeviation = attrs.field(
        default="record", kw_only=True, validator=attrs.validators.in_(("record", "warn", "raise"))
    )
    tolerance: float | None = attrs.field(default=None, kw_only=True)
    registry: Registry | None = attrs.field(default=None, kw_only=True, repr=False)
    comparisons: int = attrs.field(default=0, init=False)
    _worst: Worst | None = attrs.field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        return f"shadow {self.implementation}"

    def wants(self, label: str) -> bool:
        return label == self.stage

    def wrap(self, slot: Slot, call: Callable[[Data], None]) -> Callable[[Data], None]:
        companion: _Companion | None = None

        def shadowed(data: Data) -> None:
            nonlocal companion
            if companion is None or companion.owner is not data:
                companion = _Companion.of(self, slot, data)
            companion.take_inputs()
            call(data)
            self._judge(companion.deviations(self))

        return shadowed

    @property
    def rows(self) -> tuple[FieldError, ...]:
        """The worst error of every field so far."""
        return () if self._worst is None else self._worst.sorted_rows()

    def table(self) -> str:
        """The worst errors so far, as text."""
        return f"{self.stage} beside {self.implementation}: {self.comparisons} comparisons\n" + error_table(
            self.rows
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "implementation": self.implementation,
            "comparisons": self.comparisons,
            "ok": self.ok,
            "rows": self.rows_as_dicts(),
        }

    def _judge(self, deviations: list[FieldError]) -> None:
        self.comparisons += 1
        if not deviations or self.on_deviation == "record":
            return
        text = f"{self.stage} deviates from {self.implementation}: " + "; ".join(map(str, deviations))
        if self.on_deviation == "raise":
            raise DeviationError(text)
        warnings.warn(text, DeviationWarning, stacklevel=4)


@attrs.define(eq=False)
class _Companion:
    """The shadow's own runner and memory, for one Data of the simulation."""

    owner: Data
    isolated: Isolated
    data: Data
    inputs: tuple[str, ...]
    beside: str
    """The backend of the implementation it runs beside."""
    evaluation: int = 0

    @classmethod
    def of(cls, shadow: Shadow, slot: Slot, data: Data) -> _Companion:
        worlds = Worlds(nworld=data.nworld, precision=data.precision, lanes=data.arena.lanes)
        isolated = isolate(data.model, shadow.stage, shadow.implementation, worlds, registry=shadow.registry)
        record = isolated.slot.record
        if slot.integrates and record.evaluations != slot.record.evaluations:
            raise SelectionError(
                f"{slot.label}: {slot.record.label} needs {slot.record.evaluations} evaluation(s) per step, its "
                f"shadow {record.label} {record.evaluations}; they cannot run side by side"
            )
        if len(isolated.span) > 1:
            others = ", ".join(s.label for s in isolated.span if s.label != slot.label)
            raise SelectionError(
                f"{slot.label}: its shadow {record.label} shares kernel fields with {others}, so it cannot run "
                "beside this slot alone; use dovetail.compare.ab.compare, which runs them together"
            )
        needed = isolated.touches
        inputs = tuple(sorted(f for f in needed if f in DATA_SPECS and f in data))
        skipped = set(isolated.plan.skipped)
        absent = sorted(
            f
            for f in isolated.touches - isolated.leaves
            if f in DATA_SPECS and f not in data and DATA_SPECS[f].writer not in skipped
        )
        if absent:
            raise NotKeptError(
                f"shadow {record.label} of {slot.label} reads {', '.join(absent)}, which this plan does not keep; "
                f"make the Simulation with keep={tuple(absent)!r}"
            )
        own = make_data(
            data.model,
            data.nworld,
            precision=data.precision,
            lanes=data.arena.lanes,
            keep=tuple(sorted(needed)),
            extra=isolated.plan.extra_fields,
        )
        return cls(data, isolated, own, inputs, slot.record.backend)

    def take_inputs(self) -> None:
        """Copy what the shadow reads, before the first implementation changes it."""
        self.data.reserve(**{name: self.owner.sizes.get(name, 0) for name in CAPACITIES})
        for name in self.inputs:
            place = self.owner.arena.layout.places[name]
            own = self.data.arena.layout.places[name]
            self.data.arena.block(own)[:, : place.count] = self.owner.arena.block(place)

    def deviations(self, shadow: Shadow) -> list[FieldError]:
        """Run the shadow and compare; the fields that deviate now."""
        self.isolated.run(self.data, self.evaluation)
        if self.isolated.slot.integrates:
            self.evaluation = (self.evaluation + 1) % self.isolated.plan.evaluations
        specs = [s for s in self.isolated.written_specs if s.name in self.owner]
        now = Worst(self.owner.model, self.owner.precision, tolerance=shadow.tolerance)
        backends = {self.isolated.slot.record.backend, self.beside}
        compare_data(now, shadow.stage, specs, self.owner, self.data, reference=backends == {REFERENCE})
        if shadow._worst is None:
            shadow._worst = Worst(self.owner.model, self.owner.precision)
        for row in now.sorted_rows():
            shadow._worst.keep(row)
        return [row for row in now.sorted_rows() if not row.ok]
