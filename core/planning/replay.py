"""Fields that a kernel keeps to itself, computed by repeating the last step with the reference.

The stages of a kernel hand each other kernel fields; Data fields such as `efc_J` are never made there. Who keeps one
has it all the same: before the last step of a call the state of every world is remembered, and the reference takes
the same step from there, world by world, in a Data of its own, out of which the wanted fields are copied. That is as
slow as one step of the reference for all worlds, and does not change the state. Of a batch it is done after every
call, of one world when somebody reads such a field.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.bad_states import StateWarning
from dovetail.contracts.fields import Array
from dovetail.contracts.sizes import CAPACITIES

if TYPE_CHECKING:
    from dovetail.contracts.types import Data
    from dovetail.planning.plan import Plan

State = Mapping[str, Array]
"""State fields of all worlds by name."""


@attrs.define(eq=False, slots=False)
class Replay:
    """The reference beside a plan, for fields that the plan's own kernels do not fill."""

    _make_plan: Callable[[], Plan]
    fields: tuple[str, ...]
    late: bool
    """Whether it is done only when somebody reads one of the fields."""

    @cached_property
    def plan(self) -> Plan:
        """Of one world, on the reference backend."""
        return self._make_plan()


@attrs.frozen(eq=False)
class Repetition:
    """Fills the fields of a Data when it is called."""

    _replayer: Replayer
    data: Data
    _before: Callable[[], State]
    _moves: bool = attrs.field(default=True, kw_only=True)
    """Whether a step is repeated, else an evaluation."""

    def __call__(self) -> None:
        self._replayer.run(self.data, self._before(), self._moves)

    def on(self, data: Data) -> Repetition:
        """The same for a copy of the Data, which goes other ways from now on."""
        state = {name: np.array(values) for name, values in self._before().items()}
        return Repetition(self._replayer, data, lambda: state, moves=self._moves)


class Replayer:
    """Repeats steps in a Data of its own."""

    def __init__(self, replay: Replay) -> None:
        self._replay, self._fields = replay, replay.fields
        self.late = replay.late
        self.names = frozenset(replay.fields)
        self._single: Data | None = None

    def remember(self, data: Data) -> State:
        """The state of all worlds."""
        return {name: np.array(data.field(name)) for name in data.state}

    def step(self, data: Data, before: State) -> None:
        """Fill the fields with those of a step from a remembered state, now or when somebody reads them."""
        self._fill(Repetition(self, data, lambda: before))

    def forward(self, data: Data) -> None:
        """Fill the fields with those that follow from the present state, now or when somebody reads them."""
        state = self.remember(data)
        self._fill(Repetition(self, data, lambda: state, moves=False))

    def _fill(self, repetition: Repetition) -> None:
        if self.late:
            repetition.data.arena.expect(self.names, repetition)
        else:
            repetition()

    def step_from(self, data: Data, before: Callable[[], State]) -> Repetition:
        """What fills the fields with those of a step from the state that `before` gives then."""
        return Repetition(self, data, before)

    def run(self, data: Data, state: State, moves: bool) -> None:
        """Fill the fields of a Data with those of a step from a state, or of an evaluation of it."""
        run = self._replay.plan.step if moves else self._replay.plan.forward
        if self._single is None:
            self._single = self._replay.plan.make_data(data.arena.max_bytes)
        single = self._single
        for number, world in enumerate(data.worlds()):
            for name, values in state.items():
                single.field(name)[...] = values if data.nworld is None else values[number]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StateWarning)  # who took the step itself has said so
                run(single)
            data.reserve(**{name: single.sizes.get(name, 0) for name in CAPACITIES})
            for name in self._fields:
                _copy(single.field(name), world.field(name))


def _copy(source: Any, target: Any) -> None:
    """Take over a field; of one that grows, the target may have more room."""
    if source.shape == target.shape:
        target[...] = source
    else:
        target[: len(source)] = source
