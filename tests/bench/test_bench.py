"""Speed beside MuJoCo. The marked tests want a quiet machine; the others check the measuring itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reference_speed import CASES, started, steps_per_second

from dovetail.bench import BenchResult, bench

SMALL = {"nworld": 3, "steps": 2, "repeat": 2, "precisions": ("f64",), "backend": "numpy"}


def test_without_mujoco_only_our_figures_are_given() -> None:
    result = bench("pendulum", **SMALL, with_mujoco=False)
    [row] = result.rows
    assert row.microseconds > 0
    assert row.world_steps_per_second == pytest.approx(1e6 / row.microseconds)
    assert (row.ratio, row.mujoco_microseconds, row.error) == (None, None, None)
    assert "MuJoCo was not measured" in result.notes[0]


def test_the_error_is_that_of_the_reference() -> None:
    pytest.importorskip("mujoco")
    row = bench("arm", **SMALL).row("f64")
    assert row.error is not None
    assert row.error < 1e-12
    assert row.ratio_range is not None
    assert row.ratio is not None
    assert row.ratio_range[0] <= row.ratio <= row.ratio_range[1]


def test_the_first_number_of_threads_is_the_measure_of_scaling() -> None:
    result = bench("pendulum", **SMALL, threads=(1, 2), with_mujoco=False)
    assert result.row("f64", 1).scaling == 1
    assert result.row("f64", 2).threads == 2


def test_the_history_is_one_line_of_json_per_run(tmp_path: Path) -> None:
    result = bench("pendulum", **SMALL, with_mujoco=False)
    for _ in range(2):
        result.append_to(tmp_path / "history.jsonl")
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert len(lines) == 2
    assert json.loads(lines[0])["rows"][0]["microseconds"] == result.rows[0].microseconds


# ---- the reference


@pytest.mark.bench
def test_a_pile_costs_in_proportion_to_its_contacts() -> None:
    """Four times the bodies in a bin: about five times the contacts, and no quadratic growth of the time."""
    few, many = (started(CASES[name]) for name in ("pile_25", "pile_100"))
    growth = steps_per_second(few, 2.0)[1] / steps_per_second(many, 4.0)[1]
    assert growth < 1.6 * many.data.ncon / few.data.ncon


# ---- the figures dovetail promises, for the built-in humanoid

BATCH = 1024
QUIET = 1.6
"""What MuJoCo must gain by a second thread for the machine to count as free."""


@pytest.fixture(scope="module")
def humanoid() -> BenchResult:
    pytest.importorskip("mujoco")
    result = bench("humanoid", nworld=BATCH, threads=(1, 2), repeat=15)
    for row in result.rows:
        print(f"{row.precision} × {row.threads}: {row.ratio:.2f} times MuJoCo, scaling {row.scaling:.2f}")
    return result


@pytest.mark.bench
@pytest.mark.parametrize(("precision", "least"), [("f64", 2.5), ("f32", 4.5)])
def test_a_batch_is_several_times_as_fast_as_mujoco(
    humanoid: BenchResult, precision: str, least: float
) -> None:
    assert humanoid.row(precision).ratio >= least


@pytest.mark.bench
@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_two_threads_are_nearly_twice_as_fast(humanoid: BenchResult, precision: str) -> None:
    one, two = humanoid.row(precision, 1), humanoid.row(precision, 2)
    assert one.mujoco_microseconds is not None
    assert two.mujoco_microseconds is not None
    gain = one.mujoco_microseconds / two.mujoco_microseconds
    if gain < QUIET:
        pytest.skip(f"two cores are not free: MuJoCo itself gains only {gain:.2f}")
    assert two.scaling >= 1.7


@pytest.mark.bench
@pytest.mark.parametrize(("precision", "most"), [("f64", 1e-12), ("f32", 1e-4)])
def test_speed_is_not_bought_with_accuracy(humanoid: BenchResult, precision: str, most: float) -> None:
    assert humanoid.row(precision).error <= most
