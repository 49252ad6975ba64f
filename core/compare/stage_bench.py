"""The stages of a plan one by one, each on inputs that MuJoCo's state gives, beside MuJoCo.

A stage of the reference is run in its place in a step and what it leaves is kept. Stages in kernels are run in the
smallest blocks that their kernels can be cut into, each on what the reference has computed so far: so it is the
kernel that is compared, and not the reference in its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import attrs
import numpy as np

from dovetail.backend import REFERENCE, Slot
from dovetail.bad_states import StateWarning
from dovetail.compare.errors import Getter
from dovetail.compare.run_sides import Block, Side, blocks_of, transfer
from dovetail.contracts.fields import Array, FieldSpec
from dovetail.contracts.types import DATA_SPECS, Data
from dovetail.planning.plan import Plan


@attrs.frozen
class Written:
    """What some slots left in one evaluation."""

    slots: tuple[Slot, ...]
    values: Mapping[str, Array]
    data: Data
    """Where other fields can be read."""
    earlier: Mapping[str, Array] = attrs.field(factory=dict)
    """What slots before these left in the same evaluation, where Data has gone on since."""

    @property
    def reference(self) -> bool:
        return all(slot.record.backend == REFERENCE for slot in self.slots)

    @property
    def integrates(self) -> bool:
        return any(slot.integrates for slot in self.slots)

    def of_world(self, world: int | None) -> Getter:
        """Reads fields of one world: what was left, or what is there."""

        def get(name: str) -> Array:
            found = self.values.get(name, self.earlier.get(name))
            value = np.asarray(self.data.field(name)) if found is None else found
            return value if world is None else value[world]

        return get


class Stages(Protocol):
    """The stages of a plan, so that each shows what it does by itself."""

    data: Data
    """What the state is put into."""
    slots: Sequence[Slot]
    cut: tuple[tuple[str, ...], ...]
    """Slots that were run together because kernels do not let go of what passes between them."""

    def run(self) -> Iterator[Written]:
        """Take a step from the state; what slots left, in the first evaluation and at the end."""
        ...


class Recorder(Protocol):
    """What keeps what slots write: `dovetail.compare.conform.StageRecorder`."""

    written: dict[str, dict[str, Array]]


class InPlace:
    """Stages that can be run in place, one by one: those of the reference."""

    cut: tuple[tuple[str, ...], ...] = ()

    def __init__(self, plan: Plan, recorder: Recorder) -> None:
        self.plan, self._recorder = plan, recorder
        self.data = plan.make_data()
        self.slots: Sequence[Slot] = plan.slots

    def run(self) -> Iterator[Written]:
        self._recorder.written.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StateWarning)  # random states may explode, in MuJoCo too
            self.plan.step(self.data)
        earlier: dict[str, Array] = {}
        for slot in self.slots:
            if slot.integrates:
                values = {f: np.array(self.data.field(f)) for f in sorted(slot.leaves)}
            else:
                values = self._recorder.written.get(slot.label, {})
            yield Written((slot,), values, self.data, earlier)
            earlier.update(values)


class InBlocks:
    """Stages in kernels: the reference drives, and every block gets a copy of what it has computed."""

    def __init__(self, side: Side) -> None:
        self.plan = side.plan
        reference = Side.reference_for(side)
        extra = {**side.extra(), **reference.extra()}
        labels = blocks_of(reference, side)
        self.slots: Sequence[Slot] = list(side.slots.values())
        self.cut = tuple(block for block in labels if len(block) > 1)
        self._pairs = [(reference.block(block), side.block(block)) for block in labels]
        self._evaluations = reference.evaluations
        self.data, self._copy = reference.make_data(extra), side.make_data(extra)

    def run(self) -> Iterator[Written]:
        last = self._evaluations - 1
        for evaluation in range(self._evaluations):
            for driver, own in self._pairs:
                if own is not None and evaluation == (last if own.integrates else 0):
                    yield self._block(own, evaluation)
                if driver is not None:
                    driver.run(self.data, evaluation)

    def _block(self, own: Block, evaluation: int) -> Written:
        transfer(self._copy, self.data)
        own.run(self._copy, evaluation)
        values = {name: np.array(self._copy.field(name)) for name in sorted(own.leaves) if name in self._copy}
        return Written(own.slots, values, self._copy)


def last_writers(slots: Sequence[Slot]) -> dict[str, str]:
    """The slot after which a field has its final value (rows of a table add to a common sum)."""
    return {field: slot.label for slot in slots for field in sorted(slot.in_data) if field in DATA_SPECS}


def finished(written: Written, last: Mapping[str, str]) -> Iterator[tuple[Slot, FieldSpec]]:
    """The fields that have their final value, each with the slot that gave it, as the slots run."""
    for slot in written.slots:
        for name in written.values:
            if last.get(name) == slot.label:
                yield slot, DATA_SPECS[name]


def is_in_place(plan: Plan) -> bool:
    """Whether all slots of a plan run on Data itself."""
    return all(plan.registry.backend(slot.record.backend).in_place for slot in plan.slots)
