"""Running a segment in lanes: its program is built for a Data's layout, fed, launched, and emptied into Data."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.backends.lanes import controls
from dovetail.backends.lanes.fuse import Sources, Target
from dovetail.backends.lanes.imports import fill
from dovetail.backends.lanes.program import (
    ALARM,
    CHANGED,
    LACKING,
    TOO_LONG,
    LaneProgram,
    Noted,
    ReadyLaunch,
    ReadyRequest,
    Watched,
)
from dovetail.backends.lanes.relayout import Relayout, expected_layouts, relayouts
from dovetail.backends.lanes.segments import bad_states_of, converted, loaded, sources_of, target_of
from dovetail.backends.lanes.transfers import Delivery, constant_fields, deliveries, fetchers
from dovetail.contracts.arena import aligned_zeros
from dovetail.contracts.fields import Array
from dovetail.interrupts import Pace

if TYPE_CHECKING:
    from dovetail.backend import Segment
    from dovetail.backends.lanes.backend import LaneBackend
    from dovetail.backends.lanes.bad_states import LaneBadStates
    from dovetail.backends.lanes.exports import Outbox
    from dovetail.bad_states import Event
    from dovetail.contracts.arena import ArenaLayout
    from dovetail.contracts.types import Data

logger = logging.getLogger(__name__)


Compile = Callable[[Sources, Target], LaneProgram]
"""What a lane backend does: print a fused kernel and compile it."""


class LaneRunner:
    """A segment's program, built when first run because it needs the Data's layout."""

    def __init__(self, segment: Segment, backend: LaneBackend, compile: Compile) -> None:
        self._segment = segment
        self._backend = backend
        self._compile = compile
        self._program: LaneProgram | None = None
        self._constants: dict[str, Array] = {}
        self._relayouts: list[Relayout] = []
        self._layout: ArenaLayout | None = None
        self._growth = 1
        self._pace = Pace()
        self._bad_states = bad_states_of(segment)
        self._deliveries: list[Delivery] = []
        self._fetchers = fetchers(segment)
        self._outbox: Outbox | None = None
        self._inbox: Outbox | None = None

    def __call__(self, data: Data, nstep: int, evaluation: int) -> None:
        if data.arena.layout is not self._layout:
            self._adopt(data)
        self._fetch(data)
        report = LaunchReport(self._bad_states)
        launched = False
        with expected_layouts(self._relayouts, data):
            for count in self._pace.slices(nstep) if self._segment.whole_step else (nstep,):
                launched = True
                if self._launch(data, count, evaluation):
                    report.add(data, self._outbox)
        if launched:
            self._land(data)
        for name, value in self._constants.items():
            place = data.arena.layout.places[name]
            data.arena.block(place)[...] = value.reshape(1, place.count, 1)
        report.publish(data)

    def _land(self, data: Data) -> None:
        """Make Data fields of kernel fields, as far as the kernel has not done so itself."""
        assert self._program is not None
        assert self._outbox is not None
        fused = self._program.fused
        if self._backend.lands:
            fused.landings.clear_counts(data, fused.landed)
        else:
            fused.landings.write(data, self._outbox)

    def _launch(self, data: Data, nstep: int, evaluation: int, only: Array | None = None) -> bool:
        """Take steps, or a part of one, of all tiles or those marked in `only`; whether there is something to look at
        in the outbox."""
        launch = {
            "model_buffers": self._segment.model.buffers,
            "nstep": nstep,
            "evaluation": evaluation,
            "converted": self._converted(data),
            "outbox": self._outbox,
            "inbox": self._inbox,
            "target": data,
        }
        return self._run(data, launch, only)

    def _fetch(self, data: Data) -> None:
        """Make kernel fields of Data; the program is built again if it has no place for what there is."""
        if not self._fetchers:
            return
        for fetcher in self._fetchers:
            lists = fetcher.read(data)
            assert self._program is not None
            room = self._program.room(lists)
            if lists.learnt or lists.longest > room:
                self._growth *= max(1, -(-lists.longest // room))
                logger.info("contacts of a new kind: the kernel is built again")
                self._build(data)
            assert self._inbox is not None
            fill(self._inbox, lists)

    def _run(self, data: Data, launch: dict[str, Any], only: Array | None) -> bool:
        """Launch; tiles whose lists lacked room are untouched, and run again by a program that has more."""
        assert self._program is not None
        numbers = data.arena.buffers["real"]
        lacking, alarmed = self._program.run(numbers, **launch, only=only)
        while lacking is not None:
            self._growth *= int(lacking.max())
            logger.warning(
                "%d of %d tiles have more contacts than the kernel has room for; compiling it with %d times the room",
                np.count_nonzero(lacking),
                len(lacking),
                self._growth,
            )
            self._program = self._built(data)
            lacking, more = self._program.run(numbers, **launch, only=lacking)
            alarmed |= more
        return alarmed

    # ---- a launch that is kept ready

    def kept_ready(
        self, data: Data, watched: Watched, *, noted: Noted | None, model: Mapping[str, Array]
    ) -> ReadySteps | None:
        """Whole steps of a Data that was just stepped, as one call; None if there is more to do than that. If there
        are copies to note what the last step used, what was loaded is kept too, as it was before that step. `model`:
        buffers of the segment's Model, or of another one of the same layout."""
        if not self._segment.whole_step or self._fetchers or self._relayouts or self._program is None:
            return None
        arena = data.arena
        numbers = arena.buffers["real"]
        request = ReadyRequest(
            data=data,
            model=model,
            watched=watched,
            converted=[arena.layout.places[name] for name in converted(self._segment)],
            before=None if noted is None else aligned_zeros(numbers.shape, numbers.dtype),
            noted=noted or (),
        )
        launch = self._program.kept_ready(request)
        return None if launch is None else ReadySteps(self, request, launch, self._pace)

    def settle(self, data: Data, nstep: int, launch: ReadyLaunch, found: int) -> None:
        """What a launch that was kept ready left to do: tiles that have not been run, and what to tell."""
        report = LaunchReport(self._bad_states)
        alarmed = bool(found & ALARM)
        if found & (LACKING | TOO_LONG):
            alarmed |= self._launch(data, nstep, 0, only=(launch.taken[1:] >= 0).astype(np.int32))
        if alarmed:
            report.add(data, self._outbox)
        report.publish(data)

    @property
    def loaded(self) -> frozenset[str]:
        """Fields that the kernel takes from Data's numbers."""
        assert self._program is not None
        return frozenset(loaded(self._segment)) & self._program.live - {*self.converted}

    @property
    def converted(self) -> list[str]:
        """Fields that are no reals, and that the kernel takes as numbers one behind the other."""
        return converted(self._segment)

    @property
    def traffic(self) -> Any:
        """Counts of what passes between host and device, if the program runs on one; else None."""
        return getattr(self._program, "traffic", None)

    @property
    def groups(self) -> tuple[str, ...]:
        """What `repeat` can repeat, once the program was built, if its segment's option `repeatable` is set."""
        return () if self._program is None else tuple(self._program.repeats)

    def repeat(self, times: Mapping[str, int]) -> None:
        """From now on run groups of stages so many times in each step, and those not named once."""
        assert self._program is not None
        for group, place in self._program.repeats.items():
            self._program.memory.table[place] = times.get(group, 1)

    def _converted(self, data: Data) -> Array | None:
        """The numbers of fields that are no reals, (ntile, rows, W)."""
        blocks = [data.arena.block(data.arena.layout.places[name]) for name in converted(self._segment)]
        if not blocks:
            return None
        numbers = aligned_zeros(
            (data.arena.ntile, sum(b.shape[1] for b in blocks), data.arena.lanes),
            data.arena.buffers["real"].dtype,
        )
        numbers[...] = np.concatenate(blocks, axis=1)
        return numbers

    def _adopt(self, data: Data) -> None:
        """Build the program for a Data's layout, unless the present one fits it: offsets are literals in it."""
        if self._program is None or data.arena.layout != self._layout:
            self._deliveries = deliveries(self._segment, data)
            self._constants = constant_fields(self._segment, data)
            self._relayouts = relayouts(self._segment)
            self._build(data)
        self._layout = data.arena.layout

    def _build(self, data: Data) -> None:
        self._program = self._built(data)
        self._outbox, self._inbox = self._program.outbox(), self._program.inbox()

    def _built(self, data: Data) -> LaneProgram:
        """Trace and compile the segment's slots for the layout of this Data."""
        sources = sources_of(
            self._segment, data.arena.layout.places, data.sizes, self._deliveries, self._fetchers
        )
        backend = self._backend
        return self._compile(sources, target_of(self._segment, backend.name, self._growth, backend.lands))


