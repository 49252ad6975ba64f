"""What is drawn of a measurement: speeds of models side by side, or cost over a size with its fitted line."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.bench.results import BenchResult
from dovetail.bench.sweeps import Series, Sweep
from dovetail.chart import Chart, Curve


def of_sweep(sweep: Sweep) -> Chart:
    """Cost over size; over worlds with logarithmic axes."""
    logarithmic = sweep.over == "nworld"
    return Chart(
        title=f"cost of a step over {sweep.over}" + (f": {sweep.results[0].model}" if logarithmic else ""),
        x_label=sweep.x_label,
        y_label=sweep.y_label,
        curves=[Curve(name=s.name, x=s.sizes, y=s.costs, fitted=_fitted(s)) for s in sweep.series],
        logarithmic=logarithmic,
        from_zero=True,
    )


def _fitted(series: Series) -> list[tuple[float, float]]:
    """Points of a series' fitted line, close enough for it to look right on logarithmic axes."""
    if series.fit is None:
        return []
    low, high = 1 + min(series.sizes), 1 + max(series.sizes)
    sizes = [low * (high / low) ** (n / 40) - 1 for n in range(41)]
    return [(size, series.fit.at(size)) for size in sizes]


def of_results(results: Sequence[BenchResult]) -> Chart:
    """Speed of each model: in multiples of MuJoCo's where it was measured, else in microseconds."""
    beside = all(row.ratio is not None for result in results for row in result.rows)
    points: dict[str, list[tuple[float, float]]] = {}
    for place, result in enumerate(results):
        for row in result.rows:
            parts = (row.precision, row.runtime, f"{row.nworld} worlds", f"× {row.threads}")
            value = row.ratio if beside and row.ratio is not None else row.microseconds
            points.setdefault(" ".join(filter(None, parts)), []).append((place, value))
    return Chart(
        title="speed of batches",
        x_label="",
        y_label="times as fast as MuJoCo" if beside else "µs per step and world",
        curves=[Curve(name=name, x=[x for x, _ in at], y=[y for _, y in at]) for name, at in points.items()],
        names=[result.model for result in results],
        from_zero=True,
    )
