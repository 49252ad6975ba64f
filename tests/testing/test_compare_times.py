"""Which of two implementations is quicker: what is said agrees with the times that stand beside it."""

from __future__ import annotations

import math

import pytest

from dovetail.compare.ab import ABReport
from dovetail.compare.compiled import LoadingReport


def report(kind: type[ABReport], first: float, second: float, speedup: float) -> ABReport:
    return kind(
        model="m",
        stage="s",
        a="old@numpy",
        b="new@native",
        rows=(),
        comparisons=1,
        worlds=1,
        precision="f64",
        microseconds_a=first,
        microseconds_b=second,
        speedup=speedup,
    )


@pytest.mark.parametrize(
    ("first", "second", "speedup", "text"),
    [
        (100.0, 25.0, 4.2, "new@native is 4.0 times as fast as old@numpy"),
        (25.0, 100.0, 0.24, "old@numpy is 4.0 times as fast as new@native"),
        (3000.0, 10.0, 290.0, "new@native is 300 times as fast as old@numpy"),
        (86.1, 86.5, 0.97, "no notable difference"),
        (100.0, 80.0, 0.95, "no notable difference"),  # pairs say otherwise
        (80.0, 100.0, 1.05, "no notable difference"),
        (math.nan, math.nan, math.nan, "nothing was timed"),
    ],
)
def test_the_quicker_one_is_the_one_with_the_smaller_time(
    first: float, second: float, speedup: float, text: str
) -> None:
    found = report(ABReport, first, second, speedup)
    assert found.quicker() == text
    assert found.times().endswith(text)
    assert report(LoadingReport, first, second, speedup).times().endswith(text)


def test_both_times_are_told() -> None:
    assert (
        report(ABReport, 100.0, 25.0, 4.0)
        .times()
        .startswith("time per call: old@numpy 100.0 µs, new@native 25.0 µs; ")
    )
