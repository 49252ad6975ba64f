"""Where the time of a fused kernel goes, stage by stage.

A kernel has no clock inside. So a variant of it is compiled in which each stage stands in a loop, once around as it
comes. Then one stage after the other goes around several times more, taking turns with the plain run, and what that
costs, divided by the extra times, is the stage's time: with its data in the same caches and between the same
neighbours as always. A stage computes the same again from the same inputs, so the results stay what they were; that
is checked bit for bit, and a stage for which it is not so (integrate moves on) is counted to the rest. Times are
processor time, of all threads together: other programs on the machine then disturb the differences least.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, cast

import attrs

from dovetail.backend import Runner
from dovetail.bench.cases import Case
from dovetail.bench.results import machine
from dovetail.bench.speed import Contest, Measurement, Rival, ShowProgress, within_budget
from dovetail.contracts.choices import Precision, Runtime
from dovetail.contracts.types import STATE, Data
from dovetail.errors import PlanError, SelectionError, listing, nearest
from dovetail.planning.plan import Plan

EXTRA = 3
"""Times that a stage runs besides the one it always does."""

HOW = (
    f"processor time; each stage ran {1 + EXTRA} times in a step instead of once, in turns with the plain run, and "
    f"its time is the difference / {EXTRA}"
)


@attrs.frozen(kw_only=True)
class StageTime:
    """What one stage takes."""

    stage: str
    microseconds: float | None
    """Per step and world; None if the stage cannot be repeated without changing the results."""
    share: float | None
    """Of the whole step."""


@attrs.frozen(kw_only=True)
class DeviceTraffic:
    """What passes between host and device in a call of some steps."""

    steps: int
    launches: int
    copies: int
    nbytes: int
    scratch_bytes: int
    worlds_at_once: int

    def __str__(self) -> str:
        return (
            f"{self.launches / self.steps:.1f} launches a step; {self.copies} copies of {self.nbytes:,} bytes in "
            f"all in a call of {self.steps} steps; {self.scratch_bytes / 2**20:,.1f} MiB of scratch for "
            f"{self.worlds_at_once} worlds at once"
        )


@attrs.frozen(kw_only=True)
class StageTimes:
    """What the stages of one kernel take."""

    model: str
    nworld: int
    precision: str
    threads: int
    runtime: str
    steps: int
    repeat: int
    microseconds: float
    """Per step and world, of the kernel as it is used."""
    looped_microseconds: float
    """Of the variant with loops, each going around once."""
    copy_microseconds: float
    """Launch, loading and storing: a call of no steps, spread over the steps of a call."""
    rest_microseconds: float
    """What is left of the variant's time: stages that cannot be repeated, and those not asked for."""
    stages: tuple[StageTime, ...]
    """Largest first."""
    seconds: float
    """What all this took, compiling included."""
    how: str
    notes: tuple[str, ...]
    machine: dict[str, Any]
    device: DeviceTraffic | None = None
    """What a step costs between host and device, if there is one."""

    def headline(self) -> str:
        return (
            f"{self.model}: {self.microseconds:.2f} µs a step and world ({self.nworld} worlds, {self.precision}, "
            f"{self.threads} thread{'s'[: self.threads > 1]}{', ' + self.runtime if self.runtime else ''})"
        )

    def to_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)


class Repeatable(Runner, Protocol):
    """A compiled segment whose stages can be repeated."""

    @property
    def groups(self) -> Sequence[str]:
        """What can be repeated: the names of stages."""
        ...

    def repeat(self, times: Mapping[str, int]) -> None:
        """Run them so many times in each step from now on, and those not named once."""
        ...


def profile(
    case: Case, request: Measurement, stages: Iterable[str] = (), show: ShowProgress = lambda text: None
) -> list[StageTimes]:
    """Measure the stages of a model's kernel, all or those named: for each precision and runtime, with the first
    number of worlds and threads."""
    notes: list[str] = []
    contest = Contest.prepare(case, request, notes, show)
    asked = [(precision, runtime) for runtime in request.runtimes for precision in request.precisions]
    return [_profile(case, contest, tuple(stages), precision, runtime, show) for precision, runtime in asked]


def _profile(
    case: Case,
    contest: Contest,
    stages: tuple[str, ...],
    precision: Precision,
    runtime: Runtime | None,
    show: ShowProgress,
) -> StageTimes:
    began = time.perf_counter()
    request = contest.request
    nworld, threads = request.nworld[0], request.threads[0]
    show(f"compiling {precision}, {nworld} worlds …")
    rival = Rival.prepare(contest, contest.start.repeated(nworld), runtime, threads, precision)
    show(f"compiling {precision} with loops around the stages …")
    variant = _Variant.of(rival)
    chosen = _chosen(stages, variant.runner.groups)
    steps, repeat = within_budget(request, variant.seconds_of_a_round(chosen), nworld, contest.notes)
    figures = variant.measure(chosen, steps, repeat, show)
    per_world = 1e6 / (steps * nworld)
    looped = figures.plain
    times = [_stage_time(stage, figures, looped, per_world) for stage in chosen]
    known = sum(t.microseconds or 0.0 for t in times)
    copy = statistics.median(figures.copy) * per_world
    return StageTimes(
        model=case.name,
        nworld=nworld,
        precision=precision,
        threads=threads,
        runtime=rival.runtime,
        steps=steps,
        repeat=repeat,
        microseconds=statistics.median(figures.used) * per_world,
        looped_microseconds=looped * per_world,
        copy_microseconds=copy,
        rest_microseconds=looped * per_world - known - copy,
        stages=tuple(sorted(times, key=lambda t: -(t.microseconds or 0.0))),
        seconds=time.perf_counter() - began,
        how=HOW,
        notes=tuple(contest.notes),
        machine=machine(),
        device=_traffic(rival, steps),
    )


