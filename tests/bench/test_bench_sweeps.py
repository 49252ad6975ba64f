"""Cost over size: the fitted line, and how points become series."""

from __future__ import annotations

import pytest

from dovetail.bench import Measurement, find
from dovetail.bench.sweeps import Fit, sweep

QUICK = Measurement(
    nworld=(2,), precisions=("f64",), steps=1, repeat=1, backend="numpy", roll_in=0.0, with_mujoco=False
)


def test_a_line_is_found_exactly() -> None:
    fit = Fit.of([1, 10, 100, 1000], [5 + 2 * x for x in (1, 10, 100, 1000)])
    assert (fit.base, fit.slope) == (pytest.approx(5), pytest.approx(2))
    assert fit.deviation < 1e-12
    assert fit.at(50) == pytest.approx(105)


def test_the_deviation_is_relative_and_tells_a_curve_from_a_line() -> None:
    """A square over a factor of ten: the best line is off by tens of per cent at the small end."""
    sizes = [1, 2, 5, 10]
    assert Fit.of(sizes, [x**2 for x in sizes]).deviation > 0.3
    assert Fit.of(sizes, [1000 + 1.01 * x for x in sizes]).deviation < 1e-6


def test_small_sizes_count_as_much_as_large_ones() -> None:
    """One per cent off at the largest size must not spoil the base, which is a thousandth of it."""
    sizes = [1, 10, 100, 1000]
    costs = [10 + 10 * x for x in sizes]
    costs[-1] *= 1.01
    assert Fit.of(sizes, costs).base == pytest.approx(10, rel=0.05)


def test_worlds_are_swept_on_the_model_asked_for() -> None:
    result = sweep("nworld", find("pendulum"), QUICK, sizes=(1, 2, 4))
    [series] = result.series
    assert series.sizes == (1, 2, 4)
    assert series.costs[2] == pytest.approx(4 * result.results[0].row("f64", nworld=4).microseconds)
    assert series.fit is not None


def test_degrees_of_freedom_are_those_of_the_generated_models() -> None:
    result = sweep("nv", find("pendulum"), QUICK, sizes=(1, 2))
    [series] = result.series
    assert series.sizes == (8, 16)
    assert series.fit is None  # two points are always on a line


def test_contacts_are_counted_by_mujoco_and_it_has_a_series() -> None:
    pytest.importorskip("mujoco")
    from attrs import evolve

    result = sweep("ncon", find("pendulum"), evolve(QUICK, with_mujoco=True, roll_in=0.1), sizes=(0, 3))
    ours, theirs = result.series
    assert ours.sizes == theirs.sizes == (0, 3)
    assert theirs.name == "MuJoCo × 1"
