"""A part of the lane tests on both runtimes of Taichi, as a second opinion on what the native printer says.

The runtimes abort the process when something cannot be compiled, so each is tried in processes of its own. `tox -e
second-opinion` runs all tests of lanes on both.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LANE_TESTS = Path(__file__).parents[1] / "lanes"
RUNTIMES = ("quadrants", "taichi")
"""The usual one first: it compiles in half the time."""

LANGUAGE = (
    "test_lane_language.py::test_threads_and_lanes_change_no_bit",
    "test_lane_language.py::test_what_a_later_stage_reads_is_computed",
    "test_lane_lists.py",
    "test_lane_exports.py",
    "test_batch_robust_room.py::test_a_tile_that_lacks_room_is_untouched_and_says_how_much_it_needs",
)
STEPS = (
    "test_fused_step.py::test_every_field_is_mujocos[Euler-1]",
    "test_batch_watch.py::test_a_frozen_world_keeps_the_state_it_had_before",
)
CONTACTS = "test_batch_contacts.py::test_contacts_and_rows_are_those_of_the_reference"
"""Kernels of the runtimes leave contacts and rows in an outbox, which native kernels do not have."""


def on(runtime: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the lane tests are, with one runtime for lanes."""
    pytest.importorskip(runtime)
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "TEST_LANES": runtime, "PYTHONPATH": os.pathsep.join(map(str, paths()))},
        cwd=LANE_TESTS,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


def paths() -> list[Path]:
    """Where the tests' own modules are."""
    return [LANE_TESTS, LANE_TESTS.parents[1], LANE_TESTS.parents[1] / "stages"]


def both(*quick: str) -> list[Any]:
    """Both runtimes, of which some are for the default suite."""
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in RUNTIMES]


@pytest.mark.parametrize(
    ("runtime", "precision"),
    [
        ("quadrants", "f64"),
        pytest.param("quadrants", "f32", marks=pytest.mark.slow),
        pytest.param("taichi", "f64", marks=pytest.mark.slow),
        pytest.param("taichi", "f32", marks=pytest.mark.slow),
    ],
)
def test_operations_neither_abort_nor_differ_from_numpy(runtime: str, precision: str) -> None:
    done = on(runtime, "test_lane_operations.py", runtime, precision)
    assert done.returncode == 0, f"died in {done.stdout.split()[-1:]}:\n{done.stderr[-2000:]}"
    assert done.stdout.split()[-1] == "done"


@pytest.mark.slow
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_worlds_one_by_one_neither_abort_nor_differ_from_numpy(runtime: str) -> None:
    done = on(runtime, "test_lane_worlds.py", runtime)
    assert done.returncode == 0, f"died in {done.stdout.split()[-1:]}:\n{done.stderr[-2000:]}"
    assert done.stdout.split()[-1] == "done"


def assert_passed(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout.splitlines()[-1]
    assert "skipped" not in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("runtime", both("taichi"))
def test_the_language_means_the_same(runtime: str) -> None:
    assert_passed(on(runtime, "-m", "pytest", "-q", "-p", "no:cacheprovider", *LANGUAGE))


@pytest.mark.slow
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_whole_steps_do_the_same(runtime: str) -> None:
    assert_passed(on(runtime, "-m", "pytest", "-q", "-p", "no:cacheprovider", *STEPS))


@pytest.mark.parametrize("runtime", both("quadrants"))
def test_contacts_and_rows_land_as_those_of_the_reference(runtime: str) -> None:
    assert_passed(on(runtime, "-m", "pytest", "-q", "-p", "no:cacheprovider", CONTACTS))
