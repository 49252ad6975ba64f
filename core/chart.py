"""Charts as files, drawn by matplotlib: dots, joined over a linear or logarithmic axis, or alone over names.

matplotlib is the extra `plot` and is imported when a chart is drawn. Curves differ in mark and stroke as well as in
colour, so that they can be told apart in grey. The same chart gives the same file, today and tomorrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dovetail.distribution import requirement
from dovetail.errors import DovetailError, MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 9.0, 5.6
"""Of a chart that is alone in its file, in inches."""
LOW_HEIGHT = 3.0
"""Of each of several charts in a file, in inches."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's, told apart by colour-blind eyes too."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
STROKES = ("-", "--", "-.", ":")

STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "grid.color": "#dddddd",
    "savefig.dpi": 120,
    "svg.fonttype": "none",  # words stay words
    "svg.hashsalt": "dovetail",  # identifiers are drawn from it instead of at random
    "text.parse_math": False,  # a model's name may have a $
}

METADATA: Mapping[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
}
"""By format, what is kept out of a file because it changes from day to day or from version to version."""


@attrs.frozen(kw_only=True)
class Curve:
    """Points with a name."""

    name: str = ""
    """In the legend, if there is one."""
    x: Sequence[float]
    y: Sequence[float]
    dots: bool = True
    """Whether each point is a dot; very many would hide the line."""
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
    logarithmic: bool = False
    """Both axes, from a power of ten to a power of ten."""
    from_zero: bool = False
    """Whether linear axes begin there: for what is never negative, and compared by its size."""


def require_matplotlib() -> None:
    """An error that says how to get it, if it is not there."""
    if find_spec("matplotlib") is None:
        raise MissingDependencyError(
            "drawing a chart needs the package 'matplotlib', which is not installed; "
            f'run: pip install "{requirement("plot")}"'
        )


def check_format(path: Path) -> str:
    """The ending of a file's name, if a chart can be written there."""
    ending = path.suffix.lower()
    if ending not in METADATA:
        raise DovetailError(f"{path}: a chart is written as .svg, .png or .pdf")
    return ending


def write(path: Path, charts: Sequence[Chart]) -> None:
    """Charts, one below the other, into a file whose name says the format."""
    ending = check_format(path)
    require_matplotlib()
    from matplotlib import style

    with style.context(["default", STYLE]):
        _figure(charts).savefig(path, metadata=METADATA[ending])


def _figure(charts: Sequence[Chart]) -> Figure:
    from matplotlib.figure import Figure

    height = HEIGHT if len(charts) == 1 else LOW_HEIGHT * len(charts)
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    for chart, axes in zip(charts, figure.subplots(len(charts), squeeze=False).flat, strict=True):
        _draw(chart, axes)
    if any(curve.name for chart in charts for curve in chart.curves):
        figure.legend(loc="outside right upper", frameon=False)
    return figure


def _draw(chart: Chart, axes: Axes) -> None:
    axes.set(title=chart.title, xlabel=chart.x_label, ylabel=chart.y_label)
    for number, curve in enumerate(chart.curves):
        _draw_curve(curve, chart, axes, _look(number, joined=not chart.names))
    if chart.logarithmic:
        _make_logarithmic(chart, axes)
    elif chart.from_zero:
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
    if chart.names:
        _name_places(axes, chart.names)


def _look(number: int, *, joined: bool) -> dict[str, Any]:
    """Colour, mark and stroke of a curve; the three repeat after different counts."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKS[number % len(MARKS)],
        "linestyle": STROKES[number % len(STROKES)] if joined else "",
    }


def _draw_curve(curve: Curve, chart: Chart, axes: Axes, look: dict[str, Any]) -> None:
    points = _drawable(zip(curve.x, curve.y, strict=True), chart.logarithmic)
    line = _drawable(curve.fitted, chart.logarithmic) or points
    axes.plot(*_columns(line), **{**look, "marker": ""})
    if curve.dots:
        axes.plot(*_columns(points), **{**look, "linestyle": ""}, clip_on=False)
    if curve.name:
        axes.plot([], [], **look, label=curve.name)  # in the legend a line has its dots


def _drawable(points: Iterable[tuple[float, float]], logarithmic: bool) -> list[tuple[float, float]]:
    """The points that have a place."""
    finite = [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
    return [(x, y) for x, y in finite if x > 0 and y > 0] if logarithmic else finite


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _make_logarithmic(chart: Chart, axes: Axes) -> None:
    """Axes from a power of ten to a power of ten, with plain numbers at the powers."""
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    axes.set(xscale="log", yscale="log")
    axes.set_xlim(*_decades(x for curve in chart.curves for x in curve.x))
    axes.set_ylim(*_decades(y for curve in chart.curves for y in curve.y))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(StrMethodFormatter("{x:,.7g}"))
        axis.set_minor_formatter(NullFormatter())


def _decades(values: Iterable[float]) -> tuple[float, float]:
    """The powers of ten below and above all values."""
    powers = [math.log10(value) for value in values if math.isfinite(value) and value > 0] or [0.0]
    low = math.floor(min(powers))
    return 10.0**low, 10.0 ** max(math.ceil(max(powers)), low + 1)


def _name_places(axes: Axes, names: Sequence[str]) -> None:
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.grid(visible=False, axis="x")
