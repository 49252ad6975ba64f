"""Speed of batches, beside MuJoCo on the same states and controls, with the error next to the speed.

Worlds start near the model's pose and roll in under random controls until they touch what there is to touch. Then
times are taken in pairs, dovetail and MuJoCo in turn and in alternating order, and the figure is the median of the
paired ratios: a change of the machine's speed then meets both. One thread is timed by the processor's time, several
by the wall clock. MuJoCo's side is `mujoco.rollout` with as many threads. Energy, which dovetail's kernels leave out
when nobody reads it, is switched off in both engines.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import attrs
import numpy as np

from dovetail.bench.cases import Case, find
from dovetail.bench.results import BenchResult, BenchRow, machine
from dovetail.compare.rollout import Batch, OneStep, Start, clock_for, oracle_model, without_energy
from dovetail.contracts.choices import Precision, Runtime
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.planning.costs import Clock, Cost, told, watch
from dovetail.planning.plan import Plan
from dovetail.simulation import Simulation

ShowProgress = Callable[[str], None]

DISTINCT = 256
"""Worlds that roll in; larger batches repeat them."""


@attrs.frozen(kw_only=True)
class Measurement:
    """What to measure of each model, and how."""

    nworld: tuple[int, ...] = (1024,)
    precisions: tuple[Precision, ...] = ("f64", "f32")
    threads: tuple[int, ...] = (1,)
    runtimes: tuple[Runtime | None, ...] = (None,)
    steps: int = 50
    repeat: int = 9
    backend: str = "auto"
    seed: int = 0
    roll_in: float = 1.0
    """Simulated seconds before the measurement."""
    budget: float = 60.0
    """Seconds that the runs of one size of batch may take: beyond, steps and repetitions are cut, and a note says
    so."""
    with_mujoco: bool | None = None
    """None: if it is installed."""


def bench(
    model: str | Path | Case = "humanoid",
    *,
    nworld: int | Sequence[int] = 1024,
    precisions: Sequence[Precision] = ("f64", "f32"),
    threads: Sequence[int] = (1,),
    runtime: Runtime | Sequence[Runtime | None] | None = None,
    show: ShowProgress = lambda text: None,
    **more: object,
) -> BenchResult:
    """Measure the steps of batches of one model. `more` are fields of `Measurement`; `show` hears of the progress."""
    request = Measurement(
        nworld=(nworld,) if isinstance(nworld, int) else tuple(nworld),
        precisions=tuple(precisions),
        threads=tuple(threads),
        runtimes=(runtime,) if runtime is None or isinstance(runtime, str) else tuple(runtime),
        **more,  # type: ignore[arg-type]
    )
    return measure(model if isinstance(model, Case) else find(model), request, show)


def measure(case: Case, request: Measurement, show: ShowProgress = lambda text: None) -> BenchResult:
    """Measure one model."""
    notes: list[str] = []
    contest = Contest.prepare(case, request, notes, show)
    races = [_Race.prepare(contest, nworld, show) for nworld in request.nworld]
    rows = [row for race in races for row in race.rows(show)]
    dear = {cost.slot: cost for race in races for cost in race.costs}
    notes += [cost.text for cost in dear.values()]
    one = contest.one_step
    return BenchResult(
        model=case.name if case.file is None or not case.name.endswith(".xml") else case.file.stem,
        nv=contest.model.nv,
        backend=races[0].backend,
        repeat=request.repeat,
        rolled_in=contest.rolled_in,
        contacts=None if one is None else one.activity.contacts,
        constraint_rows=None if one is None else one.activity.rows,
        solver_iterations=None if one is None else one.activity.iterations,
        rows=tuple(rows),
        costs=tuple(dear.values()),
        notes=tuple(dict.fromkeys(notes)),
        machine=machine(),
    )


# ---- where both engines start


@attrs.frozen(eq=False)
class Contest:
    """A model in both engines, and the states they start from."""

    request: Measurement
    model: Model
    oracle: object | None
    """The MjModel, if MuJoCo is measured."""
    start: Start
    """At most DISTINCT worlds, rolled in."""
    rolled_in: int
    one_step: OneStep | None
    """What MuJoCo says of these worlds."""
    notes: list[str]

    @classmethod
    def prepare(cls, case: Case, request: Measurement, notes: list[str], show: ShowProgress) -> Contest:
        model = without_energy(case.load())
        start = Start.near(model, min(DISTINCT, max(request.nworld)), request.seed)
        steps = round(request.roll_in / model.opt.timestep)
        show(f"{case.name}: rolling in, {steps} steps …")
        if not _wants_mujoco(request.with_mujoco, notes):
            start, steps = _rolled_in_here(model, start, steps, request, notes)
            return cls(request, model, None, start, steps, None, notes)
        oracle = oracle_model(case.source, case.integrator)
        start = Batch.of(oracle, start).rolled_in(steps)
        one_step = Batch.of(oracle, start).after_one_step(start.nworld)
        return cls(request, model, oracle, start, steps, one_step, notes)


def _wants_mujoco(wanted: bool | None, notes: list[str]) -> bool:
    if wanted is False or (wanted is None and importlib.util.find_spec("mujoco") is None):
        notes.append("MuJoCo was not measured" + ("" if wanted is False else ": it is not installed"))
        return False
    return True


ROLL_IN_SECONDS = 20.0
"""Where dovetail itself rolls the worlds in, it stops after so long."""


def _rolled_in_here(
    model: Model, start: Start, steps: int, request: Measurement, notes: list[str]
) -> tuple[Start, int]:
    """Roll in without MuJoCo, in double precision, for as long as that is bearable."""
    if not steps:
        return start, 0
    sim = Simulation(
        model,
        nworld=start.nworld,
        backend=request.backend,
        precision="f64",
        threads=os.cpu_count() or 1,
        runtime=request.runtimes[0],
        keep="state",
    )
    start.write(sim.data)
    sim.step(1)  # compiles
    done, began = 1, time.perf_counter()
    while done < steps and time.perf_counter() - began < ROLL_IN_SECONDS:
        count = min(10, steps - done)
        sim.step(count)
        done += count
    if done < steps:
        notes.append(f"rolled in for {done} steps only, instead of {steps}: they took {ROLL_IN_SECONDS:g} s")
    return start.after(sim.data), done


# ---- dovetail's side


@attrs.define(eq=False)
class Rival:
    """A compiled simulation, and what it measured."""

    sim: Simulation
    start: Start
    runtime: str
    compile_seconds: float
    after_one: dict[str, Array]
    """The state after one step, for the error."""
    clock: Clock | None = None
    """What tells of choices that take a large share of the time, if there can be any."""
    seconds: list[float] = attrs.field(factory=list)

    @classmethod
    def prepare(
        cls, contest: Contest, start: Start, runtime: Runtime | None, threads: int, precision: Precision
    ) -> Rival:
        sim = Simulation(
            contest.model,
            nworld=start.nworld,
            backend=contest.request.backend,
            precision=precision,
            threads=threads,
            runtime=runtime,
            keep="state",
        )
        clock = watch(sim.plan)
        start.write(sim.data)
        seconds = _seconds(lambda: sim.step(1))
        after = {name: np.array(sim.data.field(name), np.float64) for name in ("qpos", "qvel")}
        return cls(sim, start, runtime_name(sim.plan), seconds, after, clock)

    def run(self, steps: int, clock: Callable[[], float] | None = None) -> float:
        """Seconds for so many steps from the start."""
        self.sim.reset()
        self.start.write(self.sim.data)
        return _seconds(lambda: self.sim.step(steps), clock or clock_for(self.sim.plan.threads))

    @property
    def key(self) -> tuple[str, str]:
        """What must be the same for a comparison of threads."""
        return self.sim.plan.precision, self.runtime


def runtime_name(plan: Plan) -> str:
    """The runtime that a plan's backend uses, empty if it has no choice of them."""
    backends = [plan.registry.backend(slot.record.backend) for slot in plan.slots]
    names = [backend.runtime(plan.options) for backend in backends if hasattr(backend, "runtime")]
    return names[0] if names else ""


