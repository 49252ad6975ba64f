"""When the pictures of a film are due, and the state at that time.

Pictures are due at even times, whatever the timestep. What is between two steps is interpolated: joint positions on
the shortest way from one state to the other, everything else as in the later one. So a film neither runs too fast nor
stutters, and a long timestep makes it no slide show.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Model

ROUNDING = 1e-9
"""Share of the time between two pictures by which a sum of timesteps may be off."""

State = Mapping[str, "Array"]


@attrs.define
class Clock:
    """Gives states their pictures: the first state one, then one each `interval` seconds of simulated time."""

    model: Model
    interval: float
    _start: float = 0.0
    _count: int = 0
    _last: list[State] = attrs.field(factory=list)
    """Of each world that is filmed; empty before the first."""

    def due(self, states: list[State]) -> Iterator[list[State]]:
        """The states of all pictures that are due up to now. Time that goes back, as after a reset, begins anew."""
        now = float(states[0]["time"])
        if not self._last or now < self._time_of(self._last):
            self._start, self._count = now, 0
            self._last = states
        before, slack = self._last, ROUNDING * self.interval
        while self._next <= now + slack:
            yield [self._between(a, b, self._next) for a, b in zip(before, states, strict=True)]
            self._count += 1
        self._last = states

    @property
    def _next(self) -> float:
        return self._start + self._count * self.interval

    @staticmethod
    def _time_of(states: list[State]) -> float:
        return float(states[0]["time"])

    def _between(self, first: State, second: State, time: float) -> State:
        """The state at a time between two others."""
        import numpy as np

        from dovetail.plugins.queries.positions import differentiate_pos, integrate_pos

        begin, end = float(first["time"]), float(second["time"])
        share = 1.0 if end <= begin else (time - begin) / (end - begin)
        if share >= 1.0 - ROUNDING or not self.model.nq:
            return second
        way = differentiate_pos(self.model, first["qpos"], second["qpos"], 1.0)
        place = integrate_pos(self.model, np.array(first["qpos"]), way, share)
        moved = {
            name: (1 - share) * first[name] + share * second[name] for name in ("mocap_pos",) if name in first
        }
        return {**second, **moved, "qpos": place, "time": np.array(time)}


def steps_to_see(total: int, timestep: float, interval: float) -> list[int]:
    """The steps of a run, counted from 0, that its pictures are made of: those before and after each due time."""
    wanted: set[int] = {0, total}
    count = 0
    while True:
        place = count * interval / timestep
        if place > total * (1 + ROUNDING):
            break
        near = round(place)
        whole = abs(place - near) <= ROUNDING * max(1.0, interval / timestep)
        wanted |= {near} if whole else {math.floor(place), math.ceil(place)}
        count += 1
    return sorted(step for step in wanted if step <= total)