def _traffic(rival: Rival, steps: int) -> DeviceTraffic | None:
    """What a call of so many steps costs between host and device; None if there is none."""
    (runner,) = rival.sim.plan.execution.runners()
    traffic = getattr(runner, "traffic", None)
    if traffic is None:
        return None
    before = attrs.asdict(traffic)
    rival.sim.step(steps)
    spent = {name: value - before[name] for name, value in attrs.asdict(traffic).items()}
    return DeviceTraffic(
        steps=steps,
        launches=spent["launches"],
        copies=spent["copies_in"] + spent["copies_out"],
        nbytes=spent["bytes_in"] + spent["bytes_out"],
        scratch_bytes=traffic.scratch_bytes,
        worlds_at_once=traffic.worlds_at_once,
    )


def _chosen(stages: tuple[str, ...], groups: Sequence[str]) -> list[str]:
    for stage in stages:
        if stage not in groups:
            raise SelectionError(
                f"the kernel has no stage {stage!r}{nearest(stage, groups) or '.'} It has: {listing(groups)}"
            )
    return [group for group in groups if group in stages or not stages]


@attrs.define
class _Figures:
    """Seconds of every run, round by round."""

    used: list[float] = attrs.field(factory=list)
    copy: list[float] = attrs.field(factory=list)
    pairs: dict[str, list[tuple[float, float]]] = attrs.field(factory=dict)
    """By stage: a plain run, and one just before or after it in which the stage was repeated."""
    changed: set[str] = attrs.field(factory=set)
    """Stages after whose repetition the state was another."""

    @property
    def plain(self) -> float:
        """The median plain run."""
        return statistics.median(plain for pairs in self.pairs.values() for plain, _ in pairs)


def _stage_time(stage: str, figures: _Figures, whole: float, per_world: float) -> StageTime:
    if stage in figures.changed:
        return StageTime(stage=stage, microseconds=None, share=None)
    seconds = statistics.median((more - plain) / EXTRA for plain, more in figures.pairs[stage])
    return StageTime(stage=stage, microseconds=seconds * per_world, share=seconds / whole)


@attrs.define(eq=False)
class _Variant:
    """The kernel with loops around its stages, beside the one in use."""

    rival: Rival
    plan: Plan
    runner: Repeatable

    @classmethod
    def of(cls, rival: Rival) -> _Variant:
        plan = attrs.evolve(rival.sim.plan, options={**rival.sim.plan.options, "repeatable": True})
        runners = plan.execution.runners()
        if len(runners) != 1 or not hasattr(runners[0], "repeat"):
            raise PlanError(
                f"{plan.headline()}: only the stages of a step that is one kernel can be measured inside it; "
                "`dovetail run --profile` times stages one by one"
            )
        variant = cls(rival, plan, cast(Repeatable, runners[0]))
        variant.run({}, 1)  # compiles
        return variant

    @property
    def data(self) -> Data:
        return self.rival.sim.data

    def run(self, times: Mapping[str, int], steps: int) -> float:
        """Seconds for so many steps from the start."""
        self.rival.sim.reset()
        self.rival.start.write(self.data)
        if times:
            self.runner.repeat(times)
        began = time.process_time()
        self.plan.step(self.data, steps)
        elapsed = time.process_time() - began
        if times:
            self.runner.repeat({})
        return elapsed

    def state(self) -> list[bytes]:
        return [self.data.field(name).tobytes() for name in STATE if name in self.data]

    def measure(self, stages: Sequence[str], steps: int, repeat: int, show: ShowProgress) -> _Figures:
        """Everything in turn, so many times."""
        figures = _Figures(pairs={stage: [] for stage in stages}, changed=self._changing(stages, steps))
        for turn in range(repeat):
            show(f"measuring: {turn} of {repeat}")
            self._round(figures, steps, plain_first=turn % 2 == 0)
        return figures

    def _changing(self, stages: Sequence[str], steps: int) -> set[str]:
        """Stages that cannot be repeated without changing the state after so many steps."""
        self.run({}, steps)
        plain = self.state()
        changing = set()
        for stage in stages:
            self.run({stage: 1 + EXTRA}, steps)
            if self.state() != plain:
                changing.add(stage)
        return changing

    def seconds_of_a_round(self, stages: Sequence[str]) -> float:
        """What everyone's turn takes, with one step each."""
        began = time.perf_counter()
        self._round(_Figures(pairs={stage: [] for stage in stages}), 1, plain_first=True)
        return time.perf_counter() - began

    def _round(self, figures: _Figures, steps: int, *, plain_first: bool) -> None:
        figures.used.append(self.rival.run(steps, time.process_time))
        figures.copy.append(self._copy())
        self.run({}, 1)  # the kernel in use has just driven this one out of the caches
        for stage, pairs in figures.pairs.items():
            more = {} if stage in figures.changed else {stage: 1 + EXTRA}
            seconds = [self.run(times, steps) for times in (({}, more) if plain_first else (more, {}))]
            pairs.append((seconds[0], seconds[1]) if plain_first else (seconds[1], seconds[0]))

    def _copy(self) -> float:
        began = time.process_time()
        self.runner(self.data, 0, 0)
        return time.process_time() - began
