"""dm_control's own tests, from where it is installed, on the drop-in: all pass that pass on mujoco without GL.

Another package of dm_control takes part with a line of `SUITES` for each module, which says how many tests it has.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

for _needed in ("mujoco", "dm_control", "dm_env", "absl.testing", "mock"):
    pytest.importorskip(_needed, reason=f"dm_control's tests need {_needed}: tox -e ecosystem has all of it")

RUNNER = Path(__file__).parent / "dm_control_test_runner.py"
SUITES = {
    "mjcf.attribute": 22,
    "mjcf.copier": 3,
    "mjcf.debugging": 7,
    "mjcf.element": 46,
    "mjcf.export_with_assets": 6,
    "mjcf.export_with_assets_as_zip": 3,
    "mjcf.physics": 55,
    "mjcf.skin": 1,
    "mjcf.traversal_utils": 5,
    "mjcf.xml_validation": 2,
}
"""Test modules of dm_control 1.0.36 and how many tests they have, so that none is overlooked."""
QUICK = ("mjcf.debugging", "mjcf.export_with_assets", "mjcf.skin", "mjcf.xml_validation")
"""Those that compile models and take a second or two."""
LEFT_OUT: dict[str, dict[str, str]] = {
    "mjcf.debugging": {
        "DebuggingTest.test_full_debug_dump": "errors do not say lines in MuJoCo's format",
        "DebuggingTest.test_physics_error_message_in_debug_mode": "errors do not say lines in MuJoCo's format",
    },
    "mjcf.export_with_assets": {
        f"ExportWithAssetsTest.test_export_model_{kind}": "a saved model has the path of its file"
        for kind in ("with_assets", "with_assetdir", "without_assets")
    },
}
"""Tests that do not pass on the drop-in, by module, each with its reason."""


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


def compare(suite: str, found: dict[str, str]) -> None:
    """As many tests as there are, and those that do not pass are those that are listed."""
    assert len(found) == SUITES[suite]
    failed = {name: text for name, text in found.items() if text != "passed"}
    listed = LEFT_OUT.get(suite, {})
    unexpected = {name: text for name, text in failed.items() if name not in listed}
    assert not unexpected, "\n".join(f"{name}:\n{text}" for name, text in unexpected.items())
    assert [name for name in listed if name not in failed] == []


def test_quick_tests_of_dm_control_pass(tmp_path: Path) -> None:
    for suite, found in outcomes(tmp_path, "drop-in", *QUICK, backend="numpy").items():
        compare(suite, found)


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_tests_of_dm_control_pass(suite: str, tmp_path: Path) -> None:
    compare(suite, outcomes(tmp_path, "drop-in", suite)[suite])


@pytest.mark.slow
def test_tests_of_dm_control_pass_on_mujoco(tmp_path: Path) -> None:
    for suite, found in outcomes(tmp_path, *SUITES).items():
        assert len(found) == SUITES[suite]
        assert {name: text for name, text in found.items() if text != "passed"} == {}


def test_every_module_of_tests_is_listed_or_left_out() -> None:
    from importlib.util import find_spec

    spec = find_spec("dm_control")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    there = {f"mjcf.{path.stem.removesuffix('_test')}" for path in folder.glob("mjcf/*_test.py")}
    assert there - set(SUITES) == {"mjcf.code_for_debugging"}  # it is code that another module tests
