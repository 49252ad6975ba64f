"""Real time: how many steps are due, and how fast the simulation really goes.

No clock is read here; whoever calls says what time it is, so a test can say it too.
"""

from __future__ import annotations

from collections import deque

import attrs

SPEEDS = ("1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8")
"""Choices of the panel; how much simulated time a second of ours shall hold."""
MOST_BEHIND = 0.1
"""Seconds by which a slow simulation may lag before the lost time is given up."""
MEASURED_OVER = 1.0
"""Seconds over which the real-time factor is measured."""


def speed_of(text: str) -> float:
    """`1/4` as a number."""
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


@attrs.define
class Pacer:
    """Keeps simulated time at `speed` times the time of the clock, without ever hurrying after lost time."""

    timestep: float
    speed: float = 1.0
    _from_clock: float | None = None
    _done: int = 0
    """Steps since the clock was last looked at afresh."""

    def start(self, now: float) -> None:
        """Forget the past: from now on, steps are due."""
        self._from_clock, self._done = now, 0

    def stop(self) -> None:
        """No steps are due until `start`."""
        self._from_clock = None

    @property
    def running(self) -> bool:
        """Whether steps become due."""
        return self._from_clock is not None

    def set_speed(self, speed: float, now: float) -> None:
        """Another speed from now on."""
        self.speed = speed
        if self._from_clock is not None:
            self.start(now)

    def due(self, now: float) -> int:
        """How many steps are to be taken at this time."""
        if self._from_clock is None:
            return 0
        wanted = int((now - self._from_clock) * self.speed / self.timestep + 1e-9)
        return max(0, wanted - self._done)

    def took(self, steps: int, now: float) -> None:
        """Steps were taken. What is still due, if it is much, will never be."""
        self._done += steps
        if self.due(now) * self.timestep > MOST_BEHIND * self.speed:
            self.start(now)


@attrs.define
class Meter:
    """The real-time factor over the last second, and the share of time spent in steps."""

    _marks: deque[tuple[float, float, int]] = attrs.field(factory=deque)

    def reset(self) -> None:
        self._marks.clear()

    def mark(self, now: float, simulated: float, steps: int) -> None:
        """At this time so many seconds were simulated in so many steps, in all."""
        self._marks.append((now, simulated, steps))
        while len(self._marks) > 2 and now - self._marks[0][0] > MEASURED_OVER:
            self._marks.popleft()

    @property
    def factor(self) -> float:
        """Simulated seconds per second; 0 before anything is known."""
        return self._rate(1)

    @property
    def steps_per_second(self) -> float:
        return self._rate(2)

    def _rate(self, which: int) -> float:
        if len(self._marks) < 2:
            return 0.0
        first, last = self._marks[0], self._marks[-1]
        passed = last[0] - first[0]
        return (last[which] - first[which]) / passed if passed > 0 else 0.0
