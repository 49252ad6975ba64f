"""Running what is watched: play, pause, step, reset, at a speed, until the state goes bad.

Everything that is asked for in the browser arrives on other threads. It is put into a queue and done by the thread
that steps, between two steps, so that nobody else touches the Data.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

import attrs
import numpy as np

from dovetail.errors import DovetailError
from dovetail.viewer.pacing import Meter, Pacer
from dovetail.viewer.watched import Watched

FRAMES_PER_SECOND = 60.0
SHARE_OF_STEPS = 0.75
"""Of a frame's time that steps may take; the rest is for drawing."""
LONGEST_STEPPING = 1.0
"""Seconds that steps asked for one by one may take before the page is drawn again."""


@attrs.define(eq=False)
class Runner:
    """Steps a `Watched` in real time; every frame it does what was asked for, then steps, then is drawn."""

    watched: Watched
    paused: bool = False
    clock: Callable[[], float] = time.perf_counter
    before_step: list[Callable[[], bool]] = attrs.field(factory=list)
    """Called before every step (a hand that pulls); True: it edited the state, and wants to be called before each."""
    stopped: bool = False
    """Whether somebody wants the viewer to end."""
    problem: str = ""
    """Why it stopped by itself."""
    steps: int = 0
    """Taken in all."""
    step_seconds: float = 0.0
    """Spent in them."""
    pacer: Pacer = attrs.field(init=False)
    meter: Meter = attrs.field(factory=Meter)
    notices: list[str] = attrs.field(factory=list)
    """What could not be done as asked, to be told once."""
    _asked: queue.SimpleQueue[tuple[Callable[[], object], bool]] = attrs.field(factory=queue.SimpleQueue)
    _steps_asked: int = 0
    _last_time: float = 0.0
    _stale: bool = True
    """Whether the state was edited and nothing has been computed from it since."""

    def __attrs_post_init__(self) -> None:
        self.pacer = Pacer(self.watched.timestep)

    # ---- what others ask for; from any thread

    def ask(self, job: Callable[[], object], *, edits: bool = False) -> None:
        """Have something done by the stepping thread; `edits`: it changes the state."""
        self._asked.put((job, edits))

    # ---- on the stepping thread

    def play(self) -> None:
        if not self.problem:
            self.paused = False

    def pause(self) -> None:
        self.paused = True

    def step_once(self, count: int = 1) -> None:
        """Some steps while paused, at the next frame."""
        self.paused = True
        self._steps_asked += count

    def reset(self, keyframe: int | None = None) -> None:
        """Back to the beginning or to a keyframe; a problem is over with that."""
        self.watched.reset(keyframe)
        self.problem, self._steps_asked, self._stale = "", 0, True
        self.meter.reset()

    def set_speed(self, speed: float) -> None:
        self.pacer.set_speed(speed, self.clock())
        self.meter.reset()

    def work(self) -> bool:
        """Do what was asked; whether anything was."""
        did = False
        while True:
            try:
                job, edits = self._asked.get_nowait()
            except queue.Empty:
                return did
            did = True
            try:
                job()
            except DovetailError as error:
                self.notices.append(str(error))
            self._stale |= edits

    def first_look(self) -> None:
        """Compute what follows from the first state, before anything is drawn."""
        self._stale = False
        self._guarded(self.watched.refresh)

    def follow(self) -> None:
        """A frame of something that somebody else steps: do what was asked, and look at what is there."""
        before = self._last_time
        self.work()
        for call in self.before_step:
            self._stale |= call()
        bad = self.watched.bad_state()
        self.problem = bad
        now, self._last_time = self.clock(), self.watched.time
        if self._stale and self._last_time == before and not bad:
            self._guarded(self.watched.refresh)
        self._stale = False
        self.meter.mark(now, self._last_time, round(self._last_time / self.watched.timestep))

    def frame(self) -> bool:
        """One frame's work; whether what is seen may have changed."""
        changed = self.work()
        return self._stand(changed) if self.paused else self._go(changed)

    def _stand(self, changed: bool) -> bool:
        """A frame of a simulation that is paused."""
        self.pacer.stop()
        self.meter.reset()
        count, self._steps_asked = self._steps_asked, 0
        if count and not self.problem:
            self._take(count, self.clock() + LONGEST_STEPPING)
            return True
        for call in self.before_step:
            self._stale |= call()
        if self._stale and not self.problem:
            self._stale = False
            self._guarded(self.watched.refresh)
            return True
        return changed

    def _go(self, changed: bool) -> bool:
        """A frame of a simulation that runs."""
        now = self.clock()
        if not self.pacer.running:
            self.pacer.start(now)
        taken = self._take(self.pacer.due(now), now + SHARE_OF_STEPS / FRAMES_PER_SECOND)
        self.pacer.took(taken, self.clock())
        self.meter.mark(self.clock(), self.steps * self.watched.timestep, self.steps)
        return changed or taken > 0

    def _take(self, count: int, until: float) -> int:
        """Up to so many steps, in portions that leave time for a look at the clock."""
        taken = 0
        while taken < count and not self.problem:
            self._stale = False
            pulled = [call() for call in self.before_step]
            portion = 1 if any(pulled) else min(count - taken, self._affordable(until))
            began = self.clock()
            self._guarded(lambda steps=portion: self.watched.step(steps))  # type: ignore[misc]
            taken += portion
            self.steps += portion
            self.step_seconds += self.clock() - began
            if self.clock() >= until:
                break
        return taken

    def _affordable(self, until: float) -> int:
        """How many steps fit into the time until then, by what steps have taken so far; at least one."""
        each = self.step_seconds / self.steps if self.steps else 0.0
        if each <= 0.0:
            return 1
        return max(1, int((until - self.clock()) / each / 2))

    def _guarded(self, job: Callable[[], object]) -> None:
        try:
            job()
        except (DovetailError, FloatingPointError, np.linalg.LinAlgError) as error:
            self.fail(str(error))
            return
        bad = self.watched.bad_state()
        if bad:
            self.fail(bad)

    def fail(self, why: str) -> None:
        """Stop, and remember why; `reset` goes on."""
        self.problem, self.paused = why, True
        self.pacer.stop()
