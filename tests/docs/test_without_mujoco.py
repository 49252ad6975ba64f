"""Where MuJoCo is not installed, as on Pythons for which 3.4.0 has no wheel, tests that import it skip themselves.
Other tests do not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pages
import pytest

FILES = {
    "whole_file": "import mujoco\ndef test_one(): pass\n",
    "in_a_test": "def test_one():\n    import mujoco.renderer\n",
    "in_a_fixture": (
        "import pytest\n@pytest.fixture\ndef oracle(): import mujoco\ndef test_one(oracle): pass\n"
    ),
    "misspelt": "import mujoko\n",
    "misspelt_in_a_test": "def test_one():\n    import mujoko\n",
    "plain": "def test_one(): pass\n",
}
HIDDEN = """
import importlib.machinery, sys, pytest
found = importlib.machinery.PathFinder.find_spec
def hide(cls, name, *where): return None if name.split(".")[0] == "mujoco" else found(name, *where)
importlib.machinery.PathFinder.find_spec = classmethod(hide)
sys.exit(pytest.main(sys.argv[1:]))
"""
"""Runs pytest as if MuJoCo were not installed."""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What became of each file, beside the conftest of the suite: `passed`, or pytest's word for what happened."""
    folder = tmp_path_factory.mktemp("suite")
    shutil.copy(pages.ROOT / "tests" / "conftest.py", folder)
    for name, text in FILES.items():
        (folder / f"test_{name}.py").write_text(text)
    report = folder / "report.xml"
    settings = [
        *("-c", str(pages.ROOT / "pyproject.toml"), "--rootdir", str(folder), f"--junitxml={report}"),
        *("-p", "no:xdist", "-p", "no:cacheprovider", "--continue-on-collection-errors"),
    ]
    python = [sys.executable, "-c", HIDDEN]
    run = subprocess.run([*python, *settings, str(folder)], cwd=folder, capture_output=True, text=True)
    assert report.is_file(), run.stdout + run.stderr
    cases = ElementTree.parse(report).iter("testcase")
    return {
        (case.get("classname") or case.get("name", "")).removeprefix("test_"): next(
            (child.tag for child in case), "passed"
        )
        for case in cases
    }


@pytest.mark.parametrize("file", ["whole_file", "in_a_test", "in_a_fixture"])
def test_what_imports_mujoco_is_skipped(outcomes: dict[str, str], file: str) -> None:
    assert outcomes[file] == "skipped"


def test_other_imports_still_fail(outcomes: dict[str, str]) -> None:
    assert outcomes["misspelt"] == "error"
    assert outcomes["misspelt_in_a_test"] == "failure"


def test_what_imports_nothing_runs(outcomes: dict[str, str]) -> None:
    assert outcomes["plain"] == "passed"
