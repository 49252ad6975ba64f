"""The plan as text: what runs, who chose it, what fell back, what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from dovetail.backend import REFERENCE, Slot, group_slots, worlds_alone
from dovetail.contracts.fields import REAL
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import DATA_SPECS
from dovetail.planning.loading_selection import compile_lines

if TYPE_CHECKING:
    from dovetail.planning.plan import Plan


@attrs.frozen
class PlanLine:
    """One line of `explain()`."""

    slot: str
    implementation: str
    provider: str
    origin: str
    fallback: str
    segment: int
    wrapped_by: tuple[str, ...]


def lines(plan: Plan) -> list[PlanLine]:
    """What runs, in order, one entry per slot and part."""
    numbers = {slot.label: number for number, group in enumerate(plan.segments(), start=1) for slot in group}
    found = []
    for slot in plan.in_steps:
        number = numbers[slot.label]
        found.append(_line(plan, slot.label, slot, number, tuple(w.name for w in plan.wrappers_of(slot))))
        found += [_line(plan, label, slot, number, ()) for label in slot.part_choices]
    return found


def _line(plan: Plan, label: str, slot: Slot, segment: int, wrapped: tuple[str, ...]) -> PlanLine:
    choice = slot.part_choices.get(label) or plan.choices[label]
    return PlanLine(
        slot=label,
        implementation=choice.record.label,
        provider=choice.record.provider,
        origin=choice.origin,
        fallback=choice.fallback,
        segment=segment,
        wrapped_by=wrapped,
    )


def explain(plan: Plan) -> str:
    """Each slot, its implementation, who chose it, and what fell back or is missing."""
    rows = lines(plan)
    width = max((len(n) for n in (*(r.slot for r in rows), *(m.slot for m in plan.missing))), default=0)
    label = max((len(r.implementation) for r in rows), default=0)
    return "\n".join(
        [
            headline(plan),
            *(
                f"  {r.segment:>2}  {r.slot:<{width}}  {r.implementation:<{label}}  ({r.origin}{_remarks(r)})"
                for r in rows
            ),
            *_left_out(plan),
            *_price_of_segments(plan),
            *_besides(plan),
            *(f"  !!  {m.slot:<{width}}  MISSING, needed by {m.reason}" for m in plan.missing),
        ]
    )


def _remarks(line: PlanLine) -> str:
    text = f"; fell back: {line.fallback}" if line.fallback else ""
    text += f"; wrapped by {', '.join(line.wrapped_by)}" if line.wrapped_by else ""
    return text + (f"; from {line.provider}" if line.provider != "dovetail" else "")


def _left_out(plan: Plan) -> list[str]:
    """What does not run, and what the model was loaded with."""
    text = []
    if plan.skipped:
        text.append(f"   -  not needed by this model: {', '.join(plan.skipped)}")
    if plan.idle:
        text.append(f"   -  left out, results not kept: {', '.join(plan.idle)}")
    if plan.semantics.origin != "default":
        text.append(f"   -  semantics {plan.semantics.value} ({plan.semantics.origin})")
    text += [f"   -  {line}" for line in compile_lines(plan.model)]
    for record in plan.unasked:
        text.append(f"   -  installed, not asked for: {record.slot} {record.label} of {record.provider}")
    return text


def _price_of_segments(plan: Plan) -> list[str]:
    """What it costs that a kernel does not hold the whole step."""
    groups = group_slots(plan.sequence("step"), plan.wrappers)
    kernels = {group[0].record.backend for group in groups} - {REFERENCE}
    text = []
    for number, fields in enumerate(plan.flow.imports, start=1):
        if fields:
            groups_of = ", ".join(sorted({f.partition(".")[0] for f in fields}))
            text.append(
                f"   >  segment {number} takes {groups_of} from Data, sorted into tiles before each launch"
            )
    if plan.once_per_call:
        labels = ", ".join(slot.label for slot in plan.once_per_call)
        text.append(f"   -  once per call, after its last step, world by world: {labels}")
    if len(groups) > 1 and kernels:
        text.append(f"   -  steps are launched one by one, {len(groups)} segments each")
        text += _price_of_copies(plan)
    return text


def _price_of_copies(plan: Plan) -> list[str]:
    """What is copied between host and device in every step, where not all of it runs there."""
    numbers, sizes = 0, {**plan.model.sizes, **dict.fromkeys(CAPACITIES, 1)}
    for number, group in enumerate(plan.flow.groups):
        if on_device(plan, group[0].record.backend):
            segment = plan.segment(plan.flow, number)
            for name in (*segment.load, *segment.store):
                spec = DATA_SPECS.get(name)
                shape = segment.extra_shapes.get(name, ()) if spec is None else spec.dims(sizes)
                numbers += math.prod(shape) if spec is None or spec.buffer == REAL else 0
    if not numbers:
        return []
    return [f"   -  up to {numbers:,} numbers of each world are copied to the device and back in every step"]


def on_device(plan: Plan, backend: str) -> bool:
    """Whether a backend has a thread for each world in this plan, and memory of its own."""
    return worlds_alone(plan.registry.backend(backend), plan.options)


def _besides(plan: Plan) -> list[str]:
    text = []
    if plan.auto is not None:
        text.append(f"   -  backend auto: {plan.auto.backend}, {plan.auto.reason}")
    if plan.per_world:
        text.append(f"   -  with values per world: {', '.join(plan.per_world)}")
    if plan.replay is not None and plan.replay.late:
        fields = some(plan.replay.fields)
        text.append(f"   +  when one is read the last step is repeated with the reference: {fields}")
    elif plan.replay is not None:
        text.append(
            "   +  repeated with the reference after the last step of a call, world by world, for: "
            + ", ".join(plan.replay.fields)
        )
    return text


def some(names: Sequence[str]) -> str:
    """Names, of many of them the first and how many there are."""
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMED])} … ({len(names)} in all)"


MOST_NAMED = 6
"""Fields that a line names."""


def headline(plan: Plan) -> str:
    """The plan in one line."""
    count = len(plan.segments("step"))
    alone = any(on_device(plan, slot.record.backend) for slot in plan.slots)
    worlds = "one world" if plan.nworld is None else f"{plan.nworld} worlds, {plan.lanes} per tile"
    worlds = f"{plan.nworld} worlds, a thread each" if alone and plan.nworld is not None else worlds
    name = plan.model.modelname or plan.model.source
    return (
        f"plan for {name!r}: {worlds}, {plan.precision}, {plan.threads} thread{'s'[: plan.threads > 1]}, "
        f"{count} segment{'s'[: count > 1]} a step"
    )
