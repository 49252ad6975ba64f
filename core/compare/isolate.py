"""Running one slot of a plan by itself, on inputs that the reference computes."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import attrs

from dovetail import pipeline
from dovetail.backend import REFERENCE, Runner, Slot, Wrapper, written
from dovetail.config import Config
from dovetail.contracts.choices import OnMissing, Precision
from dovetail.contracts.derive import make_data
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.types import DATA_SPECS
from dovetail.errors import SelectionError, UnknownStageError, listing, nearest
from dovetail.planning.execution import compile_segments
from dovetail.planning.planner import compile_plan
from dovetail.registry import Registry, default_registry

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model
    from dovetail.implementation import Implementation
    from dovetail.planning.plan import Plan


@attrs.frozen(kw_only=True)
class Worlds:
    """How many worlds, in which layout: what two implementations must share to see the same memory."""

    nworld: int | None = None
    precision: Precision = "f64"
    lanes: int = 1
    threads: int = 1
    per_world: tuple[str, ...] = ()
    """Model fields that have values of their own in every world."""
    strict: bool = False
    """Whether NumPy stages are shown only what they declare."""


@attrs.frozen(eq=False)
class Isolated:
    """One slot under one implementation, with the reference around it. If it shares kernel fields with others, these
    run with it."""

    plan: Plan
    slot: Slot
    span: tuple[Slot, ...]
    """The slot, or all from the first to the last of those that share kernel fields with it."""
    before: Runner | None
    alone: Callable[[Data, int, int], None]
    after: Runner | None

    @property
    def reads(self) -> frozenset[str]:
        """The Data fields that it, and what runs with it, reads."""
        return self._in_data(frozenset[str]().union(*(slot.reads for slot in self.span)))

    @property
    def leaves(self) -> frozenset[str]:
        """The Data fields that it, and what runs with it, leaves changed."""
        flow = self.plan.flow_of(self.span)
        return self._in_data(written(self.span).union(*flow.exports))

    @property
    def touches(self) -> frozenset[str]:
        """All Data fields that must be there for it to run."""
        flow = self.plan.flow_of(self.span)
        sources = [self.plan.contracts.into[field] for fields in flow.imports for field in fields]
        return (self.reads | self.leaves).union(*sources)

    def _in_data(self, fields: frozenset[str]) -> frozenset[str]:
        return fields - self.plan.contracts.fields.keys()

    @property
    def written_specs(self) -> list[FieldSpec]:
        """The declarations of what it leaves, fields of implementations included."""
        own = {spec.name: spec for slot in self.span for spec in slot.record.fields}
        specs = {**DATA_SPECS, **own}
        return [specs[name] for name in sorted(self.leaves)]

    def prepare(self, data: Data, evaluation: int = 0) -> None:
        """Compute with the reference all that comes before the slot."""
        if self.before is not None:
            self.before(data, 1, evaluation)

    def run(self, data: Data, evaluation: int = 0) -> None:
        """The slot itself."""
        self.alone(data, 1, evaluation)

    def finish(self, data: Data, evaluation: int = 0) -> None:
        """The rest of the evaluation, the integrator included."""
        if self.after is not None:
            self.after(data, 1, evaluation)


def isolate(
    model: Model,
    slot: str,
    implementation: str,
    worlds: Worlds,
    *,
    registry: Registry | None = None,
    stages: Mapping[str, str] | None = None,
    span: Sequence[str] = (),
) -> Isolated:
    """Compile a plan that is the reference except in one slot, cut before and after that slot.

    `stages` are further choices (for the parts of a dispatching slot). An implementation that shares kernel fields
    with others takes these along; then the cut is before the first and after the last of them. `span` names slots
    that must be inside of the cut too: those of another implementation that this one is compared with.
    """
    registry = registry or default_registry()
    config = Config.of_call(
        {**(stages or {}), slot: implementation},
        backend=REFERENCE,
        precision=worlds.precision,
        lanes=worlds.lanes,
        threads=worlds.threads,
        strict=worlds.strict,
        keep="all",
    )
    plan = plan_with_holes(model, config, nworld=worlds.nworld, registry=registry, per_world=worlds.per_world)
    found = [s for s in plan.slots if s.stage.name in pipeline.STEP]
    along = {s.label for s in found if s.record.backend != REFERENCE} | {slot, *span}
    slots = in_order(found, registry, along)
    labels = [s.label for s in slots]
    if slot not in labels:
        raise _no_slot(plan, slot, labels)
    places = [n for n, label in enumerate(labels) if label in along or label == slot]
    start, end = places[0], places[-1] + 1
    return Isolated(
        plan=plan,
        slot=slots[labels.index(slot)],
        span=tuple(slots[start:end]),
        before=runner(plan, slots[:start]),
        alone=_must(runner(plan, slots[start:end])),
        after=runner(plan, slots[end:]),
    )


def in_order(slots: Sequence[Slot], registry: Registry, first: Container[str]) -> list[Slot]:
    """Slots with the rows of observing tables in the order of the registry, those of `first` before others: a plan
    may have them in another order, and both sides of a comparison must have the same."""
    found: list[Slot] = []
    for _, group in groupby(slots, key=lambda slot: slot.stage.name):
        rows = list(group)
        stage = rows[0].stage
        if stage.kind == "table" and stage.phase == "observe":
            keys, zero = registry.keys(stage.name), rows[0].zero
            rows.sort(
                key=lambda row: (bool(first) and row.label not in first, keys.index(row.record.key or ""))
            )
            rows = [attrs.evolve(row, zero=zero if n == 0 else ()) for n, row in enumerate(rows)]
        found += rows
    return found


def plan_with_holes(
    model: Model,
    config: Config,
    *,
    nworld: int | None = None,
    wrappers: Sequence[Wrapper] = (),
    registry: Registry | None = None,
    per_world: Sequence[str] = (),
) -> Plan:
    """A plan that runs even if the model needs stages nobody wrote; `plan.missing` then lists them."""

    def compiled(missing: OnMissing) -> Plan:
        return compile_plan(
            model,
            config,
            nworld=nworld,
            wrappers=wrappers,
            missing=missing,
            registry=registry,
            per_world=per_world,
        )

    plan = compiled("report")
    return compiled("skip") if plan.missing else plan


def _no_slot(plan: Plan, slot: str, labels: Sequence[str]) -> SelectionError:
    if slot in plan.skipped:
        return SelectionError(
            f"{slot} does not run for model {plan.model.modelname or plan.model.source!r}: nothing in it needs it"
        )
    if any(m.slot == slot for m in plan.missing):
        return SelectionError(f"{slot}: nothing implements it")
    return UnknownStageError(f"the plan has no slot {slot!r}{nearest(slot, labels)} Slots: {listing(labels)}")


def _must(found: Runner | None) -> Runner:
    assert found is not None  # one slot always makes a segment
    return found


def runner(plan: Plan, slots: Sequence[Slot]) -> Runner | None:
    """Slots of a plan by themselves, segment by segment; None if there are none."""
    if not slots:
        return None
    parts = compile_segments(plan, plan.flow_of(slots))

    def run(data: Data, nstep: int, evaluation: int) -> None:
        for part in parts:
            part(data, nstep, evaluation)

    return run


def shared_data(model: Model, worlds: Worlds, registry: Registry | None = None) -> Data:
    """A Data with every field any installed implementation may use."""
    registry = registry or default_registry()
    return make_data(
        model,
        worlds.nworld,
        precision=worlds.precision,
        lanes=worlds.lanes,
        keep="all",
        extra=registry.data_fields().values(),
    )


def copy_into(target: Data, source: Data) -> None:
    """Make one Data's numbers those of another with the same layout."""
    target.copy_from(source)


def common_lanes(records: Sequence[Implementation], worlds: Worlds, registry: Registry) -> int:
    """Worlds per tile that suit all records: the widest any of their backends wants."""
    wanted = [registry.backend(r.backend).lanes(worlds.nworld, worlds.precision) for r in records]
    return max(wanted, default=1)
