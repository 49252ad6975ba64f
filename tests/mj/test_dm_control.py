"""dm_control's own tests, from where it is installed, on the drop-in: all pass that pass on mujoco without OpenGL.

What is run, how many tests that are, and what does not pass stands in `dm_control_suites`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dm_control_suites import IN_KERNELS, LEFT_OUT, NOT_RUN, SUITES

for _needed in ("mujoco", "dm_control", "dm_env", "absl.testing", "labmaze", "mock", "tree"):
    pytest.importorskip(_needed, reason=f"dm_control's tests need {_needed}: tox -e ecosystem has all of it")

RUNNER = Path(__file__).parent / "dm_control_test_runner.py"
QUICK = ("mjcf.debugging", "mjcf.export_with_assets", "mjcf.skin", "mjcf.xml_validation", "mujoco.index")
"""Those that compile models and take a second or two."""


def outcomes(folder: Path, *words: str, backend: str = "auto") -> dict[str, Any]:
    """What became of the tests of modules, in a process of their own."""
    done = subprocess.run(
        [sys.executable, str(RUNNER), str(folder), *words],
        env={**os.environ, "DOVETAIL_BACKEND": backend, "MUJOCO_GL": "disable"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert told["on"] == ("dovetail.mj" if words[0] == "drop-in" else "mujoco")
    found: dict[str, Any] = told["found"]
    return found


def passed(found: dict[str, str]) -> set[str]:
    return {name for name, text in found.items() if text == "passed"}


def compare(suite: str, found: dict[str, str], wanted: set[str]) -> None:
    """As many tests as there are; those that do not pass, of those that should, are those that are listed."""
    assert len(found) == SUITES[suite][0]
    failed = wanted - passed(found)
    listed = set(LEFT_OUT.get(suite, {}))
    assert failed <= listed, "\n".join(f"{name}:\n{found.get(name)}" for name in failed - listed)
    assert listed <= failed


def test_quick_tests_of_dm_control_pass(tmp_path: Path) -> None:
    for suite, found in outcomes(tmp_path, "drop-in", *QUICK, backend="numpy").items():
        assert SUITES[suite][0] == SUITES[suite][1]
        compare(suite, found, set(found))


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_tests_of_dm_control_pass_that_pass_on_mujoco(suite: str, tmp_path: Path) -> None:
    theirs = outcomes(tmp_path, suite)[suite]
    assert (len(theirs), len(passed(theirs))) == SUITES[suite]
    backend = "auto" if suite.startswith(IN_KERNELS) else "numpy"
    compare(suite, outcomes(tmp_path, "drop-in", suite, backend=backend)[suite], passed(theirs))


def test_every_module_of_tests_is_listed_or_left_out() -> None:
    from importlib.util import find_spec

    spec = find_spec("dm_control")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*_test.py"))
    there = {path.removesuffix("_test.py").replace("/", ".") for path in paths}
    not_run = {module for module in there if any(f"{module}.".startswith(f"{one}.") for one in NOT_RUN)}
    assert there - not_run == set(SUITES)
    assert not not_run & set(SUITES)
    assert all(module in SUITES for module in LEFT_OUT)
