"""What was measured: rows of figures, the machine they depend on, and a history of both in a file of JSON lines."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from dovetail import files, limits
from dovetail.errors import UnknownNameError
from dovetail.planning.costs import Cost


@attrs.frozen(kw_only=True)
class BenchRow:
    """One size of batch with one precision, number of threads and runtime."""

    nworld: int
    precision: str
    threads: int
    lanes: int
    runtime: str
    """Of the backend, where it can have several."""
    steps: int
    """Steps per call."""
    microseconds: float
    """Per step and world, median."""
    world_steps_per_second: float
    compile_seconds: float
    """Until the first step was done; less when the kernel was in the cache."""
    bytes_per_world: float
    """Of Data, keeping the state only; worlds that fill up the last tile included."""
    scaling: float
    """How many times as fast as with the first number of threads: median over pairs."""
    mujoco_microseconds: float | None = None
    ratio: float | None = None
    """How many times as fast as MuJoCo: median over pairs."""
    ratio_range: tuple[float, float] | None = None
    error: float | None = None
    """Largest error of qpos and qvel after one step, relative to MuJoCo's."""
    error_median: float | None = None
    """The median world's."""


@attrs.frozen(kw_only=True)
class BenchResult:
    """What was measured of one model, on what."""

    model: str
    nv: int
    backend: str
    repeat: int
    rolled_in: int
    """Steps that the worlds had made before the measurement."""
    contacts: float | None
    """Per world at the start of the measurement, by MuJoCo; likewise the next two."""
    constraint_rows: float | None
    solver_iterations: float | None
    rows: tuple[BenchRow, ...]
    notes: tuple[str, ...]
    machine: dict[str, Any]
    costs: tuple[Cost, ...] = ()
    """Choices that took a large share of the time."""

    def row(
        self, precision: str, threads: int = 1, *, nworld: int | None = None, runtime: str | None = None
    ) -> BenchRow:
        """The row of one configuration; the first batch and runtime unless said."""
        wanted = {"precision": precision, "threads": threads, "nworld": nworld, "runtime": runtime}
        given = {name: value for name, value in wanted.items() if value is not None}
        for row in self.rows:
            if all(getattr(row, name) == value for name, value in given.items()):
                return row
        raise UnknownNameError(f"{self.model} was not measured with {given}")

    def headline(self) -> str:
        text = f"{self.model} (nv {self.nv}) on {self.backend}, median of {self.repeat}"
        if self.contacts is None or self.constraint_rows is None:
            return text
        return f"{text}; a world has {self.contacts:.1f} contacts, {self.constraint_rows:.1f} constraint rows"

    def to_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)

    def append_to(self, path: str | Path) -> None:
        """Add this result to a history."""
        append_line(path, self.to_dict())


# ---- history


def append_line(path: str | Path, report: Mapping[str, Any]) -> None:
    """Add a report, with the time of day, as one line of JSON: in one write, on a line of its own even if the last
    writer was interrupted in the middle of one."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = json.dumps({"time": stamp, **report}) + "\n"
    with files.appending(path) as handle:
        os.write(handle, (_repair(handle) + line).encode())
        os.fsync(handle)


def _repair(handle: int) -> str:
    """The line end that a file lacks if its last line was cut."""
    size = os.fstat(handle).st_size
    if not size:
        return ""
    os.lseek(handle, size - 1, os.SEEK_SET)
    return "" if os.read(handle, 1) == b"\n" else "\n"


def read_history(path: str | Path) -> list[dict[str, Any]]:
    """The reports of a history, oldest first; a line that cannot be read is left out with a warning."""
    reports = []
    text = files.read_bytes(path, limits.HISTORY_BYTES).decode("utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            report = json.loads(line)
        except (ValueError, RecursionError):
            report = None
        if isinstance(report, dict):
            reports.append(report)
        else:
            warnings.warn(f"{path}:{number}: not a line of JSON, left out", stacklevel=2)
    return reports


# ---- machine


def machine() -> dict[str, Any]:
    """What the figures depend on besides the code."""
    packages = [name for name in ("taichi", "quadrants", "mujoco", "numpy") if name in sys.modules]
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": _load(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in packages},
    }


def _load() -> float | None:
    """Processes that wanted to run in the last minute, on average, where the system tells."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _processor() -> str:
    """The processor's name where the system tells it (Linux), else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
