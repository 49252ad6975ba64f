"""Batches in lanes along MuJoCo's trajectories: in every world the same numbers of contacts and of constraint rows,
and the same accelerations and velocities; then free runs of a hundred steps.

The default run takes few worlds, steps and models; `tox -e batches` takes 1024 worlds, 200 steps and every model of
Gymnasium, of dm_control's suite and of our own (boxes, meshes, tendons, equalities, both cones), and prints a table.
"""

from __future__ import annotations

import pytest
from batches import ALL, HEAD, Result, along_trajectories, running_free

pytest.importorskip("mujoco")

QUICK = [name for name in ("suite/finger", "scene/walker/elliptic") if name in ALL]
FEW = (4, 40)
"""Worlds and steps of models that do not run in lanes altogether."""

TIED = 1e-5
"""Part of the steps in which a count may differ: the last bit decides whether exactly parallel edges touch, and two
sines of a thousand are rounded otherwise than the C library's. In suite/stacker it is one step of 200 000."""
SOLVED = 1e-7
"""Of accelerations, relative to the largest: the solvers stop where another iteration would gain less."""
STEPPED = 1e-9
"""Of velocities and positions after one step."""
FREE = 1e-6
"""After a hundred steps, as for one world (test_contact_trajectories)."""


KNOWN = {
    "scene/workshop/elliptic": "accelerations differ by up to 3e-6 though all counts agree; the cause is not known",
    "suite/dog": "a cylinder on a box: the last bit of a pose moves the normal by 1e-5 and accelerations by 1e-6, in "
    "one step of a thousand, as it does in MuJoCo when its own pose is moved by that bit",
}
"""What was found and is not mended; a test that passes unexpectedly fails, so that its line goes."""
EVERY = [
    pytest.param(name, marks=pytest.mark.xfail(reason=KNOWN[name], strict=True) if name in KNOWN else ())
    for name in ALL
]


def check(result: Result) -> None:
    assert max(result.wrong.values()) <= TIED * result.nworld * result.nstep, result.row()
    assert result.errors["qacc"] <= SOLVED, result.row()
    assert max(result.errors["qvel"], result.errors["qpos"]) <= STEPPED, result.row()


@pytest.mark.parametrize(
    "name", [QUICK[0], *(pytest.param(name, marks=pytest.mark.slow) for name in QUICK[1:])]
)
def test_counts_and_results_are_mujocos_in_every_world(name: str) -> None:
    result = along_trajectories(name, nworld=13, nstep=60, few=FEW)
    check(result)
    assert result.most["nefc"] > 0


@pytest.mark.parametrize("name", QUICK[:1])
def test_free_runs_stay_beside_mujocos(name: str) -> None:
    result = running_free(name, nworld=13, nstep=100)
    assert max(result.errors["qvel"], result.errors["qpos"]) <= FREE, result.row()


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_counts_and_results_are_mujocos_in_a_thousand_worlds(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = along_trajectories(name, nworld=1024, nstep=200, few=FEW)
    with capsys.disabled():
        print(f"\n{HEAD}\n{result.row()}")
    check(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_free_runs_of_many_worlds_stay_beside_mujocos(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = running_free(name, nworld=32, nstep=100)
    with capsys.disabled():
        print(f"\n{HEAD}\n{result.row()}")
    assert max(result.errors["qvel"], result.errors["qpos"]) <= FREE, result.row()
