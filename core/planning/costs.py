"""What choices cost that keep a step from being one kernel, measured on the steps themselves.

A `Clock` stands around the segments of a plan and adds up their processor time; of a segment in which several choices
have a part also that of each slot. The time that runs on the reference belongs to the choice because of which it runs
there: a function in a call, say, and the stages that gave way to it. A plan that is wholly one kernel, or that was
asked for on the reference, gets no clock and pays nothing.
"""

from __future__ import annotations

import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from dovetail.backend import REFERENCE, Runner, Segment, Slot, step_watchers
from dovetail.planning.auto import AUTO
from dovetail.planning.explain import some
from dovetail.planning.selection import UNASKED

if TYPE_CHECKING:
    from dovetail.contracts.types import Data
    from dovetail.planning.plan import Plan
    from dovetail.planning.selection import Choice

WORTH_SAYING = 1 / 3
"""A choice that takes a larger share of the time is told of."""
REPEATED = "keep"
"""What stands in the place of a slot for the reference beside a plan, which fills fields that kernels do not."""
IN_LANES = "docs/howto/lane-stage.md"
AS_FUNCTION = "docs/howto/function-as-stage.md"
AS_RULE = "docs/howto/replace-a-contact-rule.md"
KEEPING = "docs/howto/keep-fields.md"
SPEED = "docs/howto/performance.md"


@attrs.frozen(kw_only=True)
class Cost:
    """A choice that takes a large share of the time."""

    slot: str
    """Or `keep`, if fields are repeated with the reference."""
    implementation: str
    provider: str
    share: float
    """Of the processor time of steps, between 0 and 1."""
    text: str
    """All of it in a sentence, with the way out."""


class Clock:
    """Adds up the processor time of a plan's segments. The first call of each, which compiles, does not count."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._whole = 0.0
        self._by_cause: dict[str, float] = defaultdict(float)
        self._by_slot: dict[str, float] = defaultdict(float)
        """Since the segment began that is running."""

    def reset(self) -> None:
        """Count from now on."""
        self._whole = 0.0
        self._by_cause.clear()

    # ---- around what runs

    def watched(self, segment: Segment) -> Segment:
        """The segment, with a clock in each of its slots if there are several to tell apart."""
        if len(self._causes(segment.slots)) < 2:
            return segment
        return attrs.evolve(segment, slots=tuple(map(self._watched_slot, segment.slots)))

    def _watched_slot(self, slot: Slot) -> Slot:
        target, cause = slot.target, cause_of(self._plan, slot)

        @functools.wraps(target)
        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.process_time()
            try:
                return target(*arguments, **named)
            finally:
                self._by_slot[cause] += time.process_time() - began

        return attrs.evolve(slot, target=timed)

    def around(self, runner: Runner, slots: Sequence[Slot]) -> Runner:
        """The runner, timed."""
        return _Timed(self, runner, self._causes(slots))

    def _causes(self, slots: Iterable[Slot]) -> tuple[str, ...]:
        """Whose matter it is that slots run on the reference; nobody's if they are a kernel."""
        on_reference = [slot for slot in slots if slot.record.backend == REFERENCE]
        return tuple(dict.fromkeys(cause_of(self._plan, slot) for slot in on_reference))

    def begin(self) -> float:
        self._by_slot.clear()
        return time.process_time()

    def end(self, began: float, causes: Sequence[str]) -> None:
        """Add what passed to its causes, in the proportion of their slots."""
        seconds = time.process_time() - began
        self._whole += seconds
        parts = dict(self._by_slot) if len(causes) > 1 else dict.fromkeys(causes, 1.0)
        among = sum(parts.values())
        for cause, part in parts.items():
            self._by_cause[cause] += seconds * part / among if among else 0.0

    def repeating(self, repeat: Callable[[], None]) -> None:
        """Have the reference fill fields, timed."""
        began = self.begin()
        repeat()
        self.end(began, (REPEATED,))

    # ---- what was found

    @property
    def seconds(self) -> Mapping[str, float]:
        """By cause, and of all segments under an empty name: to be added up over processes."""
        return {"": self._whole, **self._by_cause}

    @property
    def costs(self) -> tuple[Cost, ...]:
        """The choices that cost more than a third of the time."""
        return costs(self._plan, self.seconds)


class _Timed:
    """A runner with a clock around it."""

    def __init__(self, clock: Clock, runner: Runner, causes: Sequence[str]) -> None:
        self._clock, self._runner, self._causes = clock, runner, causes
        self._warm = False

    def __call__(self, data: Data, nstep: int, evaluation: int) -> None:
        began = self._clock.begin()
        self._runner(data, nstep, evaluation)
        if self._warm:
            self._clock.end(began, self._causes)
        self._warm = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)


def watch(plan: Plan) -> Clock | None:
    """A clock for the steps of a plan, if a choice can cost anything in them: before its first step."""
    if not _may_cost(plan):
        return None
    clock = plan.execution.clock = Clock(plan)
    return clock


