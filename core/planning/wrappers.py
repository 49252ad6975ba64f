"""Two wrappers: a profiler and a NaN guard. Both cost only the slots they wrap."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

import attrs

from dovetail.backend import Slot
from dovetail.contracts.derive import bad_numbers
from dovetail.contracts.types import Data
from dovetail.errors import BadStateError


def _patterns(stages: str | Iterable[str]) -> tuple[str, ...]:
    return (stages,) if isinstance(stages, str) else tuple(stages)


@attrs.define(kw_only=True)
class _Chosen:
    """Wraps the slots whose label, or stage name, matches one of the patterns."""

    stages: tuple[str, ...] = attrs.field(default=("*",), converter=_patterns)

    def wants(self, label: str) -> bool:
        stage = label.partition(":")[0]
        return any(fnmatchcase(label, p) or fnmatchcase(stage, p) for p in self.stages)


@attrs.define
class Timing:
    """How often a slot ran and how long it took in all."""

    calls: int = 0
    seconds: float = 0.0

    @property
    def microseconds(self) -> float:
        """Mean duration of one call."""
        return 1e6 * self.seconds / self.calls if self.calls else 0.0


@attrs.define(kw_only=True)
class Profiler(_Chosen):
    """Measures the time of each wrapped slot: `profiler.timings["kinematics"].microseconds`."""

    name = "profiler"
    timings: dict[str, Timing] = attrs.field(factory=dict)
    clock: Callable[[], float] = time.perf_counter
    """Seconds: wall time, unless another clock is given (`time.process_time` on a busy machine)."""

    def wrap(self, slot: Slot, call: Callable[[Data], None]) -> Callable[[Data], None]:
        timing = self.timings.setdefault(slot.label, Timing())
        clock = self.clock

        def timed(data: Data) -> None:
            start = clock()
            call(data)
            timing.seconds += clock() - start
            timing.calls += 1

        return timed

    def reset(self) -> None:
        for timing in self.timings.values():
            timing.calls, timing.seconds = 0, 0.0


@attrs.define(kw_only=True)
class NanGuard(_Chosen):
    """Stops with a BadStateError when a wrapped slot leaves NaN or infinity in a field it writes."""

    name = "nan_guard"

    def wrap(self, slot: Slot, call: Callable[[Data], None]) -> Callable[[Data], None]:
        fields = sorted(slot.in_data)

        def guarded(data: Data) -> None:
            call(data)
            problems = [p for field in fields if field in data for p in bad_numbers(data, field)]
            if problems:
                raise BadStateError(
                    f"after {slot.label} ({slot.record.label}): " + "; ".join(_first(problems, 10))
                )

        return guarded


def _first(items: Iterable[str], count: int) -> list[str]:
    listed = list(items)
    rest = len(listed) - count
    return [*listed[:count], f"{rest} more"] if rest > 0 else listed
