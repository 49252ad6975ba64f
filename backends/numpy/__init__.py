"""The NumPy backend: a segment is a list of bound functions, run for each world in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from dovetail import interrupts
from dovetail.backend import Segment, Slot
from dovetail.backends.numpy.signature import misfit
from dovetail.blame import blame, described
from dovetail.contracts.guarded import guarded
from dovetail.contracts.sizes import CAPACITIES
from dovetail.distribution import requirement
from dovetail.errors import PluginError, UndeclaredFieldError
from dovetail.planning.per_world import WorldModel

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model
    from dovetail.implementation import Implementation
    from dovetail.pipeline import Stage


class NumpyBackend:
    """Runs `stage(model, data)` functions as they are."""

    name = "numpy"
    language = "numpy"
    install = requirement()
    in_place = True
    takes_whole_steps = True

    def missing(self) -> str:
        return ""

    def lanes(self, nworld: int | None, precision: str) -> int:
        return 1

    def keeps(self, nworld: int | None) -> str:
        return "all"

    def check(self, record: Implementation, stage: Stage, target: Callable[..., Any]) -> None:
        """Whether the function can be called with the stage's arguments."""
        problem = misfit(stage, target)
        if problem:
            raise PluginError(
                f"{record.slot} {record.label} from {record.provider}: {record.target} does not fit the stage, "
                f"whose arguments are ({', '.join(stage.arguments)}): {problem}"
            )

    def compile(self, segment: Segment) -> NumpyRunner:
        return NumpyRunner(segment)


class NumpyRunner:
    """Bound functions in order."""

    def __init__(self, segment: Segment) -> None:
        self._worlds = WorldModel(segment.model, segment.per_world) if segment.per_world else None
        model = segment.model if self._worlds is None else self._worlds.model
        bind = _bind_strictly if segment.options.get("strict") else _bind
        self._slots = segment.slots
        self._calls = [(bind(model, slot), slot.when) for slot in segment.slots]
        self._integrates = [slot.integrates for slot in segment.slots]
        self._whole = segment.whole_step
        self._last = segment.evaluations - 1
        self._pace = interrupts.Pace()
        self._bad_states = segment.bad_states

    def __call__(self, data: Data, nstep: int, evaluation: int) -> None:
        if self._worlds is not None:
            self._worlds.refresh()
        if self._whole:
            for count in self._pace.slices(nstep):
                self._advance(data, count)
            return
        for _, world in self._each_world(data):
            self._run(world, evaluation, range(len(self._calls)))

    def _each_world(self, data: Data) -> Iterator[tuple[int, Data]]:
        """Number and Data of each world, with the Model as that world has it."""
        for number, world in enumerate(_each_world(data)):
            if self._worlds is not None:
                self._worlds.take(world)
            yield number, world

    def _advance(self, data: Data, nstep: int) -> None:
        """Steps of each world in turn. After an interrupt the worlds to come take theirs too, unless that is long."""
        latest = time.perf_counter() + interrupts.PATIENCE
        for number, world in self._each_world(data):
            for _ in range(nstep):
                if interrupts.wanted() and time.perf_counter() > latest:
                    break
                self._step(world, None if data.nworld is None else number)

    def _step(self, data: Data, number: int | None) -> None:
        """One whole step of one world, which is reset or held back if its numbers go bad."""
        if not self._bad_states.may_step(data, number):
            return
        forward = range(self._integrates.index(True))
        self._run(data, 0, forward)
        may = self._bad_states.may_integrate(data, number)
        if may is None:
            self._run(data, 0, forward)
        if may is not False:
            self._run(data, 0, range(len(forward), len(self._calls)))
            for evaluation in range(1, self._last + 1):
                self._run(data, evaluation, range(len(self._calls)))

    def _run(self, data: Data, evaluation: int, which: Iterable[int]) -> None:
        for index in which:
            call, when = self._calls[index]
            if when == "always" or evaluation == (0 if when == "first" else self._last):
                try:
                    call(data, evaluation)
                except Exception as error:
                    slot = self._slots[index]
                    blame(error, slot.record, slot.label, data.number)
                    raise


def _each_world(data: Data) -> Iterator[Data]:
    """Each world in contiguous memory, so that results do not depend on how a batch is laid out: NumPy rounds
    products of strided arrays differently. Worlds of a tile are copied out and back."""
    if data.nworld is None or data.arena.lanes == 1:
        yield from data.worlds()
        return
    single = data.single()
    for world in range(data.nworld):
        tile, lane = divmod(world, data.arena.lanes)
        for dtype, buffer in data.arena.buffers.items():
            single.arena.buffers[dtype][0, :, 0] = buffer[tile, :, lane]
        single.show_as(world)
        yield single
        data.reserve(**{name: single.sizes.get(name, 0) for name in CAPACITIES})
        for dtype, buffer in data.arena.buffers.items():
            buffer[tile, :, lane] = single.arena.buffers[dtype][0, :, 0]


def _bind(model: Model, slot: Slot) -> Callable[[Data, int], None]:
    """The slot's function with everything but the Data filled in."""
    target, zero, parts = slot.target, slot.zero, slot.parts
    if slot.integrates:

        def integrate(data: Data, evaluation: int) -> None:
            target(model, data, evaluation)

        return integrate
    if slot.stage.parts:

        def dispatch(data: Data, evaluation: int) -> None:
            target(model, data, parts)

        return dispatch

    def run(data: Data, evaluation: int) -> None:
        for field in zero:
            data.field(field)[...] = 0
        target(model, data)

    return run


def _bind_strictly(model: Model, slot: Slot) -> Callable[[Data, int], None]:
    """The same, on a Data that shows the function only what its record declares."""
    call = _bind(model, slot)
    subject, writes = described(slot.record, slot.label), slot.leaves
    views: WeakKeyDictionary[Data, Data] = WeakKeyDictionary()

    def watched(data: Data, evaluation: int) -> None:
        view = views.get(data)
        if view is None or view.arena is not data.arena:
            view = views[data] = guarded(data, subject, slot.reads, writes)
        try:
            call(view, evaluation)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            raise UndeclaredFieldError(
                f"{subject} writes a field that its record does not declare ({error}); it may write: "
                f"{', '.join(sorted(writes)) or 'nothing'}"
            ) from error

    return watched
