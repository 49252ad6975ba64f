"""Runs hostile inputs, each in a process of its own with limits, and measures them.

A fork of a process that has imported everything is cheap, starts from the same memory every time, and may crash or
hang without harm. Memory is what the process took beyond what it had when the call began.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from .case import MOST_BYTES, MOST_SECONDS, Case

HEADROOM = 3 << 30
"""Bytes of addresses that a case may take before allocation fails."""
PATIENCE = 20
"""Seconds of processor time after which a case counts as hanging."""


@attrs.frozen
class Outcome:
    """What came of a case."""

    case: Case
    error: str
    """Name of the type; "" if there was none."""
    typed: bool
    """Whether it is an error of dovetail's."""
    message: str
    seconds: float
    bytes: int
    factor: float = 1.0
    """Times the seconds it may take, on a busy machine."""

    @property
    def problem(self) -> str:
        """What is wrong with it, time and memory apart."""
        if self.error != self.case.error:
            return f"{self.error or 'no error'} instead of {self.case.error or 'none'}: {self.message[:300]}"
        if self.error and not self.typed:
            return f"{self.error} is no DovetailError"
        return "" if self.case.fragment in self.message else f"says: {self.message[:300]}"

    @property
    def excess(self) -> str:
        """Which limit it exceeds."""
        over = [f"{self.seconds:.2f} s"] if self.seconds > self.factor * MOST_SECONDS else []
        return ", ".join(over + ([f"{self.bytes >> 20} MB"] if self.bytes > MOST_BYTES else []))


def warm_up() -> None:
    """Import what every case would import."""
    import dovetail

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import lxml.etree  # noqa: F401
        import PIL.PngImagePlugin  # noqa: F401
        import scipy.spatial  # noqa: F401

        import dovetail.bench.results
        import dovetail.cli.run

        model = dovetail.loads(
            "<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>"
            "<worldbody><body><freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
        )
        dovetail.Simulation(model).step()


def run(cases: Iterable[Case], factor: float = 1.0) -> Iterator[Outcome]:
    """The outcome of every case."""
    for case in cases:
        yield attrs.evolve(run_one(case), factor=factor)


def run_one(case: Case) -> Outcome:
    reading, writing = os.pipe()
    folder = Path(tempfile.mkdtemp())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which the child does not use
        child = os.fork()
    if child == 0:
        os.close(reading)
        _in_child(case, folder, writing)
    os.close(writing)
    try:
        with os.fdopen(reading, "rb") as stream:
            told = stream.read()
        status = os.waitpid(child, 0)[1]
    finally:
        _remove(folder)
    if not told:
        return Outcome(case, _ending(status), False, "the process ended", float(PATIENCE), 0)
    return Outcome(case, *json.loads(told))


def _remove(folder: Path) -> None:
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit {os.WEXITSTATUS(status)}"


def _in_child(case: Case, folder: Path, writing: int) -> None:
    """Run the case and tell the parent; never returns."""
    try:
        warnings.simplefilter("ignore")
        silence = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(silence, descriptor)
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 1))
        signal.alarm(3 * PATIENCE)
        call = case.build(folder)
        own = _status("VmSize") + HEADROOM
        resource.setrlimit(resource.RLIMIT_AS, (own, own))
        os.write(writing, json.dumps(_measured(call)).encode())
    finally:
        os._exit(0)


def _measured(call: Any) -> tuple[str, bool, str, float, int]:
    from dovetail.errors import DovetailError

    _forget_peak()
    before = _status("VmRSS")
    start = time.process_time()
    try:
        call()
        error, typed, message = "", True, ""
    except BaseException as problem:
        error, typed, message = type(problem).__name__, isinstance(problem, DovetailError), str(problem)
    seconds = time.process_time() - start
    return error, typed, message[:20_000], seconds, max(0, _status("VmHWM") - before)


def _forget_peak() -> None:
    """Let the highest memory be today's: what preparing the input took does not count."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _status(name: str) -> int:
    """Bytes of this process, as Linux tells."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    raise LookupError(name)
