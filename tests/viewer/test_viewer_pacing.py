"""Real time without a clock: what is due, what is given up, what is measured."""

from __future__ import annotations

import pytest

from dovetail.viewer.pacing import MOST_BEHIND, Meter, Pacer, speed_of


def test_no_step_is_due_before_it_starts_or_after_it_stops() -> None:
    pacer = Pacer(0.01)
    assert pacer.due(5.0) == 0
    pacer.start(5.0)
    assert pacer.due(5.05) == 5
    pacer.stop()
    assert pacer.due(9.0) == 0


def test_steps_keep_up_with_the_clock_at_the_speed_asked_for() -> None:
    for speed in (0.25, 1.0, 4.0):
        pacer = Pacer(0.002, speed=speed)
        pacer.start(0.0)
        taken = 0
        for frame in range(1, 601):
            now = frame / 60
            due = pacer.due(now)
            taken += due
            pacer.took(due, now)
        assert taken * 0.002 == pytest.approx(10 * speed, abs=0.002)


def test_time_that_a_slow_simulation_lost_is_not_made_up_for() -> None:
    pacer = Pacer(0.01)
    pacer.start(0.0)
    pacer.took(1, 10.0)  # ten seconds for one step
    assert pacer.due(10.0) == 0
    assert pacer.due(10.02) == 2


def test_a_short_lag_is_made_up_for() -> None:
    pacer = Pacer(0.01)
    pacer.start(0.0)
    pacer.took(1, MOST_BEHIND / 2)
    assert pacer.due(MOST_BEHIND / 2) == 4


def test_another_speed_counts_from_the_moment_it_is_set() -> None:
    pacer = Pacer(0.01)
    pacer.start(0.0)
    pacer.took(pacer.due(1.0), 1.0)
    pacer.set_speed(2.0, 1.0)
    assert pacer.due(1.1) == 20


def test_the_meter_measures_the_last_second() -> None:
    meter = Meter()
    assert meter.factor == 0.0
    for frame in range(200):
        meter.mark(frame / 50, 0.5 * frame / 50, 5 * frame)
    assert meter.factor == pytest.approx(0.5)
    assert meter.steps_per_second == pytest.approx(250)


def test_speeds_are_read_as_fractions() -> None:
    assert speed_of("1/4") == 0.25
    assert speed_of("8") == 8.0
