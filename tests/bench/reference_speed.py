"""Speed of the NumPy reference: steps per second of processor time, and where they go, stage by stage.

    export OMP_NUM_THREADS=1                                    # processor time counts every thread
    python tests/bench/reference_speed.py                       # every case
    python tests/bench/reference_speed.py ant --functions 30    # one case, and its most expensive functions

Times are processor time, the median over short runs; other programs on the machine still slow it down, and the
best run is the one they hindered least. Each case starts from a state it reached by itself (in free flight, fallen,
piled up).
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import attrs
import numpy as np

import dovetail
from dovetail import Model, Profiler, Simulation
from dovetail.contracts.enums import DisableBit


@attrs.frozen
class Case:
    """A model, how it starts, and the speed it should reach on one core of a present-day desktop."""

    build: Callable[[], Model]
    settle: int
    """Steps before the measurement."""
    goal: float
    """Steps per second."""


def installed(package: str, *below: str) -> Path:
    """A file of an installed package, which is not imported."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed, and this case uses one of its models")
    return Path(spec.submodule_search_locations[0], *below)


def gymnasium_model(name: str) -> Model:
    return dovetail.load(installed("gymnasium", "envs", "mujoco", "assets", f"{name}.xml"))


def free_humanoid() -> Model:
    """Gymnasium's humanoid without constraints: the smooth stages alone, four times a step."""
    model = gymnasium_model("humanoid")
    model.opt.disableflags |= DisableBit.CONSTRAINT
    return model


def suite_humanoid() -> Model:
    return dovetail.load(installed("dm_control", "suite", "humanoid.xml"))


def pile(count: int) -> Model:
    """Free bodies of every primitive shape, falling into a bin that is about as deep as wide."""
    shapes = (
        'type="sphere" size=".1"',
        'type="capsule" size=".07 .1"',
        'type="ellipsoid" size=".12 .09 .07"',
        'type="cylinder" size=".09 .08"',
        'type="box" size=".1 .08 .06"',
    )
    side = max(2, round(count ** (1 / 3)))
    half = 0.12 * side
    walls = "".join(
        f'<geom type="box" pos="{x * (half + 0.1)} {y * (half + 0.1)} 1" '
        f'size="{0.1 if x else half} {0.1 if y else half} 1"/>'
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )
    bodies = "".join(
        f'<body pos="{0.24 * (i % side) - half + 0.12} {0.24 * (i // side % side) - half + 0.12} '
        f'{0.13 + 0.24 * (i // side**2)}" euler="{17 * i % 90} {31 * i % 90} 0"><freejoint/>'
        f"<geom {shapes[i % len(shapes)]}/></body>"
        for i in range(count)
    )
    return dovetail.loads(
        f'<mujoco><option timestep=".004"/><worldbody><geom type="plane" size="9 9 .1"/>{walls}{bodies}'
        "</worldbody></mujoco>"
    )


CASES = {
    "humanoid_free": Case(free_humanoid, settle=5, goal=100),
    "humanoid_contact": Case(suite_humanoid, settle=250, goal=60),
    "ant": Case(lambda: gymnasium_model("ant"), settle=60, goal=40),
    "pile_25": Case(lambda: pile(25), settle=150, goal=0),
    "pile_100": Case(lambda: pile(100), settle=150, goal=0),
}


def started(case: Case, *wrap: Profiler) -> Simulation:
    sim = Simulation(case.build(), backend="numpy", wrap=wrap)
    rng = np.random.default_rng(0)
    sim.data.ctrl = rng.uniform(-0.3, 0.3, sim.model.nu)
    sim.step(case.settle)
    return sim


def steps_per_second(sim: Simulation, seconds: float, runs: int = 15) -> tuple[float, float]:
    """Median and best of runs, all from the same state, together about so many seconds long."""
    start = sim.data.copy()
    one = processor_seconds(lambda: sim.step(2)) / 2
    steps = max(1, round(seconds / runs / one))
    times = []
    for _ in range(runs):
        sim.data.copy_from(start)
        times.append(processor_seconds(lambda: sim.step(steps)) / steps)
    sim.data.copy_from(start)
    return 1 / statistics.median(times), 1 / min(times)


def processor_seconds(call: Callable[[], object]) -> float:
    before = time.process_time()
    call()
    return time.process_time() - before


def show_stages(case: Case, steps: int) -> None:
    """The stages by what they take of a step, largest first."""
    profiler = Profiler(clock=time.process_time)
    sim = started(case, profiler)
    profiler.reset()
    sim.step(steps)
    timings = sorted(profiler.timings.items(), key=lambda item: -item[1].seconds)
    whole = sum(timing.seconds for _, timing in timings)
    for label, timing in timings:
        share = timing.seconds / whole
        if share > 0.005:
            per_step = 1e6 * timing.seconds / steps
            print(f"    {label:<28}{per_step:10.0f} µs a step{100 * share:8.1f} %")


def show_functions(sim: Simulation, steps: int, count: int) -> None:
    profile = cProfile.Profile()
    profile.runcall(sim.step, steps)
    pstats.Stats(profile).sort_stats("tottime").print_stats(count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--seconds", type=float, default=3.0, help="processor time to spend on each case")
    parser.add_argument("--functions", type=int, default=0, help="list so many functions of cProfile")
    parser.add_argument("--no-stages", action="store_true", help="leave out the times of the stages")
    asked = parser.parse_args()
    for name in asked.cases:
        case = CASES[name]
        sim = started(case)
        rate, best = steps_per_second(sim, asked.seconds)
        goal = f" (goal {case.goal:g})" if case.goal else ""
        size = f"{sim.data.ncon} contacts, {sim.data.nefc} rows"
        print(f"{name}: {rate:.1f} steps/s, best {best:.1f}{goal}; {size}", flush=True)
        steps = max(2, round(rate * asked.seconds / 3))
        if not asked.no_stages:
            show_stages(case, steps)
        if asked.functions:
            show_functions(sim, steps, asked.functions)


if __name__ == "__main__":
    main()
