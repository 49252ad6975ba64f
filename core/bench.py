"""Speed of a batch, beside MuJoCo on the same states and controls, with the error next to the speed.

    bench("humanoid", nworld=1024, precisions=("f64", "f32")).row("f64").ratio

Times are taken in pairs, dovetail and MuJoCo in turn and in alternating order, and the figure is the median of the
paired ratios: a change of the machine's speed then meets both. MuJoCo's side is `mujoco.rollout` with as many
threads. Energy, which dovetail's kernels leave out when nobody reads it, is switched off in both engines.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from dovetail.compare.rollout import Batch, Start, without_energy
from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model
from dovetail.simulation import MODELS, Simulation, builtin_models, load

Tell = Callable[[str], None]


@attrs.frozen(kw_only=True)
class BenchRow:
    """One precision with one number of threads."""

    precision: str
    threads: int
    lanes: int
    microseconds: float
    """Per step and world, median."""
    world_steps_per_second: float
    compile_seconds: float
    """Until the first step was done; less when the kernel was in the cache."""
    scaling: float
    """How many times as fast as with the first number of threads: median over pairs."""
    mujoco_microseconds: float | None = None
    ratio: float | None = None
    """How many times as fast as MuJoCo: median over pairs."""
    ratio_range: tuple[float, float] | None = None
    error: float | None = None
    """Largest error of qpos and qvel after one step, relative to MuJoCo's."""


@attrs.frozen(kw_only=True)
class BenchResult:
    """What was measured, on what."""

    model: str
    nv: int
    backend: str
    nworld: int
    steps: int
    repeat: int
    rows: tuple[BenchRow, ...]
    notes: tuple[str, ...]
    machine: dict[str, Any]

    def row(self, precision: str, threads: int = 1) -> BenchRow:
        """The row of one configuration."""
        return next(r for r in self.rows if (r.precision, r.threads) == (precision, threads))

    def headline(self) -> str:
        return (
            f"{self.model} (nv {self.nv}) on {self.backend}: {self.nworld} worlds, {self.steps} steps a call, "
            f"median of {self.repeat}"
        )

    def to_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    def append_to(self, path: str | Path) -> None:
        """Add this result, with the time of day, as one line of JSON."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"time": stamp, **self.to_dict()}) + "\n")


def bench(
    model: str | Path = "humanoid",
    *,
    nworld: int = 1024,
    precisions: Sequence[str] = ("f64", "f32"),
    threads: Sequence[int] = (1,),
    steps: int = 50,
    repeat: int = 9,
    backend: str = "taichi",
    runtime: str | None = None,
    seed: int = 0,
    with_mujoco: bool | None = None,
    tell: Tell = lambda text: None,
) -> BenchResult:
    """Measure a batch step. `with_mujoco` None: if it is installed. `tell` hears of the progress."""
    path = MODELS / f"{model}.xml" if str(model) in builtin_models() else Path(model)
    ours = without_energy(load(path))
    start = Start.random(ours, nworld, seed)
    notes: list[str] = []
    oracle = _oracle(path, start, steps, with_mujoco, notes)
    rivals = [
        _Rival.prepare(ours, start, precision, count, backend=backend, runtime=runtime, tell=tell)
        for count in threads
        for precision in precisions
    ]
    theirs = {count: oracle.runner(count) for count in threads} if oracle is not None else {}
    times = _race(rivals, theirs, steps, repeat, tell)
    return BenchResult(
        model=ours.modelname or path.stem,
        nv=ours.nv,
        backend=backend,
        nworld=nworld,
        steps=steps,
        repeat=repeat,
        rows=tuple(_row(rival, rivals, oracle, times, steps) for rival in rivals),
        notes=tuple(notes),
        machine=_machine(),
    )


# ---- dovetail's side


@attrs.define(eq=False)
class _Rival:
    """A compiled simulation, and what it measured."""

    sim: Simulation
    start: Start
    compile_seconds: float
    after_one: dict[str, Array]
    """The state after one step, for the error."""
    seconds: list[float] = attrs.field(factory=list)

    @classmethod
    def prepare(
        cls,
        model: Model,
        start: Start,
        precision: str,
        threads: int,
        *,
        backend: str,
        runtime: str | None,
        tell: Tell,
    ) -> _Rival:
        tell(f"compiling {precision}, {threads} thread{'s'[: threads > 1]} …")
        sim = Simulation(
            model,
            nworld=len(start.qpos),
            backend=backend,
            precision=precision,
            threads=threads,
            runtime=runtime,
            keep="state",
        )
        start.write(sim.data)
        seconds = _seconds(lambda: sim.step(1))
        after = {name: np.array(sim.data.field(name), np.float64) for name in ("qpos", "qvel")}
        return cls(sim, start, seconds, after)

    def run(self, steps: int) -> float:
        """Seconds for so many steps from the start."""
        self.sim.reset()
        self.start.write(self.sim.data)
        return _seconds(lambda: self.sim.step(steps))


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# ---- MuJoCo's side


def _oracle(path: Path, start: Start, steps: int, wanted: bool | None, notes: list[str]) -> Batch | None:
    if wanted is False or (wanted is None and importlib.util.find_spec("mujoco") is None):
        notes.append("MuJoCo was not measured" + ("" if wanted is False else ": it is not installed"))
        return None
    return Batch.load(path, start, steps)


# ---- the race


def _race(
    rivals: Sequence[_Rival], theirs: Mapping[int, Callable[[], float]], steps: int, repeat: int, tell: Tell
) -> dict[int, list[float]]:
    """Everyone in turn, `repeat` times, the order turned round every other time; the first round is for warmth.
    Returns MuJoCo's seconds by number of threads; dovetail's stay with each rival."""
    times: dict[int, list[float]] = {count: [] for count in theirs}
    contestants = [(times[count], run) for count, run in theirs.items()]
    contestants += [(rival.seconds, partial(rival.run, steps)) for rival in rivals]
    for turn in range(repeat + 1):
        tell(f"measuring: {turn} of {repeat}")
        for seconds, run in contestants if turn % 2 else reversed(contestants):
            elapsed = run()
            if turn:
                seconds.append(elapsed)
    return times


def _row(
    rival: _Rival,
    rivals: Sequence[_Rival],
    oracle: Batch | None,
    times: Mapping[int, list[float]],
    steps: int,
) -> BenchRow:
    plan, count = rival.sim.plan, steps * len(rival.start.qpos)
    per_step = statistics.median(rival.seconds) / count
    first = next(r for r in rivals if r.sim.plan.precision == plan.precision)
    row = BenchRow(
        precision=plan.precision,
        threads=plan.threads,
        lanes=plan.lanes,
        microseconds=1e6 * per_step,
        world_steps_per_second=1 / per_step,
        compile_seconds=rival.compile_seconds,
        scaling=statistics.median(_ratios(first.seconds, rival.seconds)),
    )
    if oracle is None:
        return row
    theirs = times[plan.threads]
    ratios = _ratios(theirs, rival.seconds)
    return attrs.evolve(
        row,
        mujoco_microseconds=1e6 * statistics.median(theirs) / count,
        ratio=statistics.median(ratios),
        ratio_range=(min(ratios), max(ratios)),
        error=oracle.error(rival.after_one),
    )


def _ratios(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(theirs, ours, strict=True)]


def _machine() -> dict[str, Any]:
    """What the figures depend on besides the code."""
    packages = [name for name in ("taichi", "quadrants", "mujoco", "numpy") if name in sys.modules]
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in packages},
    }


def _processor() -> str:
    """The processor's name where the system tells it (Linux), else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
