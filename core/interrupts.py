"""Ctrl-C while a simulation runs: it stops at the end of a step, soon.

Between the numbers of a step a KeyboardInterrupt would leave a state that is neither the old nor the new one. So
while steps are taken SIGINT is only noted; runners ask `wanted()` after each launch and take no more steps, and the
interrupt is raised when the data are whole again. Launches of many steps are cut into slices of about `SLICE`
seconds, which changes nothing in the results. A second Ctrl-C is not held back: it interrupts a step that takes too
long.

Python delivers signals to the main thread, so steps in other threads are not stopped.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SLICE = 0.2
"""Seconds that a launch of many steps should take."""

PATIENCE = 0.5
"""Seconds after which a slice that was interrupted is not completed for worlds that have not begun it."""

GROWTH = 8
"""How many times longer than the one before a slice may be: the first steps may be the quick ones."""


class _Pending(threading.local):
    """What this thread has noted."""

    holding = False
    heeded = True
    signal: tuple[int, FrameType | None] | None = None


_pending = _Pending()

_MAIN = threading.main_thread().ident


def wanted() -> bool:
    """Whether this thread was interrupted and should take no more steps."""
    return _pending.heeded and _pending.signal is not None


@contextmanager
def unheeded() -> Iterator[None]:
    """While the body runs, steps are taken in spite of an interrupt: those that what was done already needs."""
    before, _pending.heeded = _pending.heeded, False
    try:
        yield
    finally:
        _pending.heeded = before


@contextmanager
def held_back() -> Iterator[None]:
    """While the body runs SIGINT is noted; it is handled, as it would have been, when the body has ended."""
    previous = _handler()
    if _pending.holding or previous is None:
        yield
        return
    _pending.holding, _pending.signal = True, None
    signal.signal(signal.SIGINT, _noting(previous))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        noted, _pending.signal, _pending.holding = _pending.signal, None, False
        if noted is not None:
            previous(*noted)


def _handler() -> Any:
    """What handles SIGINT, if that is a function and this thread may replace it."""
    if threading.get_ident() != _MAIN:
        return None
    handler = signal.getsignal(signal.SIGINT)
    return handler if callable(handler) else None


def _noting(previous: Any) -> Any:
    def record(number: int, frame: FrameType | None) -> None:
        if _pending.signal is not None:
            previous(number, frame)
        _pending.signal = (number, frame)

    return record


class Pace:
    """How many steps to take in one launch, learnt from how long they took."""

    def __init__(self) -> None:
        self._count = 1

    @property
    def count(self) -> int:
        """Steps that a launch may have now."""
        return self._count

    def slices(self, nstep: int) -> Iterator[int]:
        """Numbers of steps that make `nstep`; fewer when the thread is interrupted. What the caller does with each
        is timed."""
        while nstep > 0 and not wanted():
            count = min(nstep, self._count)
            began = time.perf_counter()
            yield count
            self._learn(count, time.perf_counter() - began)
            nstep -= count

    def _learn(self, count: int, seconds: float) -> None:
        fit = int(SLICE * count / max(seconds, 1e-9))
        self._count = max(1, min(fit, max(count, self._count) * GROWTH if seconds < SLICE else self._count))
