"""Fields that a kernel keeps to itself, computed by repeating the last step with the reference.

The stages of a kernel hand each other kernel fields; Data fields such as `efc_J` are never made there. Who keeps one
has it all the same: before the last step of a call the state of every world is remembered, and the reference takes
the same step from there, world by world, in a Data of its own, out of which the wanted fields are copied. That is as
slow as one step of the reference for all worlds, and does not change the state. Of a batch it is done after every
call, of one world when somebody reads such a field; then with the values of the Model that the step used, whatever
was edited since (`used_values`).
"""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dovetail.bad_states import StateWarning
from dovetail.contracts.fields import Array
from dovetail.contracts.sizes import CAPACITIES
from dovetail.planning.used_values import UsedFields, UsedValues

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model
    from dovetail.planning.dependencies import Dependencies
    from dovetail.planning.plan import Plan

COUNTS = ("ncon", "nefc")
"""How many contacts and rows there are, which kernels tell."""

LOST = (
    'fields by contact or row that only the reference fills are NaN; backend="numpy" has them in every step'
)

State = Mapping[str, Array]
"""State fields of all worlds by name."""


@attrs.define(eq=False, slots=False)
class Replay:
    """The reference beside a plan, for fields that the plan's own kernels do not fill."""

    model: Model
    """The plan's."""
    _make_plan: Callable[[Model], Plan]
    fields: tuple[str, ...]
    given: tuple[str, ...]
    """Fields that kernels do fill, and from which some of these follow (see `_Following`)."""
    late: bool
    """Whether it is done only when somebody reads one of the fields."""
    _plan: Plan | None = attrs.field(default=None, init=False)

    @cached_property
    def _own(self) -> Model:
        """The Model it works on: of what is done later a copy, which takes on what a step used."""
        return self.model.copy() if self.late else self.model

    @property
    def plan(self) -> Plan:
        """Of one world, on the reference backend."""
        if self._plan is None or not self._plan.is_current:
            self._plan = self._make_plan(self._own)
        return self._plan

    def plan_with(self, used: UsedValues | None) -> Plan:
        """The same; its Model is as the plan's is now, but for the values that a step used."""
        if used is not None:
            used.check(self.model)
            self._own.arena.copy_from(self.model.arena)
            used.put(self._own)
        return self.plan


@attrs.frozen(eq=False)
class Repetition:
    """Fills the fields of a Data when it is called."""

    _replayer: Replayer
    data: Data
    _before: Callable[[], State]
    _used: UsedValues | None
    """What the step used of the Model; None: it is as it was."""
    _moves: bool = attrs.field(default=True, kw_only=True)
    """Whether a step is repeated, else an evaluation."""

    def __call__(self) -> None:
        self._replayer.run(self.data, self._before(), self._used, self._moves)

    def on(self, data: Data) -> Repetition:
        """The same for a copy of the Data, which goes other ways from now on."""
        state = {name: np.array(values) for name, values in self._before().items()}
        used = None if self._used is None else self._used.copy()
        return Repetition(self._replayer, data, lambda: state, used, moves=self._moves)


