"""The NumPy backend: a segment is a list of bound functions, run for each world in turn."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pluggy

from dovetail import interrupts
from dovetail.backend import Segment, Slot
from dovetail.contracts.sizes import CAPACITIES
from dovetail.distribution import requirement
from dovetail.errors import PluginError
from dovetail.hookspecs.markers import PROJECT, hookimpl
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
        """Let pluggy compare the function's arguments with the stage's hookspec."""
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(type("Spec", (), {stage.name: staticmethod(stage.spec)}))
        try:
            manager.register(SimpleNamespace(**{stage.name: hookimpl(_forwarding(target))}))
        except pluggy.PluginValidationError as error:
            raise PluginError(
                f"{record.slot} {record.label} from {record.provider}: {record.target} does not fit the stage, "
                f"whose arguments are ({', '.join(stage.arguments)}): {error}"
            ) from error

    def compile(self, segment: Segment) -> NumpyRunner:
        return NumpyRunner(segment)


def _forwarding(target: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of the function's interface that pluggy may mark without touching the original."""

    @functools.wraps(target)
    def forward(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    return forward


class NumpyRunner:
    """Bound functions in order."""

    def __init__(self, segment: Segment) -> None:
        self._worlds = WorldModel(segment.model, segment.per_world) if segment.per_world else None
        model = segment.model if self._worlds is None else self._worlds.model
        self._calls = [(_bind(model, slot), slot.when) for slot in segment.slots]
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
                call(data, evaluation)


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
