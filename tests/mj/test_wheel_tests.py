"""MuJoCo's own Python tests, from its installed wheel, on the drop-in: all pass but those that are listed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from left_out import LEFT_OUT, SKIPPED_BY_MUJOCO

pytest.importorskip("mujoco")
pytest.importorskip("absl.testing")

HERE = Path(__file__).parent
COUNTS = {"bindings": 115, "rollout": 66, "minimize": 9, "specs": 39}
"""Tests in the modules of mujoco 3.4.0, so that none is overlooked."""
FLOOR = {"bindings": 0.9, "rollout": 0.9, "minimize": 1.0, "specs": 0.6}
"""Least part of them that must pass."""
QUICK_ROLLOUTS = (
    "multi_step",
    "infer",
    "fixed_ctrl",
    "generalized",
    "mocap",
    "stateless",
    "invalid",
    "sizes",
)


def outcomes(suite: str, *chosen: str, backend: str) -> dict[str, str]:
    """What became of the tests of a module, in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(HERE / "wheel_runner.py"), suite, *chosen],
        env={**os.environ, "DOVETAIL_BACKEND": backend},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, str] = json.loads(done.stdout)
    return found


def compare(suite: str, found: dict[str, str]) -> None:
    """Those that fail are those that are listed."""
    skipped = {name for name, outcome in found.items() if outcome == "skipped"}
    assert skipped <= SKIPPED_BY_MUJOCO.get(suite, set())
    failed = {name: text for name, text in found.items() if text not in ("passed", "skipped")}
    unexpected = {name: text for name, text in failed.items() if name not in LEFT_OUT[suite]}
    assert not unexpected, "\n".join(f"{name}:\n{text}" for name, text in unexpected.items())
    assert [name for name in LEFT_OUT[suite] if name in found and name not in failed] == []


@pytest.mark.parametrize("suite", ["bindings", "minimize"])
def test_tests_of_the_wheel_pass_on_the_reference(suite: str) -> None:
    found = outcomes(suite, backend="numpy")
    assert len(found) == COUNTS[suite]
    compare(suite, found)


@pytest.mark.slow
def test_rollouts_of_the_wheel_pass_on_the_reference() -> None:
    found = outcomes("rollout", *QUICK_ROLLOUTS, backend="numpy")
    assert len(found) > 30
    compare("rollout", found)


@pytest.mark.slow
@pytest.mark.parametrize("suite", COUNTS)
def test_tests_of_the_wheel_pass_in_kernels(suite: str) -> None:
    found = outcomes(suite, backend="auto")
    assert len(found) == COUNTS[suite]
    compare(suite, found)
    passed = sum(outcome == "passed" for outcome in found.values())
    assert passed >= FLOOR[suite] * len(found)


def test_every_test_that_is_left_out_has_a_reason_in_the_documentation() -> None:
    page = (HERE.parents[1] / "docs" / "howto" / "drop-in.md").read_text()
    for tests in LEFT_OUT.values():
        for name, reason in tests.items():
            assert name in page
            assert reason in page