class ReadySteps:
    """Whole steps of one Data, kept ready by a runner."""

    def __init__(self, runner: LaneRunner, request: ReadyRequest, launch: ReadyLaunch, pace: Pace) -> None:
        self.request = request
        self._runner, self._launch, self._pace = runner, launch, pace
        self.prepare: Callable[[], None] | None = None
        """Called before the runner does what a launch left to do."""
        self._arena = request.data.arena
        self._buffers = tuple(self._arena.buffers.values())

    @property
    def before(self) -> dict[str, Array]:
        """The state of all worlds as it was before the last step: what the kernel loads it has kept, and the rest it
        does not change."""
        data = self.request.data
        state = {name: np.array(data.field(name)) for name in data.state}
        for name, rows in self._kept_rows():
            if name in state:
                shape = (rows.shape[0] * rows.shape[2], *self._arena.layout.places[name].shape)
                worlds = rows.transpose(0, 2, 1).reshape(shape)
                state[name] = worlds[0] if data.nworld is None else worlds[: data.nworld]
        return state

    def _kept_rows(self) -> Iterator[tuple[str, Array]]:
        """What the kernel has kept of each field that it takes: of reals what they were before the last step, of
        others what was taken over of them."""
        before, places = self.request.before, self._arena.layout.places
        assert before is not None
        for name in self._runner.loaded:
            place = places[name]
            yield name, before[:, place.offset : place.offset + place.count]
        first = 0
        for name in self._runner.converted:
            count = places[name].count
            yield name, self._launch.converted[:, first : first + count]
            first += count

    def step(self, nstep: int) -> bool:
        """Take steps; False, and nothing done, if things have changed or so many do not fit into one launch."""
        if nstep > self._pace.count or not self._same_memory():
            return False
        found = self._launch(nstep)
        if found:
            if found == CHANGED:
                return False
            if self.prepare is not None:
                self.prepare()
            self._runner.settle(self.request.data, nstep, self._launch, found)
        return True

    def _same_memory(self) -> bool:
        """Whether Data still is where it was."""
        arena = self._arena
        if self.request.data.arena is not arena:
            return False
        return all(map(is_, arena.buffers.values(), self._buffers))


class LaunchReport:
    """What went wrong in the launches of one call."""

    def __init__(self, bad_states: LaneBadStates | None) -> None:
        self._bad_states = bad_states
        self._events: list[Event] = []
        self._controls = np.zeros((0, 4))

    def add(self, data: Data, outbox: Outbox | None) -> None:
        """After a launch that says that there is something to look at."""
        assert outbox is not None
        self._controls = controls.together(self._controls, controls.broken(data, outbox))
        if self._bad_states is not None:
            self._events += self._bad_states.settle(data, outbox)

    def publish(self, data: Data) -> None:
        """Warn of it, or raise."""
        controls.report(data, self._controls)
        if self._bad_states is not None:
            self._bad_states.report_events(data, self._events)
