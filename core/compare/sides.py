"""One side of a comparison as plain values: which implementation fills each slot of a plan, and its settings.

A side can be written into a file and made a plan again, for another number of worlds. That is how a run is checked
beside itself and how a dump repeats it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from dovetail import pipeline
from dovetail.backend import REFERENCE
from dovetail.config import Config
from dovetail.errors import FileFormatError, SelectionError, listing, nearest
from dovetail.planning.planner import compile_plan

if TYPE_CHECKING:
    from dovetail.contracts.types import Model
    from dovetail.implementation import Implementation
    from dovetail.planning.plan import Plan
    from dovetail.registry import Registry

PASSED_ON = ("runtime", "arch", "plugins")
"""Settings of a plan that its copies have too, besides those a Side has as attributes."""


@attrs.frozen(kw_only=True)
class Side:
    """The choices of a plan."""

    stages: Mapping[str, str]
    """By slot: `name@backend`; of parts, which run where their dispatcher does, the name."""
    precision: str = "f64"
    lanes: int = 1
    on_nan: str = "reset"
    per_world: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    settings: Mapping[str, Any] = attrs.field(factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> Side:
        """What a plan chose."""
        records = {slot: choice.record for slot, choice in plan.choices.items() if "#" not in slot}
        return cls(
            stages={slot: _chosen(record) for slot, record in records.items()},
            precision=plan.precision,
            lanes=plan.lanes,
            on_nan=plan.bad_states.policy,
            per_world=plan.per_world,
            keep=tuple(sorted(plan.keep - {f.name for f in plan.extra_fields})),
            settings={name: plan.options[name] for name in PASSED_ON if name in plan.options},
        )

    @classmethod
    def beside(cls, plan: Plan, stages: Mapping[str, str], registry: Registry) -> Side:
        """The same algorithms on the reference backend, where it has them, and other choices for some slots. A bad
        world is reset, or held where the plan holds it."""
        own = cls.of(plan)
        records = {slot: choice.record for slot, choice in plan.choices.items() if "#" not in slot}
        _check_slots(plan, stages)
        chosen = {slot: _chosen(_on_reference(record, registry)) for slot, record in records.items()}
        for slot, label in stages.items():
            chosen[slot] = _chosen(registry.get(slot, label))
        return attrs.evolve(
            own, stages=chosen, lanes=1, on_nan="freeze" if own.on_nan == "freeze" else "reset"
        )

    def plan(self, model: Model, nworld: int | None, registry: Registry) -> Plan:
        """A plan of these choices for so many worlds, on one thread."""
        config = Config.of_call(
            dict(self.stages),
            backend=REFERENCE,
            precision=self.precision,
            lanes=self.lanes if nworld is not None else None,
            threads=1,
            on_nan=self.on_nan,
            keep=self.keep,
            **self.settings,
        )
        return compile_plan(model, config, nworld=nworld, registry=registry, per_world=self.per_world)

    def of_slot(self, slot: str) -> dict[str, str]:
        """What it chose for a slot and for the parts that run inside it."""
        stage = slot.partition(":")[0]
        inside = {s for s in self.stages if pipeline.stage(s.partition(":")[0]).part_of == stage}
        return {s: choice for s, choice in self.stages.items() if s == slot or s in inside}

    def to_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Side:
        known = {a.name for a in attrs.fields(cls)}
        if set(values) != known or not isinstance(values["stages"], dict):
            raise FileFormatError(f"one side of the comparison should have {', '.join(sorted(known))}")
        return cls(
            **{**values, "per_world": tuple(values["per_world"]), "keep": tuple(values["keep"])},
        )


def _chosen(record: Implementation) -> str:
    return record.name if pipeline.stage(record.stage).part_of else record.label


def _on_reference(record: Implementation, registry: Registry) -> Implementation:
    """The sibling of the same name on the reference backend, or the record itself where there is none."""
    if record.backend == REFERENCE:
        return record
    found = (r for r in registry.of(record.slot) if (r.name, r.backend) == (record.name, REFERENCE))
    return next(found, record)


def _check_slots(plan: Plan, stages: Mapping[str, str]) -> None:
    for slot in stages:
        if slot not in plan.choices:
            known = list(plan.choices)
            why = "nothing in this model needs it" if slot in plan.skipped else "this plan has no such slot"
            raise SelectionError(
                f"{slot} cannot be checked: {why}{nearest(slot, known) or '.'} Slots: {listing(known)}"
            )
