"""A line plot for the terminal, drawn with Unicode braille dots (2 × 4 to a character), or with `*` in ASCII."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_BLANK = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bit of each dot of a braille character, by row and column."""


def line_plot(
    x: Sequence[float],
    y: Sequence[float],
    *,
    label: str,
    x_label: str = "time [s]",
    width: int = 72,
    height: int = 12,
    ascii_only: bool = False,
    bounds: Sequence[Sequence[float]] = (),
    noise: float = 0.0,
) -> str:
    """The plot of y over x as text: a caption, the curve with its extremes on the left, the range of x below.

    `bounds` are further curves over the same x. A curve that varies by no more than the share `noise` of its size is
    drawn as constant."""
    curves = [_points(x, values) for values in (y, *bounds)]
    points = [point for curve in curves for point in curve]
    if not points:
        return f"{label}: no finite values to plot"
    low, high = min(b for _, b in points), max(b for _, b in points)
    if high - low <= noise * max(abs(low), abs(high)):
        curves, low = [[(a, high) for a, _ in curve] for curve in curves], high
    first, last = min(a for a, _ in points), max(a for a, _ in points)
    per_cell = (1, 1) if ascii_only else (2, 4)
    columns, rows = width * per_cell[0], height * per_cell[1]
    dots: set[tuple[int, int]] = set()
    for curve in curves:
        dots |= _joined(
            [(_scaled(a, first, last, columns), rows - 1 - _scaled(b, low, high, rows)) for a, b in curve]
        )
    lines = _ascii(dots, width, height) if ascii_only else _braille(dots, width, height)
    return _framed(lines, label, (low, high), (first, last), x_label, width, ascii_only)


def small_plot(
    x: Sequence[float],
    y: Sequence[float],
    *,
    room: int,
    height: int,
    label: str,
    ascii_only: bool = False,
    bounds: Sequence[Sequence[float]] = (),
    noise: float = 0.0,
) -> list[str]:
    """A plot as lines of at most `room` columns."""
    values = [v for curve in (y, *bounds) for v in curve if _finite(v)]
    margin = max((len(_number(v)) for v in (min(values), max(values))), default=0) if values else 0
    text = line_plot(
        x,
        y,
        label=label,
        width=max(4, room - margin - 2),
        height=height,
        ascii_only=ascii_only,
        bounds=bounds,
        noise=noise,
    )
    return text.splitlines()


def side_by_side(left: Sequence[str], right: Sequence[str], room: int) -> list[str]:
    """Two blocks of lines, the second one beginning `room` columns further right."""
    count = max(len(left), len(right))
    first, second = ([*block, *[""] * (count - len(block))] for block in (left, right))
    return [f"{a:<{room}}{b}".rstrip() for a, b in zip(first, second, strict=True)]


def _points(x: Sequence[float], y: Sequence[float]) -> list[tuple[float, float]]:
    """The points that have a place."""
    return [(a, b) for a, b in zip(x, y, strict=True) if _finite(a) and _finite(b)]


def _number(value: float) -> str:
    return f"{value:.5g}"


def _finite(value: float) -> bool:
    return value - value == 0


def _scaled(value: float, low: float, high: float, count: int) -> int:
    return count // 2 if high == low else round((value - low) / (high - low) * (count - 1))


def _joined(dots: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """The dots with straight lines between them."""
    line = set(dots)
    for (c0, r0), (c1, r1) in pairwise(dots):
        count = max(abs(c1 - c0), abs(r1 - r0))
        line |= {
            (c0 + round((c1 - c0) * k / count), r0 + round((r1 - r0) * k / count)) for k in range(1, count)
        }
    return line


def _braille(dots: set[tuple[int, int]], width: int, height: int) -> list[str]:
    cells = [[0] * width for _ in range(height)]
    for column, row in dots:
        cells[row // 4][column // 2] |= _DOTS[row % 4][column % 2]
    return ["".join(chr(_BLANK + bits) if bits else " " for bits in line).rstrip() for line in cells]


def _ascii(dots: set[tuple[int, int]], width: int, height: int) -> list[str]:
    return ["".join("*" if (c, r) in dots else " " for c in range(width)).rstrip() for r in range(height)]


def _framed(
    lines: list[str],
    label: str,
    y_range: tuple[float, float],
    x_range: tuple[float, float],
    x_label: str,
    width: int,
    ascii_only: bool,
) -> str:
    bar, corner, dash = ("|", "+", "-") if ascii_only else ("│", "└", "─")
    low, high = map(_number, y_range)
    margin = max(len(low), len(high))
    marks = {(len(lines) - 1) // 2: high} if low == high else {0: high, len(lines) - 1: low}
    body = [f"{marks.get(i, ''):>{margin}} {bar}{line}" for i, line in enumerate(lines)]
    ends = _number(x_range[0]), _number(x_range[1])
    gap = max(1, width - len(ends[0]) - len(ends[1]))
    below = f"{'':>{margin}}  {ends[0]}{x_label.center(gap)}{ends[1]}"
    return "\n".join([label, *body, f"{'':>{margin}} {corner}{dash * width}", below])
