"""Small charts as inline SVG: lines over time, points; no script, no style from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import attrs

COLOURS = ("#0b6e99", "#c2571a", "#6b7f1f", "#7d4f9e")
"""Distinct also in grey and for the colour-blind; lines are dashed differently, too."""
DASHES = ("", "6 3", "2 2", "8 3 2 3")
LEAST = 1e-18
"""What a logarithmic axis takes for zero."""


@attrs.frozen
class Series:
    """A line: its name and its points."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@attrs.frozen
class Axis:
    """From numbers to places."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def of(cls, values: Sequence[float], start: float, end: float, *, log: bool = False) -> Axis:
        """An axis that holds all finite values, with round ends if it is logarithmic."""
        finite = [v for v in values if math.isfinite(v)] or [0.0, 1.0]
        if log:
            logs = [math.log10(max(v, LEAST)) for v in finite]
            least = math.floor(min(logs))
            return cls(least, max(math.ceil(max(logs)), least + 1), start, end, True)
        low, high = min(finite), max(finite)
        if low == high:
            low, high = low - 0.5, high + 0.5
        return cls(low, high, start, end)

    def __call__(self, value: float) -> float:
        if not math.isfinite(value):
            value = 10.0**self.high if self.log else self.high
        number = math.log10(max(value, LEAST)) if self.log else value
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Places and labels."""
        if self.log:
            stride = max(1, math.ceil((self.high - self.low) / count))
            powers = range(int(self.low), int(self.high) + 1, stride)
            return [(self(10.0**p), f"1e{p}") for p in powers]
        span = self.high - self.low
        each = 10.0 ** math.floor(math.log10(span / count))
        each = next(each * k for k in (1, 2, 5, 10) if span / (each * k) <= count)
        first = math.ceil(self.low / each)
        numbers = [each * n for n in range(first, math.floor(self.high / each) + 1)]
        return [(self(v), f"{0.0 if abs(v) < 1e-12 * span else v:.6g}") for v in numbers]


WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 84, 28, 12, 40


def lines(series: Sequence[Series], x_name: str, y_name: str, *, log: bool = False) -> str:
    """Lines over a common axis, with a legend below it."""
    x = Axis.of([v for s in series for v in s.x], LEFT, WIDTH - RIGHT)
    y = Axis.of([v for s in series for v in s.y], HEIGHT - BOTTOM, TOP, log=log)
    drawn = [
        f'<polyline fill="none" stroke="{COLOURS[n % 4]}" stroke-width="2" stroke-dasharray="{DASHES[n % 4]}" '
        f'points="{" ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(s.x, s.y, strict=True))}"/>'
        for n, s in enumerate(series)
    ]
    return _svg([*_frame(x, y, x_name, y_name), *drawn], f"{y_name} over {x_name}") + legend(series)


def legend(series: Sequence[Series]) -> str:
    """Names beside samples of their lines."""
    entries = [
        f'<span><svg class="key" viewBox="0 0 28 8"><line x1="0" y1="4" x2="28" y2="4" stroke="{COLOURS[n % 4]}" '
        f'stroke-width="2.5" stroke-dasharray="{DASHES[n % 4]}"/></svg>{escape(s.name)}</span>'
        for n, s in enumerate(series)
    ]
    return f'<p class="legend">{"".join(entries)}</p>'


def points(groups: Sequence[tuple[str, Sequence[tuple[float, float, str]]]], x_name: str, y_name: str) -> str:
    """Numbered points of some groups, both axes logarithmic."""
    every = [p for _, group in groups for p in group]
    x = Axis.of([p[0] for p in every], LEFT, WIDTH - RIGHT - 16, log=True)
    y = Axis.of([p[1] for p in every], HEIGHT - BOTTOM - 6, TOP + 34, log=True)
    drawn = [
        f'<g><circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="4" fill="{COLOURS[n % 4]}"/>'
        f'<text x="{x(a):.1f}" y="{y(b) - 8 - 12 * (k % 3):.1f}" text-anchor="middle">{escape(label)}</text></g>'
        for n, (_, group) in enumerate(groups)
        for k, (a, b, label) in enumerate(sorted(group))
    ]
    return _svg([*_frame(x, y, x_name, y_name), *drawn], f"{y_name} against {x_name}")


def sparkline(x: Sequence[float], y: Sequence[float], tolerance: float) -> str:
    """Errors of one stage over time from 1e-18 to 1, the tolerance as a dotted line."""
    across = Axis.of(x, 2, 238)
    up = Axis(-18, 1, 34, 2, True)
    dots = " ".join(f"{across(a):.1f},{up(min(b, 10.0)):.1f}" for a, b in zip(x, y, strict=True))
    limit = (
        f'<line x1="0" x2="240" y1="{up(tolerance):.1f}" y2="{up(tolerance):.1f}" stroke="#999" '
        'stroke-dasharray="2 3"/>'
        if tolerance
        else ""
    )
    line = f'<polyline fill="none" stroke="{COLOURS[0]}" stroke-width="1.5" points="{dots}"/>'
    return (
        '<svg class="spark" viewBox="0 0 240 36" preserveAspectRatio="none" role="img" '
        f'aria-label="error over time">{limit}{line}</svg>'
    )


def _frame(x: Axis, y: Axis, x_name: str, y_name: str) -> list[str]:
    parts = []
    for place, text in y.ticks():
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place:.1f}" y2="{place:.1f}"/>'
        )
        parts.append(f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{text}</text>')
    for place, text in x.ticks(6):
        parts.append(f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{text}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_name)}</text>')
    parts.append(
        f'<text transform="translate(12 {(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_name)}</text>"
    )
    return parts


def _svg(parts: Sequence[str], label: str) -> str:
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )
