"""A chart as a file: SVG written here, or PNG drawn with Pillow. Dots, joined over a linear or logarithmic axis, or
alone over names.

A chart is first turned into shapes (lines, dots, words) on a canvas of fixed size; then one of two small painters
puts them into the file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import attrs

from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.bench.results import BenchResult
    from dovetail.bench.sweeps import Series, Sweep

WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 80, 230, 60, 70
"""Margins of the plotting area; the legend stands in the right one."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's, told apart by colour-blind eyes too."""

GRID, INK = "#dddddd", "#222222"


@attrs.frozen
class Line:
    x0: float
    y0: float
    x1: float
    y1: float
    colour: str
    width: int = 1


@attrs.frozen
class Dot:
    x: float
    y: float
    colour: str


@attrs.frozen
class Word:
    x: float
    y: float
    text: str
    anchor: str = "start"
    """start, middle or end of the text is at x."""


Shape = Line | Dot | Word


@attrs.frozen(kw_only=True)
class Curve:
    """Dots with a name."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    fitted: Sequence[tuple[float, float]] = ()
    """Points of a line that was fitted to them; it is drawn instead of one from dot to dot."""


@attrs.frozen(kw_only=True)
class Chart:
    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    names: Sequence[str] = ()
    """Words under x = 0, 1, 2, … instead of numbers; dots are then not joined."""
    logarithmic: tuple[bool, bool] = (False, False)

    def write(self, path: Path) -> None:
        """Into a file whose name says the format."""
        painters = {".svg": _write_svg, ".png": _write_png}
        if path.suffix.lower() not in painters:
            raise DovetailError(f"{path}: a chart is written as .svg or .png")
        painters[path.suffix.lower()](path, list(_shapes(self)))


# ---- what to draw


def of_sweep(sweep: Sweep) -> Chart:
    """Cost over size; over worlds with logarithmic axes."""
    logarithmic = sweep.over == "nworld"
    return Chart(
        title=f"cost of a step over {sweep.over}" + (f": {sweep.results[0].model}" if logarithmic else ""),
        x_label=sweep.x_label,
        y_label=sweep.y_label,
        curves=[Curve(name=s.name, x=s.sizes, y=s.costs, fitted=_fitted(s)) for s in sweep.series],
        logarithmic=(logarithmic, logarithmic),
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
    )


# ---- shapes


@attrs.frozen
class _Axis:
    """From numbers to places on the canvas."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool

    def at(self, value: float) -> float:
        a, b, v = (math.log(n) if self.logarithmic else n for n in (self.low, self.high, value))
        return self.start + (self.end - self.start) * ((v - a) / (b - a) if b > a else 0.5)

    def has(self, value: float) -> bool:
        """Whether a number has a place on the axis."""
        return self.low <= value <= self.high

    def ticks(self) -> list[float]:
        """Round numbers in the range."""
        if self.logarithmic:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            return [t for t in (10.0**p for p in powers) if self.low <= t <= self.high]
        step = _round_step((self.high - self.low) / 6)
        first = math.ceil(self.low / step - 1e-9)
        return [step * n for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _round_step(rough: float) -> float:
    """1, 2 or 5 times a power of ten, at least as large."""
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))


def _range(values: Iterable[float], logarithmic: bool) -> tuple[float, float]:
    """What an axis spans: from 0 if linear, between powers of ten if logarithmic."""
    finite = [v for v in values if math.isfinite(v) and (v > 0 or not logarithmic)] or [1.0]
    low, high = min(finite), max(finite)
    if logarithmic:
        return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high * 1.0001))
    return min(0.0, low), high * 1.05 or 1.0


def _axes(chart: Chart) -> tuple[_Axis, _Axis]:
    all_x = [x for curve in chart.curves for x in curve.x]
    all_y = [y for curve in chart.curves for y in curve.y]
    span = (-0.5, len(chart.names) - 0.5) if chart.names else _range(all_x, chart.logarithmic[0])
    across = _Axis(*span, LEFT, WIDTH - RIGHT, chart.logarithmic[0])
    up = _Axis(*_range(all_y, chart.logarithmic[1]), HEIGHT - BOTTOM, TOP, chart.logarithmic[1])
    return across, up


