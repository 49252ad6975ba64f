"""Two plans cut into the same blocks, so that each block of one can be run on the other's inputs.

A block is one slot where both sides can run it alone, and several where a kernel does not let go of what passes
between them. Rows that only one side has are blocks which the other side skips.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import attrs
import numpy as np

from dovetail import pipeline
from dovetail.backend import REFERENCE, Runner, Slot, written
from dovetail.compare.run_specs import RunSpec
from dovetail.contracts.derive import make_data
from dovetail.contracts.fields import FieldSpec
from dovetail.contracts.sizes import CAPACITIES
from dovetail.contracts.types import DATA_SPECS, Data, Model
from dovetail.errors import SelectionError
from dovetail.planning.execution import compile_segments
from dovetail.planning.flow import Flow
from dovetail.planning.plan import Plan
from dovetail.simulation import Simulation

ORDER = {name: n for n, name in enumerate(("step_begin", *pipeline.STEP, "step_end"))}


@attrs.define(eq=False)
class Side:
    """One plan, its slots in the pipeline's order."""

    spec: RunSpec
    model: Model
    plan: Plan
    calls: dict[str, int] = attrs.field(factory=dict)
    """How often parts were called that the sides choose differently."""
    counts: set[str] = attrs.field(factory=set)
    """The parts whose calls are counted."""
    cleared: frozenset[str] = frozenset()
    """Tables whose sums are cleared by who runs the blocks, because the sides have other rows."""

    @classmethod
    def of(cls, spec: RunSpec, model: Model, nworld: int | None) -> Side:
        sim = Simulation(model, nworld=nworld, keep="all", missing="skip", **spec.simulation_arguments())
        return cls(spec, model, sim.plan)

    @classmethod
    def reference_for(cls, side: Side) -> Side:
        """The same choices on the reference, as far as it has them."""
        registry = side.plan.registry
        stages = {
            slot: f"{choice.record.name}@{REFERENCE}"
            for slot, choice in side.plan.choices.items()
            if "#" not in slot and registry.find(slot, choice.record.name, REFERENCE) is not None
        }
        spec = attrs.evolve(side.spec, backend=REFERENCE, stages=stages)
        return cls.of(spec, side.model, side.plan.nworld)

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """By label, in order. The rows of a table stand as the registry has them, and the first one clears what they
        add to."""
        chosen = [slot for slot in self.plan.in_steps if slot.stage.name in ORDER]
        found = sorted(chosen, key=lambda slot: (ORDER[slot.stage.name], *_row(slot, self.plan)))
        zero: dict[str, tuple[str, ...]] = {}
        for slot in found:
            zero[slot.stage.name] = zero.get(slot.stage.name, ()) or slot.zero
        result: dict[str, Slot] = {}
        for slot in found:
            zeroed = () if slot.stage.name in self.cleared else zero[slot.stage.name]
            zero[slot.stage.name] = ()
            result[slot.label] = self._counting(attrs.evolve(slot, zero=zeroed))
        return result

    def sums(self) -> dict[str, tuple[str, ...]]:
        """What the rows of each table add to."""
        return {slot.stage.name: slot.zero for slot in self.plan.slots if slot.zero}

    def rows(self) -> dict[str, set[str]]:
        """Labels by stage."""
        found: dict[str, set[str]] = {}
        for slot in self.plan.in_steps:
            found.setdefault(slot.stage.name, set()).add(slot.label)
        return found

    def places(self) -> dict[str, tuple[int, int, str]]:
        """Where each slot stands in the pipeline."""
        return {s.label: (ORDER[s.stage.name], *_row(s, self.plan)) for s in self.slots.values()}

    @property
    def evaluations(self) -> int:
        return self.plan.evaluations

    def _counting(self, slot: Slot) -> Slot:
        """A slot of the reference whose chosen parts count their calls."""
        if slot.record.backend != REFERENCE or not self.counts or not slot.parts:
            return slot
        return attrs.evolve(
            slot, parts={name: self._counted(name, part) for name, part in slot.parts.items()}
        )

    def _counted(self, name: str, part: Any) -> Any:
        if isinstance(part, Mapping):
            return {key: self._counted(f"{name}:{key}", row) for key, row in part.items()}
        if name not in self.counts or not callable(part):
            return part

        def call(*arguments: Any, **named: Any) -> Any:
            sized = [np.shape(a)[0] for a in arguments if isinstance(a, np.ndarray) and np.ndim(a)]
            self.calls[name] = self.calls.get(name, 0) + (min(sized) if sized else 1)
            return part(*arguments, **named)

        call.__dict__.update(getattr(part, "__dict__", {}))
        return call

    @property
    def in_place(self) -> bool:
        """Whether every slot can be run alone, as those of the reference can."""
        return all(self.plan.registry.backend(s.record.backend).in_place for s in self.plan.slots)

    def flow(self, labels: Sequence[str]) -> Flow:
        """What passes in a block."""
        own = [self.slots[label] for label in labels if label in self.slots]
        names = list(self.slots)
        start = names.index(own[0].label) if own else 0
        plan = self.plan
        return Flow.of(
            own,
            (),
            plan.contracts,
            absent={*plan.skipped, *(m.slot for m in plan.missing)},
            earlier=[self.slots[name] for name in names[:start]],
            wanted=plan.kept,
        )

    def can_run(self, labels: Sequence[str]) -> bool:
        """Whether a block can be run by itself."""
        return not any(label in self.slots for label in labels) or not self.flow(labels).conflicts

    def block(self, labels: Sequence[str]) -> Block | None:
        """A block, compiled; None if this side has none of its slots."""
        own = tuple(self.slots[label] for label in labels if label in self.slots)
        if not own:
            return None
        flow = self.flow(labels)
        leaves = written(own).union(*flow.exports) - self.plan.contracts.fields.keys()
        return Block(own, frozenset(leaves), compile_segments(self.plan, flow))

    def extra(self) -> dict[str, FieldSpec]:
        """Fields of implementations."""
        return {**self.plan.registry.data_fields(), **{f.name: f for f in self.plan.extra_fields}}

    def make_data(self, extra: Mapping[str, FieldSpec]) -> Data:
        """A Data with every field that any side may use."""
        return make_data(
            self.model,
            self.plan.nworld,
            precision=self.plan.precision,
            lanes=self.plan.lanes,
            keep="all",
            extra=extra.values(),
        )

    def label(self, slot: str) -> str:
        """The implementation in a slot, empty if there is none."""
        return self.slots[slot].record.label if slot in self.slots else ""


