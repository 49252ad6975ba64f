"""What the panel says in words: time, speed, contacts, and what went wrong."""

from __future__ import annotations

import html

import numpy as np

from dovetail.viewer.run import Runner


def status_line(runner: Runner) -> str:
    """One line: simulated time, state, real-time factor, steps per second."""
    watched = runner.watched
    parts = [f"<b>{watched.time:.2f} s</b>"]
    if runner.problem:
        parts.append("<b style='color:#c92a2a'>stopped</b>")
    elif runner.paused:
        parts.append("paused")
    elif runner.meter.factor:
        parts.append(f"<b>{factor(runner.meter.factor)}×</b> real time")
        parts.append(f"{count(runner.meter.steps_per_second)} steps/s")
    return " · ".join(parts)


def factor(value: float) -> str:
    """A real-time factor, with as many digits as mean something."""
    return f"{value:.2f}" if value < 9.95 else f"{value:.0f}"


def count(value: float) -> str:
    """A number of steps, short."""
    if not np.isfinite(value):
        return "?"
    return f"{value:.0f}" if value < 10_000 else f"{value / 1000:.0f}k"


def problem_text(problem: str) -> str:
    """Why it stopped, and what to do, as HTML; empty if nothing is wrong."""
    if not problem:
        return ""
    return (
        "<div style='border-left:4px solid #c92a2a;padding:4px 8px;margin:4px 0'>"
        f"<b>The simulation stopped.</b><br>{html.escape(problem[:400])}<br>"
        "<i>Reset puts it back to the start.</i></div>"
    )
