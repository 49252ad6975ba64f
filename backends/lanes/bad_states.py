"""Bad states inside a lane kernel: a bad world is reset or held back in the step in which it goes bad.

As MuJoCo does, positions and velocities are looked at before each step, accelerations before they are integrated
(mj_checkPos, mj_checkVel, mj_checkAcc). Where a number is NaN, infinite or beyond MAXVAL, that world and no other

- starts over from its initial state (`reset`); after a bad acceleration the tile's forward evaluation is
  repeated, which changes nothing in its other worlds;
- or is held back (`freeze`, and `raise`, which the host does afterwards): its state is put aside, it goes on from the
  initial state, so that no NaN slows its neighbours down, and gets its state back when the tile is done.

The first event of a world in a launch is exported, and how many there were. What a bad state is and what happens is
stated in `dovetail.bad_states`; here it is printed into the kernel and reported afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from dovetail.backends.lanes.exports import Export, Outbox
from dovetail.backends.lanes.fuse import AGAIN, LaneStage, Role
from dovetail.backends.lanes.kernel import PROGRAM, IntegerField, Kernel, LaneField
from dovetail.backends.lanes.scopes import walk
from dovetail.bad_states import BEFORE_INTEGRATION, BEFORE_STEP, MAXVAL, BadStates, Event
from dovetail.contracts.derive import OF_MODEL, reset_fields
from dovetail.contracts.enums import DisableBit
from dovetail.contracts.types import DATA_SPECS, Data

LABEL = "watch"
"""What the parts are called in a kernel's text, and their memory."""
KIND, INDEX, VALUE, TIME, COUNT, COUNTS = range(6)
"""What is reported of a world: 1 + place in LOOKED_AT of the field (0: nothing happened), the bad number's index and
value, the time, how many events there were, and then in how many each field of LOOKED_AT was bad."""

REPORT = f"{LABEL}/report"
EXPORT = Export(REPORT, owner=PROGRAM, alarm=COUNT)

HELD = "a world that is held back gets its state when the launch is over"

LOOKED_AT = (*BEFORE_STEP, *BEFORE_INTEGRATION)

ROWS = COUNTS + len(LOOKED_AT)
"""Numbers of a report."""


@attrs.frozen
class LaneBadStates:
    """Builders of the four parts, for a program with some state fields."""

    rules: BadStates
    state: tuple[str, ...]
    """State fields that the program has."""
    stored: tuple[str, ...]
    """Those that it changes."""

    # ---- memory

    def report(self, k: Kernel) -> LaneField:
        return k.program_memory(REPORT, ROWS, kept="what happened in a launch is told when it is over")

    def again(self, k: Kernel) -> IntegerField:
        return k.program_integers(AGAIN, 1)

    def held(self, k: Kernel) -> LaneField:
        """1 in worlds that are held back."""
        return k.program_memory(f"{LABEL}/held", 1, kept=HELD)

    def aside(self, k: Kernel, name: str) -> LaneField:
        """Where the state of held worlds is put."""
        return k.program_memory(f"{LABEL}/{name}", *(k.layout.data[name] or (1,)), kept=HELD)

    # ---- parts of the kernel

    def begin(self, k: Kernel) -> None:
        """Before the first step of a tile."""
        self.report(k)[:] = 0.0
        self.held(k)[0] = 0.0

    def before_step(self, k: Kernel) -> None:
        """Look at positions and velocities."""
        self._look(k, BEFORE_STEP)

    def before_integration(self, k: Kernel) -> None:
        """Look at accelerations."""
        self._look(k, BEFORE_INTEGRATION)

    def end(self, k: Kernel) -> None:
        """After the last step of a tile: held worlds get their state back."""
        if not self.rules.holds:
            return
        held = self.held(k)[0] > 0.5
        with k.when(k.any(held)):
            for name in self.stored:
                aside = self.aside(k, name)
                for field, index in each_number(k, name):
                    field.store(index, k.select(held, aside[index or 0], field.load(index)))

    # ---- afterwards

    def settle(self, data: Data, outbox: Outbox) -> list[Event]:
        """What happened in a launch; what the kernel does not store of worlds that were reset is put back."""
        if REPORT not in outbox or not outbox[REPORT][:, COUNT].any():
            return []
        found = events(outbox, 1 if data.nworld is None else data.nworld)
        if self.rules.resets(data.model):
            others = [n for n in data.state if n not in self.stored and not n.startswith(OF_MODEL)]
            for event in found:
                reset_fields(data.model, data.world(event.world), others)
        return found

    def report_events(self, data: Data, found: Sequence[Event]) -> None:
        """Say what happened in the launches of one call, world by world."""
        first: dict[int, Event] = {}
        for event in found:
            known = first.get(event.world)
            count = event.count if known is None else known.count + event.count
            first[event.world] = attrs.evolve(known or event, count=1 if self.rules.holds else count)
        self.rules.report(data, [first[world] for world in sorted(first)])

    # ---- what happens

    def _look(self, k: Kernel, names: Sequence[str]) -> None:
        wrong = k.local(0.0)
        for name in names:
            for field, index in each_number(k, name):
                wrong.set(k.select(sound(field.load(index)), wrong.value, 1.0))
        with k.when(k.any(wrong.value > 0.5)):
            self._handle(k, names, wrong.value > 0.5)

    def _handle(self, k: Kernel, names: Sequence[str], bad: Any) -> None:
        new = k.select(bad, 1.0 - self.held(k)[0], 0.0) > 0.5
        self._remember(k, names, new)
        if self.rules.holds:
            for name in self.stored:
                aside = self.aside(k, name)
                for field, index in each_number(k, name):
                    aside[index or 0] = k.select(new, field.load(index), aside[index or 0])
            self.held(k)[0] = k.select(bad, 1.0, self.held(k)[0])
            self._restart(k, bad)
        else:
            with k.when(~k.disabled(DisableBit.AUTORESET)):
                self._restart(k, bad)

    def _restart(self, k: Kernel, bad: Any) -> None:
        """Initial values where a world is bad."""
        self.again(k)[0] = 1
        for name in self.state:
            initial = initial_value(k, name)
            for field, index in each_number(k, name):
                field.store(index, k.select(bad, initial(*index), field.load(index)))

    def _remember(self, k: Kernel, names: Sequence[str], new: Any) -> None:
        """Remember what happened, if it is the first time in this launch."""
        report = self.report(k)
        kind, place, value = k.local(0.0), k.local(0.0), k.local(0.0)
        for name in reversed(names):
            here = k.local(0.0)
            with k.loop(0, k.layout.data[name][0], reverse=True) as i:
                number = getattr(k.data, name)[i]
                good = sound(number)
                here.set(k.select(good, here.value, 1.0))
                kind.set(k.select(good, kind.value, 1.0 + LOOKED_AT.index(name)))
                place.set(k.select(good, place.value, i * 1.0))
                value.set(k.select(good, value.value, number))
            report[COUNTS + LOOKED_AT.index(name)] += k.select(new, here.value, 0.0)
        first = k.select(new, 1.0 - k.min(report[COUNT], 1.0), 0.0) > 0.5
        found = {KIND: kind.value, INDEX: place.value, VALUE: value.value, TIME: k.data.time}
        for at, number in found.items():
            report[at] = k.select(first, number, report[at])
        report[COUNT] = report[COUNT] + k.select(new, 1.0, 0.0)