def _row(slot: Slot, plan: Plan) -> tuple[int, str]:
    """Where a row stands in its table."""
    keys = plan.registry.keys(slot.stage.name) if slot.stage.kind == "table" else []
    key = slot.record.key or ""
    return (keys.index(key) if key in keys else len(keys)), slot.label


@attrs.frozen(eq=False)
class Block:
    """Slots of one side that run together."""

    slots: tuple[Slot, ...]
    leaves: frozenset[str]
    """Data fields that have new values after it."""
    runners: Sequence[Runner]

    def run(self, data: Data, evaluation: int) -> None:
        for part in self.runners:
            part(data, 1, evaluation)

    @property
    def is_reference(self) -> bool:
        return all(slot.record.backend == REFERENCE for slot in self.slots)

    @property
    def integrates(self) -> bool:
        return any(slot.integrates for slot in self.slots)


class Leaving(Protocol):
    """A block, computed or saved."""

    @property
    def leaves(self) -> frozenset[str]: ...


class Cuttable(Protocol):
    """What can be cut into blocks: a plan, or what was saved of one."""

    @property
    def in_place(self) -> bool: ...

    def places(self) -> dict[str, tuple[int, int, str]]: ...

    def can_run(self, labels: Sequence[str]) -> bool: ...


def merged_labels(a: Cuttable, b: Cuttable) -> list[str]:
    """The slots of both, in order."""
    places = {**b.places(), **a.places()}
    return sorted(places, key=places.__getitem__)


def blocks_of(a: Cuttable, b: Cuttable) -> list[tuple[str, ...]]:
    """The finest cut in which both sides can run every block by itself."""
    labels = merged_labels(a, b)
    if a.in_place and b.in_place:
        return [(label,) for label in labels]
    known: dict[tuple[int, int], bool] = {}

    def feasible(start: int, end: int) -> bool:
        if (start, end) not in known:
            known[start, end] = all(side.can_run(labels[start:end]) for side in (a, b))
        return known[start, end]

    return _finest(labels, feasible)


def _finest(labels: Sequence[str], feasible: Callable[[int, int], bool]) -> list[tuple[str, ...]]:
    """The partition of labels into most blocks, found from the end."""
    count = len(labels)
    best: list[tuple[int, int] | None] = [None] * count + [(0, count)]
    """From each place: how many blocks follow, and where the first of them ends."""
    for start in reversed(range(count)):
        for end in range(start + 1, count + 1):
            rest = best[end]
            if rest is None or (best[start] or (0, 0))[0] >= rest[0] + 1:
                continue
            if feasible(start, end):
                best[start] = (rest[0] + 1, end)
    if best[0] is None:
        raise SelectionError(
            "these plans cannot be cut: their kernels share fields from end to end of a step"
        )
    found, place = [], 0
    while place < count:
        entry = best[place]
        assert entry is not None  # every place on the way was reached from one
        found.append(tuple(labels[place : entry[1]]))
        place = entry[1]
    return found


def transfer(target: Data, source: Data) -> None:
    """Make one Data's numbers those of another, which may differ in precision and layout."""
    alike = (
        target.precision == source.precision
        and target.arena.lanes == source.arena.lanes
        and target.arena.layout.places.keys() == source.arena.layout.places.keys()
        and target.model.sizes == source.model.sizes
    )
    if alike:
        target.copy_from(source)
        return
    overlay(target, source, [name for name, _ in source.fields() if name in target])


def overlay(target: Data, source: Data, names: Sequence[str]) -> None:
    """Take over some fields."""
    target.reserve(**{name: source.sizes.get(name, 0) for name in CAPACITIES})
    for name in names:
        value, place = np.asarray(source.field(name)), target.field(name)
        if place.shape == value.shape:
            place[...] = value
        else:  # a capacity that grew on one side
            first = 0 if target.nworld is None else 1
            room = tuple(slice(None) for _ in range(first)) + tuple(slice(n) for n in value.shape[first:])
            place[room] = value


def common_specs(
    block: Leaving | None, other: Leaving | None, extra: Mapping[str, FieldSpec]
) -> list[FieldSpec]:
    """What to compare: what both leave, or what the only one leaves."""
    leaves = [b.leaves for b in (block, other) if b is not None]
    names = frozenset.intersection(*leaves) if leaves else frozenset[str]()
    specs = {**DATA_SPECS, **extra}
    return [specs[name] for name in sorted(names) if name in specs]