class Replayer:
    """Repeats steps in a Data of its own."""

    def __init__(self, replay: Replay, depends_on: Dependencies) -> None:
        self._replay, self._fields = replay, replay.fields
        self.late = replay.late
        self.names = frozenset(replay.fields)
        self._depends_on = depends_on
        self._used: tuple[Any, UsedFields] | None = None
        self._single: Data | None = None
        self._plan: Plan | None = None
        self._followings: list[_Following] = []

    def _used_fields(self) -> UsedFields:
        """Which they are is known when kernels have been built, and more are found as more are."""
        names = self._depends_on.used, self._depends_on.watched
        if self._used is None or self._used[0] != names:
            self._used = names, UsedFields(self._replay.model, *names)
        return self._used[1]

    def used(self, model: Model | None = None) -> UsedValues | None:
        """What a step uses now of the Model, or of another one of the same layout; None if nobody will ask later."""
        return self._used_fields().values(model) if self.late else None

    def remember(self, data: Data) -> State:
        """The state of all worlds."""
        return {name: np.array(data.field(name)) for name in data.state}

    def step(self, data: Data, before: State) -> None:
        """Fill the fields with those of a step from a remembered state, now or when somebody reads them."""
        self._fill(Repetition(self, data, lambda: before, self.used()))

    def forward(self, data: Data) -> None:
        """Fill the fields with those that follow from the present state, now or when somebody reads them."""
        state = self.remember(data)
        self._fill(Repetition(self, data, lambda: state, self.used(), moves=False))

    def _fill(self, repetition: Repetition) -> None:
        if self.late:
            repetition.data.arena.expect(self.names, repetition)
        else:
            repetition()

    def step_from(self, data: Data, before: Callable[[], State], used: UsedValues | None) -> Repetition:
        """What fills the fields with those of a step from the state that `before` gives then, which used some values
        of the Model."""
        return Repetition(self, data, before, used)

    def run(self, data: Data, state: State, used: UsedValues | None, moves: bool) -> None:
        """Fill the fields of a Data with those of a step from a state, or of an evaluation of it."""
        plan, single = self._ready_for(data, used)
        run = plan.step if moves else plan.forward
        for number, world in enumerate(data.worlds()):
            for name, values in state.items():
                single.field(name)[...] = values if data.nworld is None else values[number]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StateWarning)  # who took the step itself has said so
                run(single)
            data.reserve(**{name: single.sizes.get(name, 0) for name in CAPACITIES})
            for following in self._followings:
                following.complete(world, single)
            unlike = self._unlike(world, single)
            for name in self._fields:
                if unlike and single.specs[name].grows:
                    _blank(world.field(name))
                else:
                    _copy(single.field(name), world.field(name))
            if unlike:
                where = "" if data.nworld is None else f"world {number}: "
                warnings.warn(f"{where}{unlike}", RuntimeWarning, stacklevel=2)

    def _unlike(self, world: Data, single: Data) -> str:
        """What keeps the reference's rows from being those of the step, if anything does."""
        counted = [name for name in COUNTS if name in world and name not in self.names]
        pairs = {name: (int(world.field(name)), int(single.field(name))) for name in counted}
        told = [
            f"{name} is {ours}, the reference has {its}" for name, (ours, its) in pairs.items() if ours != its
        ]
        return (
            f"{'; '.join(told)}, since something touches by its last bit or the world was held back: {LOST}"
            if told
            else ""
        )

    def _ready_for(self, data: Data, used: UsedValues | None) -> tuple[Plan, Data]:
        """The plan, and its Data."""
        plan = self._replay.plan_with(used)
        if self._single is None or plan is not self._plan:
            self._plan, self._single = plan, plan.make_data(data.arena.max_bytes)
            self._followings = list(_followings(plan))
            # who took the step has told of its broken numbers
            object.__setattr__(self._single, "hears_bad_states", lambda _events: True)
        return plan, self._single


@attrs.frozen
class _Following:
    """Results of a slot that follow from others of its results: those are taken as the kernel has found them, so that
    both belong together wherever its iterations stopped. A record states it in its facts: `follows`."""

    _model: Model
    _given: tuple[str, ...]
    _target: Callable[[Model, Data], None]

    def complete(self, world: Data, single: Data) -> None:
        """Make the results in a Data of the reference follow from what a kernel has left in a world."""
        found = {name: np.asarray(world.field(name)) for name in self._given if name in world}
        if len(found) == len(self._given) and all(np.isfinite(values).all() for values in found.values()):
            for name, values in found.items():
                single.field(name)[...] = values
            self._target(self._model, single)


def _followings(plan: Plan) -> Iterator[_Following]:
    """Those of a plan's slots, but where another slot changes the results afterwards."""
    for number, slot in enumerate(plan.slots):
        stated = slot.record.facts.get("follows")
        later = frozenset[str]().union(*(after.writes for after in plan.slots[number + 1 :]))
        if stated is not None and later.isdisjoint((*stated["fields"], *stated["given"])):
            target = pkgutil.resolve_name(stated["target"])
            yield _Following(plan.model, tuple(stated["given"]), target)


def _blank(target: Any) -> None:
    """Fill a field with what is no result."""
    target[...] = np.nan if target.dtype.kind == "f" else -1


def _copy(source: Any, target: Any) -> None:
    """Take over a field; of one that grows, the target may have more room."""
    if source.shape == target.shape:
        target[...] = source
    else:
        target[: len(source)] = source
