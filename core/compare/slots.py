"""Running one slot of a plan by itself, on inputs that the reference computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from dovetail import pipeline
from dovetail.backend import Runner, Segment, Slot, Wrapper, live_in, written
from dovetail.config import Config
from dovetail.contracts.derive import make_data
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.types import DATA_SPECS
from dovetail.errors import SelectionError, UnknownStageError, listing, nearest
from dovetail.planner import compile_plan
from dovetail.registry import Registry, default_registry
from dovetail.selection import REFERENCE

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model
    from dovetail.implementation import Implementation
    from dovetail.plan import Plan


@attrs.frozen(kw_only=True)
class Worlds:
    """How many worlds, in which layout: what two implementations must share to see the same memory."""

    nworld: int | None = None
    precision: str = "f64"
    lanes: int = 1
    threads: int = 1


@attrs.frozen(eq=False)
class Isolated:
    """One slot under one implementation, with the reference around it."""

    plan: Plan
    slot: Slot
    before: Runner | None
    alone: Runner
    after: Runner | None

    @property
    def written_specs(self) -> list[FieldSpec]:
        """The declarations of what it writes, its own fields included."""
        own = {spec.name: spec for spec in self.slot.record.fields}
        specs = {**DATA_SPECS, **own}
        return [specs[name] for name in sorted(self.slot.leaves)]

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
) -> Isolated:
    """Compile a plan that is the reference except in one slot, cut before and after that slot.

    `stages` are further choices (for the parts of a dispatching slot).
    """
    registry = registry or default_registry()
    config = Config.of_call(
        {**(stages or {}), slot: implementation},
        backend=REFERENCE,
        precision=worlds.precision,
        lanes=worlds.lanes,
        threads=worlds.threads,
        keep="all",
    )
    plan = plan_with_holes(model, config, nworld=worlds.nworld, registry=registry)
    slots = [s for s in plan.slots if s.stage.name in pipeline.STEP]
    labels = [s.label for s in slots]
    if slot not in labels:
        raise _no_slot(plan, slot, labels)
    at = labels.index(slot)
    return Isolated(
        plan=plan,
        slot=slots[at],
        before=runner(plan, slots[:at]),
        alone=_must(runner(plan, slots[at : at + 1])),
        after=runner(plan, slots[at + 1 :]),
    )


def plan_with_holes(
    model: Model,
    config: Config,
    *,
    nworld: int | None = None,
    wrappers: Sequence[Wrapper] = (),
    registry: Registry | None = None,
) -> Plan:
    """A plan that runs even if the model needs stages nobody wrote; `plan.missing` then lists them."""
    plan = compile_plan(model, config, nworld=nworld, wrappers=wrappers, missing="report", registry=registry)
    if not plan.missing:
        return plan
    return compile_plan(model, config, nworld=nworld, wrappers=wrappers, missing="skip", registry=registry)


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
    """Slots of one backend as a segment of their own; None if there are none."""
    if not slots:
        return None
    segment = Segment(
        model=plan.model,
        slots=tuple(slots),
        load=tuple(sorted(live_in(slots) & plan.keep)),
        store=tuple(sorted(written(slots) & plan.keep)),
        whole_step=False,
        evaluations=plan.evaluations,
        extra_shapes={f.name: f.dims(dict(plan.model.sizes)) for f in plan.extra_fields},
        lanes=plan.lanes,
        precision=plan.precision,
        threads=plan.threads,
        options=plan.options,
    )
    return plan.registry.backend(slots[0].record.backend).compile(segment)


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
