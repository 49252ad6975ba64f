"""Which slot of a step is the first that differs, each slot of one side getting the inputs of the other.

Both sides run from the same state. Up to a slot the authority computes everything; the slot itself runs twice, on
copies of the same numbers. So what only passes an earlier difference on is not blamed for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs
import numpy as np

from dovetail import pipeline
from dovetail.backend import REFERENCE
from dovetail.compare.divergence import first_failure
from dovetail.compare.errors import FieldError, Worst, comparable, compare_data
from dovetail.compare.isolate import Isolated, Worlds, isolate
from dovetail.compare.sides import Side
from dovetail.contracts.fields import Array
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import Data, Model
from dovetail.planning.plan import Plan
from dovetail.registry import Registry

Inputs = Mapping[str, Array]
"""Fields of some worlds, first axis the world (none, if there is one world and no batch)."""


@attrs.frozen(eq=False)
class Found:
    """A slot that differs."""

    row: FieldError
    first: str
    second: str


def put(data: Data, inputs: Inputs) -> None:
    """Write fields into a Data of as many worlds; those that grow may be shorter than the room there is."""
    axis = 0 if data.nworld is None else 1
    wanted: dict[str, int] = {}
    for name, value in inputs.items():
        if data.specs[name].grows:
            size = str(data.specs[name].shape[0])
            wanted[size] = max(wanted.get(size, 0), value.shape[axis])
    data.reserve(**wanted)
    for name, value in inputs.items():
        view = data.field(name)
        if data.specs[name].grows:
            view = view[(*(slice(None),) * axis, slice(value.shape[axis]))]
        view[...] = value


def copy_common(target: Data, source: Data) -> None:
    """Copy the fields that two Data of the same worlds and layout have in common."""
    target.reserve(**{name: source.sizes.get(name, 0) for name in CAPACITIES})
    for name, place in source.arena.layout.places.items():
        if name in target:
            own = target.arena.layout.places[name]
            target.arena.block(own)[:, : place.count] = source.arena.block(place)


def first_slot(
    model: Model,
    ours: Side,
    theirs: Side,
    inputs: Inputs,
    nworld: int | None,
    registry: Registry,
    tolerance: float | None = None,
) -> Found | None:
    """The first slot of a step from the state `inputs` that differs by itself; None if no one does."""
    for slot in differing(theirs.plan(model, nworld, registry), ours, theirs):
        found = _compare_slot(model, slot, ours, theirs, inputs, nworld, registry, tolerance)
        if found is not None:
            return found
    return None


def differing(plan: Plan, ours: Side, theirs: Side) -> Iterator[str]:
    """The slots of a step, in order, that the two sides fill differently, themselves or in their parts."""
    for slot in plan.slots:
        if slot.stage.name in pipeline.STEP and ours.of_slot(slot.label) != theirs.of_slot(slot.label):
            yield slot.label


def _compare_slot(
    model: Model,
    slot: str,
    ours: Side,
    theirs: Side,
    inputs: Inputs,
    nworld: int | None,
    registry: Registry,
    tolerance: float | None,
) -> Found | None:
    worlds = Worlds(
        nworld=nworld,
        precision=ours.precision,  # type: ignore[arg-type]
        lanes=ours.lanes if nworld is not None else 1,
        per_world=ours.per_world,
    )
    labels = (ours.stages[slot], theirs.stages[slot])
    one, other = both_isolated(model, slot, ours, theirs, worlds, registry)
    if one.plan.evaluations != other.plan.evaluations:
        return None  # integrators that evaluate differently often; the states after the step are compared
    ahead, behind = one.plan.make_data(), other.plan.make_data()
    put(behind, {name: value for name, value in inputs.items() if name in behind})
    for evaluation in range(other.plan.evaluations):
        other.prepare(behind, evaluation)
        copy_common(ahead, behind)
        one.run(ahead, evaluation)
        other.run(behind, evaluation)
        row = first_failure(slot_errors(slot, one, other, ahead, behind, tolerance))
        if row is not None:
            return Found(row, *labels)
        other.finish(behind, evaluation)
    return None


def both_isolated(
    model: Model, slot: str, ours: Side, theirs: Side, worlds: Worlds, registry: Registry
) -> tuple[Isolated, Isolated]:
    """A slot as each side fills it, in the surroundings of the second; what one takes along, the other does too."""

    def sides(span: tuple[str, ...]) -> tuple[Isolated, Isolated]:
        # Without the backend, so that what shares kernel fields with the slot may come along.
        around = {s: choice.removesuffix(f"@{REFERENCE}") for s, choice in theirs.stages.items()}
        return (
            isolate(
                model,
                slot,
                ours.stages[slot],
                worlds,
                registry=registry,
                stages={**around, **ours.of_slot(slot)},
                span=span,
            ),
            isolate(model, slot, theirs.stages[slot], worlds, registry=registry, stages=around, span=span),
        )

    pair = sides(())
    spans = [{s.label for s in side.span} for side in pair]
    return pair if spans[0] == spans[1] else sides(tuple(sorted(spans[0] | spans[1])))


def slot_errors(
    slot: str, one: Isolated, other: Isolated, ours: Data, theirs: Data, tolerance: float | None
) -> tuple[FieldError, ...]:
    """How far apart two isolated slots have left what both write."""
    there = {spec.name for spec in other.written_specs}
    specs = [s for s in one.written_specs if s.name in there and s.name in ours and s.name in theirs]
    reference = {one.slot.record.backend, other.slot.record.backend} == {REFERENCE}
    specs = comparable(specs, reference)
    worst = Worst(ours.model, ours.precision, tolerance=tolerance)
    for number in range(ours.nworld or 1):
        compare_data(worst, slot, specs, ours.world(number), theirs.world(number), reference=reference)
    return worst.sorted_rows()


def rows_of(inputs: Inputs, nworld: int | None, chosen: int) -> dict[str, Array]:
    """The inputs of one of the worlds; of a batch, as a batch of one."""
    if nworld is None:
        return {name: np.array(value) for name, value in inputs.items()}
    return {name: np.array(value[chosen : chosen + 1]) for name, value in inputs.items()}
