"""Speed beside MuJoCo. The marked tests want a quiet machine; the others check the measuring itself."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from lane_backend import LANES
from reference_speed import CASES, started, steps_per_second

from dovetail.bench import BenchResult, Case, bench
from dovetail.bench import speed as measuring
from dovetail.config import Config
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.simulation import Simulation

SMALL = {"nworld": 3, "steps": 2, "repeat": 2, "precisions": ("f64",), "backend": "numpy", "roll_in": 0.0}

BALL = Case(
    "ball",
    """<mujoco><option timestep=".01"/><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 .3"><freejoint/><geom size=".1"/></body></worldbody></mujoco>""",
)
"""Falls for a quarter of a second, then lies on the floor."""


def test_without_mujoco_only_our_figures_are_given() -> None:
    result = bench("pendulum", **SMALL, with_mujoco=False)
    [row] = result.rows
    assert row.microseconds > 0
    assert row.world_steps_per_second == pytest.approx(1e6 / row.microseconds)
    assert (row.ratio, row.mujoco_microseconds, row.error) == (None, None, None)
    assert (result.contacts, result.constraint_rows) == (None, None)
    assert "MuJoCo was not measured" in result.notes[0]


def test_the_error_is_that_of_the_reference() -> None:
    pytest.importorskip("mujoco")
    row = bench("arm", **SMALL).row("f64")
    assert row.error is not None
    assert row.error < 1e-12
    assert row.error_median is not None
    assert row.error_median <= row.error
    assert row.ratio_range is not None
    assert row.ratio is not None
    assert row.ratio_range[0] <= row.ratio <= row.ratio_range[1]


def test_the_first_number_of_threads_is_the_measure_of_scaling() -> None:
    result = bench("pendulum", **SMALL, threads=(1, 2), with_mujoco=False)
    assert result.row("f64", 1).scaling == 1
    assert result.row("f64", 2).threads == 2


def test_every_combination_has_a_row() -> None:
    asked = SMALL | {"nworld": (1, 4), "precisions": ("f64", "f32"), "threads": (1, 2)}
    result = bench("pendulum", **asked, with_mujoco=False)
    found = {(row.nworld, row.precision, row.threads) for row in result.rows}
    assert found == {(n, p, t) for n in (1, 4) for p in ("f64", "f32") for t in (1, 2)}
    assert len(result.rows) == len(found)
    assert result.row("f32", 2, nworld=4).nworld == 4
    with pytest.raises(KeyError, match="was not measured"):
        result.row("f64", 3)


def test_memory_is_that_of_data_divided_among_the_worlds() -> None:
    result = bench("pendulum", **(SMALL | {"precisions": ("f64", "f32")}), with_mujoco=False)
    double, single = (result.row(precision).bytes_per_world for precision in ("f64", "f32"))
    data = Simulation("pendulum", nworld=3, backend="numpy", keep="state").data
    assert double == sum(buffer.nbytes for buffer in data.arena.buffers.values()) / 3
    assert double / 2 <= single < double


# ---- where worlds start


def test_worlds_roll_in_until_they_touch_the_ground() -> None:
    pytest.importorskip("mujoco")
    flying, lying = (bench(BALL, **(SMALL | {"roll_in": seconds})) for seconds in (0.0, 1.0))
    assert (flying.contacts, flying.constraint_rows, flying.rolled_in) == (0, 0, 0)
    assert (lying.contacts, lying.constraint_rows, lying.rolled_in) == (1, 4, 100)
    assert "1.0 contacts, 4.0 constraint rows" in lying.headline()
    assert lying.row("f64").error < 1e-8


def test_without_mujoco_dovetail_rolls_worlds_in() -> None:
    field = measuring.Contest.prepare(
        BALL,
        measuring.Measurement(nworld=(2,), backend="numpy", roll_in=1.0, with_mujoco=False),
        [],
        lambda text: None,
    )
    np.testing.assert_allclose(field.start.qpos[:, 2], 0.1, atol=0.01)
    assert field.rolled_in == 100


def test_rolling_in_stops_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "ROLL_IN_SECONDS", 0.0)
    result = bench(BALL, **(SMALL | {"roll_in": 1.0}), with_mujoco=False)
    assert result.rolled_in == 1
    assert any("rolled in for 1 steps only, instead of 100" in note for note in result.notes)


def test_a_large_batch_repeats_the_worlds_that_rolled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "DISTINCT", 2)
    request = measuring.Measurement(nworld=(5,), backend="numpy", roll_in=0.0, with_mujoco=False)
    field = measuring.Contest.prepare(BALL, request, [], lambda text: None)
    worlds = field.start.repeated(5)
    assert field.start.nworld == 2
    for name in (a.name for a in attrs.fields(type(worlds))):
        np.testing.assert_array_equal(getattr(worlds, name)[[2, 4]], getattr(worlds, name)[[0, 0]])
    assert not np.array_equal(worlds.qpos[0], worlds.qpos[1])


# ---- how long it may take


def test_the_budget_cuts_steps_first_and_says_so() -> None:
    result = bench("pendulum", **(SMALL | {"steps": 1000, "budget": 0.05}), with_mujoco=False)
    [row] = result.rows
    assert 1 <= row.steps < 1000
    assert any("to take no longer than 0.05 s" in note for note in result.notes)


def test_what_breaks_a_kernel_apart_is_told() -> None:
    """A stage on another backend cuts the kernel; one that others share kernel fields with takes them along."""
    text = measuring._mixture(_plan(BALL, bias_force="rne@numpy"))
    assert "segments, not one kernel: bias_force runs as rne@numpy" in text
    assert "fell back" in measuring._mixture(_plan(BALL, constraint_reference="@numpy"))
    assert measuring._mixture(_plan(BALL)) == ""


def _plan(case: Case, **stages: str) -> Plan:
    return compile_plan(case.load(), Config.of_call(stages, backend=LANES, keep="state"), nworld=8)


# ---- the reference


@pytest.mark.bench
def test_a_pile_costs_in_proportion_to_its_contacts() -> None:
    """Four times the bodies in a bin: about five times the contacts, and no quadratic growth of the time."""
    few, many = (started(CASES[name]) for name in ("pile_25", "pile_100"))
    growth = steps_per_second(few, 2.0)[1] / steps_per_second(many, 4.0)[1]
    assert growth < 1.6 * many.data.ncon / few.data.ncon


# ---- what dovetail promises for the built-in humanoid; how fast it is: tests/backends/taichi/test_lane_speed.py

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
@pytest.mark.parametrize(("precision", "most"), [("f64", 1e-9), ("f32", 1e-4)])
def test_speed_is_not_bought_with_accuracy(humanoid: BenchResult, precision: str, most: float) -> None:
    assert humanoid.row(precision).error <= most