def sound(x: Any) -> Any:
    """Mask of the worlds in which a number is neither NaN nor too large."""
    return (x <= MAXVAL) & (x >= -MAXVAL)


@walk
def each_number(k: Kernel, name: str) -> Iterator[tuple[LaneField, tuple[Any, ...]]]:
    """`for field, index in …:` runs its body for every number of a Data field, the first axis at run time."""
    shape = k.layout.data[name]
    field = LaneField(k, name, shape)
    if not shape:
        yield field, ()
        return
    if not np.prod(shape, dtype=int):
        return
    with k.loop(0, shape[0]) as i:
        for rest in np.ndindex(shape[1:]):
            yield field, (i, *rest)


def initial_value(k: Kernel, name: str) -> Callable[..., Any]:
    """The initial value of a state field's number at an index."""
    m, init = k.model, DATA_SPECS[name].init
    if name in ("mocap_pos", "mocap_quat"):
        return lambda n, axis: mocap_start(k, name, n, axis)
    if isinstance(init, str):
        return lambda *index: getattr(m, init)[index]
    assert isinstance(init, (int, float))  # no state field has one value per component
    return lambda *_index: float(init)


def mocap_start(k: Kernel, name: str, n: Any, axis: int) -> Any:
    """Where mocap body n starts: at its place in the model, with a unit quaternion."""
    m, ids = k.model, np.asarray(k.frozen_model.body_mocapid)
    bodies = np.flatnonzero(ids >= 0)
    body = k.table(f"{LABEL}/mocap_bodies", bodies[np.argsort(ids[bodies])])[n]
    if name == "mocap_pos":
        return m.body_pos[body, axis]
    quat = m.body_quat[body]
    return quat[axis] / k.sqrt(sum(q * q for q in quat))


def with_looks(stages: Sequence[LaneStage], bad_states: LaneBadStates) -> list[LaneStage]:
    """The stages of a whole step with the looks at its state among them."""
    touched = frozenset({*bad_states.state, *LOOKED_AT, "time"})

    def part(role: Role, builder: Callable[[Kernel], None]) -> LaneStage:
        return LaneStage(stage=LABEL, name=role, builder=builder, reads=touched, writes=touched, role=role)

    last = next(n for n, stage in enumerate(stages) if stage.integrate)
    return [
        part("begin", bad_states.begin),
        part("before_step", bad_states.before_step),
        *stages[:last],
        part("before_integration", bad_states.before_integration),
        *stages[last:],
        part("end", bad_states.end),
    ]


def events(outbox: Outbox, nworld: int) -> list[Event]:
    """What happened in a launch, world by world."""
    report = outbox[REPORT].transpose(0, 2, 1).reshape(-1, ROWS)[:nworld]
    return [
        Event(
            world=int(world),
            field=LOOKED_AT[int(report[world, KIND]) - 1],
            index=int(report[world, INDEX]),
            value=float(report[world, VALUE]),
            time=float(report[world, TIME]),
            count=int(report[world, COUNT]),
            by_field={name: int(report[world, COUNTS + n]) for n, name in enumerate(LOOKED_AT)},
        )
        for world in np.flatnonzero(report[:, COUNT] > 0)
    ]
