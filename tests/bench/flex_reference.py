"""Time of a step of the NumPy reference on large flexes, beside MuJoCo's, and where it goes.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1            # processor time counts every thread
    python tests/bench/flex_reference.py                       # every model of dovetail.bench.flexes.LARGE
    python tests/bench/flex_reference.py flex/cloth_free --profile

Processor time per step in milliseconds, both engines in turn, medians of several rounds, after some steps of MuJoCo
whose state both take over. The last columns are the largest difference of qacc in that state, relative to the
largest value, and the most memory that a process holds which loads the model and makes three steps, without MuJoCo.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

import dovetail
from dovetail.bench.flexes import LARGE

WARMUP = 100
"""Steps of MuJoCo before anything is measured."""


def processor_time(call: Callable[[], Any]) -> float:
    """Milliseconds."""
    start = time.process_time()
    call()
    return 1e3 * (time.process_time() - start)


def start_both(text: str) -> tuple[Any, Any, Any]:
    """MuJoCo's model and data and our simulation in the same state."""
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    for _ in range(WARMUP):
        mujoco.mj_step(m, d)
    sim = dovetail.Simulation(dovetail.loads(text), backend="numpy")
    for name in ("qpos", "qvel", "qacc_warmstart"):
        getattr(sim.data, name)[:] = getattr(d, name)
    return m, d, sim


def measure(name: str, rounds: int, steps: int) -> str:
    m, d, sim = start_both(LARGE[name])
    sim.forward()
    mujoco.mj_forward(m, d)
    error = np.abs(sim.data.qacc - d.qacc).max() / np.abs(d.qacc).max()
    contacts = f"{sim.data.ncon}/{d.ncon}"
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(
            processor_time(lambda: [mujoco.mj_step(m, d) for _ in range(10 * steps)]) / (10 * steps)
        )
        ours.append(processor_time(lambda: sim.step(steps)) / steps)
    own, other = statistics.median(ours), statistics.median(theirs)
    times = f"{own:8.2f} {other:8.2f} {own / other:7.1f}x"
    return f"{name:22} {times} {contacts:>9} {error:9.1e} {memory_alone(name):6.0f} MB"


ALONE = """
import re, sys, dovetail
from dovetail.bench.flexes import LARGE
dovetail.Simulation(dovetail.loads(LARGE[sys.argv[1]]), backend="numpy").step(3)
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def memory_alone(name: str) -> float:
    """Megabytes of a process of its own."""
    answer = subprocess.run([sys.executable, "-c", ALONE, name], capture_output=True, text=True, check=True)
    return float(answer.stdout)


def profile(name: str, steps: int) -> str:
    """Milliseconds per step of the stages that take most, wall time."""
    _, d, sim = start_both(LARGE[name])
    profiler = dovetail.Profiler()
    watched = dovetail.Simulation(sim.model, backend="numpy", wrap=[profiler])
    for field in ("qpos", "qvel", "qacc_warmstart"):
        getattr(watched.data, field)[:] = getattr(d, field)
    watched.step(1)
    profiler.reset()
    watched.step(steps)
    times = {slot: 1e3 * timing.seconds / steps for slot, timing in profiler.timings.items()}
    slowest = sorted(times, key=times.__getitem__, reverse=True)[:8]
    return "    " + ", ".join(f"{slot} {times[slot]:.2f}" for slot in slowest)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*", default=list(LARGE), metavar="MODEL")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    print(f"{'model':22} {'ours':>8} {'MuJoCo':>8} {'ratio':>8} {'contacts':>9} {'qacc':>9} {'memory':>9}")
    for name in options.models:
        print(measure(name, options.rounds, options.steps), flush=True)
        if options.profile:
            print(profile(name, options.steps), flush=True)


if __name__ == "__main__":
    main()
