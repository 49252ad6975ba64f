"""What is drawn of a measurement."""

from __future__ import annotations

import attrs
import pytest
from bench_results import RESULT

from dovetail.bench.chart import of_results, of_sweep
from dovetail.bench.sweeps import Fit, Series, Sweep


def swept(over: str, fit: Fit | None) -> Sweep:
    series = Series(name="f64 × 1", sizes=(8.0, 16.0, 32.0), costs=(1.0, 2.1, 4.0), fit=fit)
    return Sweep(over=over, x_label="nv", y_label="µs", series=(series,), results=(RESULT,))


def test_results_are_drawn_beside_mujoco_where_it_was_measured() -> None:
    beside = of_results([RESULT])
    assert (beside.y_label, beside.names) == ("times as fast as MuJoCo", ["arm"])
    [curve] = beside.curves
    assert (curve.name, curve.x, curve.y) == ("f64 8 worlds × 1", [0], [4.0])


def test_results_without_mujoco_are_drawn_in_microseconds() -> None:
    row = attrs.evolve(RESULT.rows[0], ratio=None)
    alone = of_results([attrs.evolve(RESULT, rows=(row,))])
    assert alone.y_label == "µs per step and world"
    assert alone.curves[0].y == [row.microseconds]


def test_a_sweep_is_drawn_with_its_series() -> None:
    chart = of_sweep(swept("nv", None))
    [curve] = chart.curves
    assert (curve.name, curve.x, curve.y) == ("f64 × 1", (8.0, 16.0, 32.0), (1.0, 2.1, 4.0))
    assert not curve.fitted
    assert not chart.logarithmic


def test_worlds_are_drawn_over_logarithmic_axes() -> None:
    chart = of_sweep(swept("nworld", None))
    assert chart.logarithmic
    assert "arm" in chart.title


def test_a_fitted_line_reaches_from_the_smallest_size_to_the_largest() -> None:
    fit = Fit.of((8, 16, 32), (1, 2, 4))
    [curve] = of_sweep(swept("nv", fit)).curves
    assert curve.fitted[0] == pytest.approx((8, fit.at(8)))
    assert curve.fitted[-1] == pytest.approx((32, fit.at(32)))
