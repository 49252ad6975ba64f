"""Hostile inputs get their error, in time, without taking the machine's memory.

One child imports everything once and forks for each case (see `driver`); `python -m tests.attacks.table` prints
the figures. Processor time is allowed to be three times what the table asks for: other work slows it down.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .table import SUBJECTS

TESTS = Path(__file__).parent.parent
FEWEST = 150
"""Hostile inputs in all."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and measurements are Linux's")


def _run(*words: str) -> str:
    command = [sys.executable, "-m", "attacks.table", "--factor", "3", *words]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=900, check=False)
    bad = [line for line in done.stdout.splitlines() if "<--" in line]
    assert not bad, "\n".join(bad)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_every_hostile_input_gets_its_error() -> None:
    quick = [case for cases in SUBJECTS.values() for case in cases if not case.slow]
    assert f"{len(quick)} cases, 0 bad" in _run("--quick")


def test_there_are_many() -> None:
    assert sum(map(len, SUBJECTS.values())) >= FEWEST


def test_names_are_unique() -> None:
    names = [case.name for cases in SUBJECTS.values() for case in cases]
    assert len(names) == len(set(names))


def test_a_crash_a_hang_and_a_wrong_error_are_noticed(tmp_path: Path) -> None:
    """The driver itself can fail a case."""
    from . import driver
    from .case import Case

    def wait() -> None:
        import signal

        signal.alarm(1)
        signal.pause()

    def crash() -> None:
        import ctypes
        import faulthandler

        faulthandler.disable()  # its report would look like a crash of the tests
        ctypes.string_at(0)

    calls = {"SIGALRM": wait, "SIGSEGV": crash, "ZeroDivisionError": lambda: 1 / 0}
    for expected, call in calls.items():
        outcome = driver.run_one(Case("x", "MJCFError", "", lambda folder, call=call: call))
        assert outcome.error == expected
        assert outcome.problem


def test_time_and_memory_are_measured() -> None:
    from . import driver
    from .case import Case

    outcome = driver.run_one(Case("x", "", "", lambda folder: lambda: bytearray(300 << 20).count(0)))
    assert outcome.bytes > 290 << 20
    assert "MB" in outcome.excess
