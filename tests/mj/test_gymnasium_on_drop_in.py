"""gymnasium's MuJoCo environments run unchanged on the drop-in, with mujoco's observations and rewards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("gymnasium")

RUNNER = Path(__file__).parent / "gymnasium_runner.py"
CLASSES = (
    *("Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "InvertedDoublePendulum"),
    *("InvertedPendulum", "Pusher", "Reacher", "Swimmer", "Walker2d"),
)


def run(name: str, steps: int, *how: str, backend: str = "auto") -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(RUNNER), f"{name}-v5", str(steps), *how],
        env={**os.environ, "DOVETAIL_BACKEND": backend},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def check(name: str, steps: int, backend: str) -> None:
    theirs, ours = run(name, steps), run(name, steps, "drop-in", backend=backend)
    assert (theirs["module"], ours["module"]) == ("mujoco", "dovetail.mj")
    assert len(ours["obs"]) == len(theirs["obs"]) > steps
    for mine, other in zip(ours["obs"], theirs["obs"], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours["rewards"], theirs["rewards"], rtol=1e-8, atol=1e-8)


@pytest.mark.by_default("Reacher")
@pytest.mark.parametrize("name", ["Reacher", "Swimmer"])
def test_observations_and_rewards_are_mujocos_on_the_reference(name: str) -> None:
    check(name, 20, "numpy")


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_observations_and_rewards_are_mujocos(name: str) -> None:
    check(name, 200, "auto")
