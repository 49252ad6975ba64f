"""Scripts of the kind that tutorials show print the same numbers on the drop-in, with only the import changed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mujoco")

HERE = Path(__file__).parent
SCRIPTS = sorted((HERE / "scripts").glob("*.py"))
QUICK = ("inverse_kinematics",)
"""Scripts that take little time on the reference."""


def run(script: Path, *how: str, backend: str = "auto") -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(HERE / "script_runner.py"), str(script), *how],
        env={**os.environ, "DOVETAIL_BACKEND": backend},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def words(text: str) -> list[str]:
    return re.sub(r"[\[\](),]", " ", text).split()


def compare(ours: str, theirs: str) -> None:
    """The same words, and numbers to 1e-6."""
    mine, other = words(ours), words(theirs)
    assert len(mine) == len(other) > 0
    for one, two in zip(mine, other, strict=True):
        try:
            assert float(one) == pytest.approx(float(two), rel=1e-6, abs=1e-6)
        except ValueError:
            assert one == two


def test_there_are_twelve_of_them() -> None:
    assert len(SCRIPTS) == 12


@pytest.mark.parametrize("script", [s for s in SCRIPTS if s.stem in QUICK], ids=lambda s: s.stem)
def test_prints_the_same_numbers_on_the_reference(script: Path) -> None:
    ours, theirs = run(script, "1", "drop-in", backend="numpy"), run(script, "1")
    assert not ours["mujoco"]
    assert theirs["mujoco"]
    compare(ours["printed"][0], theirs["printed"][0])


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda s: s.stem)
def test_prints_the_same_numbers(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = run(script, "drop-in"), run(script)
    assert not ours["mujoco"]
    for printed in ours["printed"]:
        compare(printed, theirs["printed"][0])
    ratio = min(theirs["seconds"][1:]) / min(ours["seconds"][1:])
    with capsys.disabled():
        print(f"\n{script.stem}: mujoco's time over the drop-in's {ratio:.2f}, processor time, second run")