def _shapes(chart: Chart) -> Iterator[Shape]:
    across, up = _axes(chart)
    yield Word(LEFT, TOP - 32, chart.title)
    yield from _grid(chart, across, up)
    yield Word((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 15, chart.x_label, "middle")
    yield Word(10, TOP - 14, chart.y_label)
    for number, curve in enumerate(chart.curves):
        yield from _curve(curve, COLOURS[number % len(COLOURS)], number, across, up, joined=not chart.names)


def _grid(chart: Chart, across: _Axis, up: _Axis) -> Iterator[Shape]:
    for tick in up.ticks():
        yield Line(LEFT, up.at(tick), WIDTH - RIGHT, up.at(tick), GRID)
        yield Word(LEFT - 8, up.at(tick) + 4, f"{tick:g}", "end")
    if chart.names:
        for place, name in enumerate(chart.names):
            # Long names of neighbours would run into each other on one line.
            yield Word(across.at(place), HEIGHT - BOTTOM + 20 + 16 * (place % 2), name, "middle")
    else:
        for tick in across.ticks():
            yield Line(across.at(tick), TOP, across.at(tick), HEIGHT - BOTTOM, GRID)
            yield Word(across.at(tick), HEIGHT - BOTTOM + 20, f"{tick:g}", "middle")
    yield Line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, INK)
    yield Line(LEFT, TOP, LEFT, HEIGHT - BOTTOM, INK)


def _curve(
    curve: Curve, colour: str, number: int, across: _Axis, up: _Axis, *, joined: bool
) -> Iterator[Shape]:
    points = _placed(zip(curve.x, curve.y, strict=True), across, up)
    line = _placed(curve.fitted, across, up) or points
    for (x0, y0), (x1, y1) in pairwise(line) if joined else ():
        yield Line(x0, y0, x1, y1, colour, 2)
    yield from (Dot(x, y, colour) for x, y in points)
    yield Dot(WIDTH - RIGHT + 20, TOP + 10 + 20 * number, colour)
    yield Word(WIDTH - RIGHT + 32, TOP + 14 + 20 * number, curve.name)


def _placed(points: Iterable[tuple[float, float]], across: _Axis, up: _Axis) -> list[tuple[float, float]]:
    """Places on the canvas of the points that have one."""
    return [(across.at(x), up.at(y)) for x, y in points if across.has(x) and up.has(y)]


# ---- painters

RADIUS = 4

PLAIN = str.maketrans({"µ": "u", "×": "x"})
"""Letters that Pillow's own font lacks."""


def _write_svg(path: Path, shapes: Sequence[Shape]) -> None:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">'
    )
    body = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *map(_svg, shapes)]
    path.write_text("\n".join([head, *body, "</svg>"]) + "\n", encoding="utf-8")


def _svg(shape: Shape) -> str:
    if isinstance(shape, Line):
        ends = f'x1="{shape.x0:.1f}" y1="{shape.y0:.1f}" x2="{shape.x1:.1f}" y2="{shape.y1:.1f}"'
        return f'<line {ends} stroke="{shape.colour}" stroke-width="{shape.width}"/>'
    if isinstance(shape, Dot):
        return f'<circle cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{RADIUS}" fill="{shape.colour}"/>'
    place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" text-anchor="{shape.anchor}"'
    return f'<text {place} fill="{INK}">{escape(shape.text)}</text>'


def _write_png(path: Path, shapes: Sequence[Shape]) -> None:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(13)
    anchors = {"start": "ls", "middle": "ms", "end": "rs"}
    for shape in shapes:
        if isinstance(shape, Line):
            draw.line((shape.x0, shape.y0, shape.x1, shape.y1), fill=shape.colour, width=shape.width)
        elif isinstance(shape, Dot):
            x, y = shape.x, shape.y
            draw.ellipse((x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS), fill=shape.colour)
        else:
            text = shape.text.translate(PLAIN)
            draw.text((shape.x, shape.y), text, fill=INK, font=font, anchor=anchors[shape.anchor])
    image.save(path)
