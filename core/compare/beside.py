"""A few worlds of a run, stepped once more by another plan from the same state, and compared."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import attrs
import numpy as np

from dovetail.backend import REFERENCE, written
from dovetail.bad_states import StateWarning
from dovetail.compare.divergence import WHOLE_STEP, Divergence, first_failure, world_errors
from dovetail.compare.errors import FieldError, comparable
from dovetail.compare.localise import Inputs, first_slot, put, rows_of
from dovetail.compare.sides import Side
from dovetail.contracts.fields import Array, FieldSpec
from dovetail.contracts.types import Data, Model
from dovetail.planning.plan import Plan
from dovetail.registry import Registry

SLACK = 10.0
"""How many times the tolerance of a field a whole step may be off: rounding of all its stages adds up."""


def take_inputs(data: Data, worlds: Sequence[int]) -> dict[str, Array]:
    """The state fields of some worlds, copied."""
    if data.nworld is None:
        return {name: np.array(data.field(name)) for name in data.state}
    views = [data.world(number) for number in worlds]
    return {name: np.stack([np.array(view.field(name)) for view in views]) for name in data.state}


def whole_step_fields(plan: Plan) -> frozenset[str]:
    """The Data fields that a step of a plan leaves, those left out that are filled once per call."""
    filled = written(plan.in_steps).union(*plan.flow.exports) - plan.contracts.fields.keys()
    later = written(plan.once_per_call) | frozenset(() if plan.replay is None else plan.replay.fields)
    return frozenset(filled - later)


@attrs.define(eq=False)
class Beside:
    """The second plan, with a Data of its own for so many worlds."""

    model: Model
    ours: Side
    theirs: Side
    nworld: int | None
    registry: Registry
    plan: Plan
    data: Data
    tolerance: float | None = None

    @classmethod
    def of(
        cls,
        model: Model,
        ours: Side,
        theirs: Side,
        nworld: int | None,
        registry: Registry,
        tolerance: float | None = None,
    ) -> Beside:
        plan = theirs.plan(model, nworld, registry)
        return cls(model, ours, theirs, nworld, registry, plan, plan.make_data(), tolerance)

    @property
    def reference(self) -> bool:
        """Whether all of both sides is on the reference backend, so that they agree in layout."""
        labels = [c for side in (self.ours, self.theirs) for c in side.stages.values() if "@" in c]
        return all(label.endswith(f"@{REFERENCE}") for label in labels)

    def step(self, inputs: Inputs) -> None:
        """Take a step from a state; who takes it too says what becomes of bad worlds."""
        put(self.data, {name: value for name, value in inputs.items() if name in self.data})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StateWarning)
            self.plan.step(self.data)

    def specs(self, plan: Plan) -> list[FieldSpec]:
        """What can be compared after a step of both plans; only states, if they evaluate differently often."""
        both = whole_step_fields(plan) & whole_step_fields(self.plan) & plan.keep & self.plan.keep
        specs = [self.data.specs[name] for name in self.data.arena.layout.places if name in both]
        same = plan.evaluations == self.plan.evaluations
        return [spec for spec in comparable(specs, self.reference) if same or spec.state]

    def errors(
        self, data: Data, worlds: Sequence[int], specs: Sequence[FieldSpec]
    ) -> list[tuple[FieldError, ...]]:
        """How far a run's worlds are from the step just taken, world by world."""
        return [
            world_errors(
                data.world(number),
                self.data.world(place),
                specs,
                reference=self.reference,
                tolerance=self.tolerance,
                slack=SLACK,
            )
            for place, number in enumerate(worlds)
        ]

    def localised(self, row: FieldError, inputs: Inputs, place: int, *, step: int, world: int) -> Divergence:
        """The divergence behind a step that is out of tolerance in one world: the first slot that differs alone."""
        nworld = None if self.nworld is None else 1
        own = rows_of(inputs, self.nworld, place)
        found = first_slot(self.model, self.ours, self.theirs, own, nworld, self.registry, self.tolerance)
        common = {"step": step, "time": float(np.ravel(own["time"])[0]), "world": world}
        if found is not None:
            return Divergence.of(found.row, **common, first=found.first, second=found.second)  # type: ignore[arg-type]
        different = [
            (slot, self.ours.stages[slot], choice)
            for slot, choice in self.theirs.stages.items()
            if slot in self.ours.stages and self.ours.stages[slot] != choice
        ]
        if [slot for slot, *_ in different] == ["integrate"]:
            _, first, second = different[0]
            return Divergence.of(row, **common, slot="integrate", first=first, second=second)  # type: ignore[arg-type]
        return Divergence.of(
            row,
            **common,  # type: ignore[arg-type]
            slot=WHOLE_STEP,
            first="the run",
            second="the shadow",
            note="no stage differs by itself, only the step as a whole",
        )

    def first_divergence(
        self,
        data: Data,
        worlds: Sequence[int],
        inputs: Inputs,
        errors: Sequence[tuple[FieldError, ...]],
        step: int,
    ) -> Divergence | None:
        """The first world, and in it the first slot, that is out of tolerance."""
        for place, (number, rows) in enumerate(zip(worlds, errors, strict=True)):
            row = first_failure(rows)
            if row is not None:
                return self.localised(row, inputs, place, step=step, world=number)
        return None