def _seconds(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    call()
    return clock() - start


def _mixture(plan: Plan) -> str:
    """What keeps a step from being one kernel of the wished backend, or nothing."""
    segments, lines = plan.segments(), plan.lines()
    fallen = {line.fallback: line.slot for line in lines if line.fallback}
    if not fallen and len(segments) == 1:
        return ""
    if fallen:  # those that only give way to others come last
        reason, slot = min(fallen.items(), key=lambda item: "gives way" in item[0])
        why = f"{slot} fell back ({reason})"
    else:
        others = [s for group in segments for s in group if s.record.backend != segments[0][0].record.backend]
        why = ", ".join(f"{slot.label} runs as {slot.record.label}" for slot in others)
    return f"a step is {len(segments)} segments, not one kernel: {why}"


# ---- the race


@attrs.define(eq=False)
class _Race:
    """All contestants with one size of batch."""

    contest: Contest
    rivals: list[Rival]
    batch: Batch | None

    @classmethod
    def prepare(cls, contest: Contest, nworld: int, show: ShowProgress) -> _Race:
        start, request = contest.start.repeated(nworld), contest.request
        rivals = []
        for runtime in request.runtimes:
            for threads in request.threads:
                for precision in request.precisions:
                    show(_compiling(nworld, precision, threads, runtime))
                    rivals.append(Rival.prepare(contest, start, runtime, threads, precision))
        mixtures = (_mixture(rival.sim.plan) for rival in rivals)
        contest.notes.extend(text for text in mixtures if text)
        batch = None if contest.oracle is None else Batch.of(contest.oracle, start)
        return cls(contest, rivals, batch)

    @property
    def backend(self) -> str:
        """What runs, where `auto` was asked for, too."""
        plan = self.rivals[0].sim.plan
        return self.contest.request.backend if plan.auto is None else plan.auto.backend

    @property
    def costs(self) -> Iterator[Cost]:
        """Choices that took a large share of the time."""
        return (cost for rival in self.rivals for cost in told(rival.clock))

    def rows(self, show: ShowProgress) -> list[BenchRow]:
        """Run, and compare."""
        steps, repeat = self._within_budget()
        theirs = self._runners(steps)
        times = _race(self.rivals, theirs, steps, repeat, show)
        return [self._row(rival, times, steps) for rival in self.rivals]

    def _runners(self, steps: int) -> dict[int, Callable[[], float]]:
        batch = self.batch
        if batch is None:
            return {}
        return {count: batch.runner(count, steps) for count in dict.fromkeys(self.contest.request.threads)}

    def _within_budget(self) -> tuple[int, int]:
        """Steps per call and repetitions that stay within the budget, judged by one step of everyone."""
        request = self.contest.request
        runs: list[Callable[[], float]] = [partial(rival.run, 1) for rival in self.rivals]
        runs += self._runners(1).values()
        for run in runs:
            run()  # the first is slower
        return within_budget(
            request, sum(run() for run in runs), self.rivals[0].start.nworld, self.contest.notes
        )

    def _row(self, rival: Rival, times: Mapping[int, list[float]], steps: int) -> BenchRow:
        sim, nworld = rival.sim, rival.start.nworld
        count = steps * nworld
        per_step = statistics.median(rival.seconds) / count
        first = next(r for r in self.rivals if r.key == rival.key)
        row = BenchRow(
            nworld=nworld,
            precision=sim.plan.precision,
            threads=sim.plan.threads,
            lanes=sim.plan.lanes,
            runtime=rival.runtime,
            steps=steps,
            microseconds=1e6 * per_step,
            world_steps_per_second=1 / per_step,
            compile_seconds=rival.compile_seconds,
            bytes_per_world=sim.data.arena.nbytes / nworld,
            scaling=statistics.median(_ratios(first.seconds, rival.seconds)),
        )
        one_step = self.contest.one_step
        if one_step is None:
            return row
        theirs = times[sim.plan.threads]
        ratios = _ratios(theirs, rival.seconds)
        errors = one_step.errors(rival.after_one, nworld)
        return attrs.evolve(
            row,
            mujoco_microseconds=1e6 * statistics.median(theirs) / count,
            ratio=statistics.median(ratios),
            ratio_range=(min(ratios), max(ratios)),
            error=float(errors.max()),
            error_median=float(np.median(errors)),
        )


def within_budget(request: Measurement, one_step: float, nworld: int, notes: list[str]) -> tuple[int, int]:
    """Steps per call and repetitions that take no longer than the budget, if a round of one step each takes so many
    seconds; a note is made if they are fewer than requested."""
    affordable = request.budget / one_step
    steps = max(1, min(request.steps, int(affordable / (request.repeat + 1))))
    repeat = max(1, min(request.repeat, int(affordable / steps) - 1))
    if (steps, repeat) != (request.steps, request.repeat):
        notes.append(
            f"{nworld} worlds: {steps} steps a call and {repeat} repetitions, to take no longer than "
            f"{request.budget:g} s"
        )
    return steps, repeat


def _compiling(nworld: int, precision: str, threads: int, runtime: str | None) -> str:
    where = f" on {runtime}" if runtime else ""
    return f"compiling {precision}, {nworld} world{'s'[: nworld > 1]}, {threads} thread{'s'[: threads > 1]}{where} …"


def _race(
    rivals: Sequence[Rival],
    theirs: Mapping[int, Callable[[], float]],
    steps: int,
    repeat: int,
    show: ShowProgress,
) -> dict[int, list[float]]:
    """Everyone in turn, `repeat` times, the order turned round every other time; the first round is for warmth.
    Returns MuJoCo's seconds by number of threads; dovetail's stay with each rival."""
    times: dict[int, list[float]] = {count: [] for count in theirs}
    contestants = [(times[count], run) for count, run in theirs.items()]
    contestants += [(rival.seconds, partial(rival.run, steps)) for rival in rivals]
    for turn in range(repeat + 1):
        show(f"measuring: {turn} of {repeat}")
        for seconds, run in contestants if turn % 2 else reversed(contestants):
            elapsed = run()
            if turn:
                seconds.append(elapsed)
    return times


def _ratios(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(theirs, ours, strict=True)]