def told(clock: Clock | None) -> tuple[Cost, ...]:
    """What a clock found, if there is one."""
    return () if clock is None else clock.costs


def _may_cost(plan: Plan) -> bool:
    """Whether something runs on the reference where another backend is wished, and no wrapper asked for that."""
    wrapped = len(step_watchers(plan.wrappers)) < len(plan.wrappers)
    repeated = plan.replay is not None and not plan.replay.late
    on_reference = any(slot.record.backend == REFERENCE for slot in plan.in_steps)
    return _wished(plan) not in ("", REFERENCE) and not wrapped and (on_reference or repeated)


def _wished(plan: Plan) -> str:
    """The backend that is wished for everywhere; empty if there is none."""
    asked = plan.options.get("backend") or AUTO
    if asked != AUTO:
        return str(asked)
    return "" if plan.auto is None else plan.auto.backend


# ---- whose matter it is


def cause_of(plan: Plan, slot: Slot) -> str:
    """The label of the slot or part because of which a slot runs on the reference."""
    by_label = {one.label: one for one in plan.slots}
    seen: set[str] = set()
    while slot.label in plan.gave_way and slot.label not in seen:
        seen.add(slot.label)
        slot = by_label.get(plan.gave_way[slot.label], slot)
    return _part_of(plan, slot) or slot.label


def _part_of(plan: Plan, slot: Slot) -> str:
    """The part that keeps a slot on the reference, if it is not the slot itself."""
    wished, find = _wished(plan), plan.registry.find
    origin = plan.choices[slot.label].origin
    for part in slot.part_choices:
        if origin.startswith(f"the backend of {part},"):
            return part
    if slot.record.backend != REFERENCE or find(slot.record.slot, slot.record.name, wished) is None:
        return ""
    lacking = (p for p, choice in slot.part_choices.items() if find(p, choice.record.name, wished) is None)
    return next(lacking, "")


# ---- in words


def costs(plan: Plan, seconds: Mapping[str, float]) -> tuple[Cost, ...]:
    """The choices that cost more than a third of the time, the dearest first."""
    whole = seconds.get("", 0.0)
    shares = {cause: spent / whole for cause, spent in seconds.items() if cause and whole > 0.0}
    dear = sorted(shares.items(), key=lambda item: -item[1])
    return tuple(_cost(plan, cause, share) for cause, share in dear if share > WORTH_SAYING)


def _cost(plan: Plan, cause: str, share: float) -> Cost:
    percent = f"{100 * min(share, 1.0):.0f} % of the time"
    if cause == REPEATED:
        assert plan.replay is not None
        text = (
            f"kept fields that only NumPy fills ({some(plan.replay.fields)}) take {percent}; keep none of them "
            f"({KEEPING})"
        )
        return Cost(slot=cause, implementation="", provider="dovetail", share=share, text=text)
    choice = plan.choices[cause]
    advice, page = _way_out(plan, cause, choice)
    return Cost(
        slot=cause,
        implementation=choice.record.label,
        provider=choice.record.provider,
        share=share,
        text=f"{cause} ({_whose(choice)}) runs on NumPy and takes {percent}; {advice} ({page})",
    )


def _whose(choice: Choice) -> str:
    record = choice.record
    if record.provider == "the call":
        return "your function"
    return record.name if record.provider == "dovetail" else f"{record.name} of {record.provider}"


def _way_out(plan: Plan, cause: str, choice: Choice) -> tuple[str, str]:
    """What can be done about a choice, and the page that tells how."""
    record, wished = choice.record, _wished(plan)
    if plan.registry.why_no_version(record):
        return "write it so that it can be traced", AS_RULE
    if record.provider == "the call" and record.reads is None and cause in plan.gave_way.values():
        return "write @dovetail.touches(...) or a lane version", AS_FUNCTION
    if plan.registry.find(record.slot, record.name, wished) is not None:
        return _way_back(choice, wished), SPEED
    other = _other(plan, choice, wished)
    if record.provider == "dovetail":
        return (f"{other} runs on {wished}" if other else "it has no lane version"), SPEED
    return f"{f'choose {other}, or ' if other else ''}write a lane version", IN_LANES


def _way_back(choice: Choice, wished: str) -> str:
    """What keeps an algorithm from the backend that it has a version for."""
    if not choice.fallback:
        return f"ask for {choice.record.name} on {wished}"
    return f"why: {choice.fallback.partition(': ')[2] or choice.fallback}"


def _other(plan: Plan, choice: Choice, wished: str) -> str:
    """Another algorithm for a slot that somebody chose, which has a version for a backend."""
    if choice.origin in UNASKED:
        return ""
    found = [r for r in plan.registry.of(choice.record.slot) if r.backend == wished]
    found.sort(key=lambda record: not record.default)
    return next((r.name for r in found if r.name != choice.record.name), "")
