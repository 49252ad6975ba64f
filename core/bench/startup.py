"""Time to the first step: a new process that imports, loads, plans, compiles and steps once, with an empty cache of
kernels and then with a full one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from dovetail.bench.cases import Case
from dovetail.bench.speed import Measurement, ShowProgress
from dovetail.errors import DovetailError

CACHE = "DOVETAIL_CACHE_DIR"
"""Environment variable that says where compiled kernels are kept."""

CHILD = "from dovetail.bench.startup import report; report()"


@attrs.frozen(kw_only=True)
class FirstStep:
    """Seconds from the start of a process until something was done."""

    model: str
    nworld: int
    precision: str
    runtime: str
    cached: bool
    """Whether the kernels were in the cache."""
    imported: float
    loaded: float
    planned: float
    first_step: float
    later_step: float
    """Seconds of one step afterwards."""


def first_steps(case: Case, request: Measurement, show: ShowProgress = lambda text: None) -> list[FirstStep]:
    """For each precision and runtime, without and with a cache; the cache is a folder made for the purpose."""
    found = []
    for runtime in request.runtimes:
        for precision in request.precisions:
            with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as folder:
                for cached in (False, True):
                    show(f"compiling {precision} in a new process, cache {'full' if cached else 'empty'} …")
                    found.append(_measured(case, request, precision, runtime, cached, Path(folder)))
    return found


def _measured(
    case: Case, request: Measurement, precision: str, runtime: str | None, cached: bool, folder: Path
) -> FirstStep:
    asked = {
        "source": str(case.source.resolve() if isinstance(case.source, Path) else case.source),
        "is_file": case.file is not None,
        "integrator": case.integrator,
        "nworld": request.nworld[0],
        "backend": request.backend,
        "precision": precision,
        "threads": request.threads[0],
        "runtime": runtime,
    }
    told = _run_child(json.dumps({"began": time.time(), **asked}), {CACHE: str(folder / "kernels")})
    return FirstStep(
        model=case.name, nworld=request.nworld[0], precision=precision, cached=cached, **json.loads(told)
    )


def _run_child(asked: str, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=asked,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DovetailError(f"the process that measures the first step failed:\n{done.stderr.strip()}")
    return done.stdout.splitlines()[-1]


def report() -> None:
    """In the new process: do as asked on stdin, print the times."""
    print(json.dumps(_in_this_process(json.loads(sys.stdin.read()))))


def _in_this_process(asked: Mapping[str, Any]) -> dict[str, Any]:
    began = asked["began"]
    from dovetail.bench.speed import runtime_name
    from dovetail.simulation import Simulation

    imported = time.time()
    source = Path(asked["source"]) if asked["is_file"] else asked["source"]
    model = Case("", source, asked["integrator"]).load()
    loaded = time.time()
    settings = {name: asked[name] for name in ("nworld", "backend", "precision", "threads", "runtime")}
    sim = Simulation(model, keep="state", **settings)
    planned = time.time()
    sim.step(1)
    stepped = time.time()
    sim.step(1)
    return {
        "runtime": runtime_name(sim.plan),
        "imported": imported - began,
        "loaded": loaded - began,
        "planned": planned - began,
        "first_step": stepped - began,
        "later_step": time.time() - stepped,
    }
