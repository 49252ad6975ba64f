"""dm_control's suite runs on the drop-in, with mujoco's observations and rewards."""

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
pytest.importorskip("dm_control")
pytest.importorskip("dm_env")

RUNNER = Path(__file__).parent / "dm_control_runner.py"
TASKS = (
    *("acrobot/swingup", "ball_in_cup/catch", "cartpole/balance", "cheetah/run", "finger/spin", "fish/swim"),
    *("hopper/hop", "humanoid/walk", "lqr/lqr_2_1", "manipulator/bring_ball", "pendulum/swingup"),
    *(
        "point_mass/easy",
        "quadruped/walk",
        "reacher/easy",
        "stacker/stack_2",
        "swimmer/swimmer6",
        "walker/run",
    ),
)
"""A task of every domain but the dog, whose contacts MuJoCo's own rounding moves by 2e-5."""


def run(tasks: tuple[str, ...], steps: int, *how: str, backend: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(RUNNER), str(steps), *how, *tasks],
        env={**os.environ, "DOVETAIL_BACKEND": backend, "MUJOCO_GL": "disable"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def check(tasks: tuple[str, ...], steps: int, backend: str) -> None:
    theirs, ours = run(tasks, steps, backend=backend), run(tasks, steps, "drop-in", backend=backend)
    assert (theirs["module"], ours["module"]) == ("mujoco", "dovetail.mj")
    for task in tasks:
        np.testing.assert_allclose(
            ours["seen"][task], theirs["seen"][task], rtol=1e-8, atol=1e-8, err_msg=task
        )


def test_a_task_is_mujocos_on_the_reference() -> None:
    check(("pendulum/swingup",), 5, "numpy")


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_tasks_are_mujocos(task: str) -> None:
    check((task,), 20, "auto")
