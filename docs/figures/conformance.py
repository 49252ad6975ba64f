"""The conformance chart: for every stage the errors of its fields against MuJoCo 3.4.0, from the recorded table."""

from __future__ import annotations

import re

import attrs
from drawing import DOCS, Drawing, LogAxis

from dovetail import pipeline

TABLE = DOCS / "reference" / "conformance.md"
LOW, HIGH = 1e-17, 1e-4
LEFT, RIGHT, TOP, ROW = 190.0, 650.0, 70.0, 21.0

_ROW = re.compile(
    r"^\| (?P<stage>\w+)(:\w+)? \| (?P<field>\S+) \| (?P<error>\S+) \| (?P<tolerance>\S+) \| \d+ \|$"
)


@attrs.frozen
class Measured:
    """One line of the table; an error of 0 means exactly equal."""

    stage: str
    field: str
    error: float
    tolerance: float


def table() -> list[Measured]:
    """The lines of the page; rows of a table stage count to their stage."""
    text = TABLE.read_text(encoding="utf-8")
    found = []
    for line in text.splitlines():
        row = _ROW.match(line)
        if row:
            error = 0.0 if row["error"] == "–" else float(row["error"])
            found.append(Measured(row["stage"], row["field"], error, float(row["tolerance"])))
    if f"Compared: {len(found)} fields" not in text:
        raise ValueError(
            f"{TABLE.name} says another number of fields than the {len(found)} found in its table"
        )
    return found


def order(rows: list[Measured]) -> list[str]:
    """Loading, the stages of a step in their order, then whole steps."""
    known = ["compile", *pipeline.in_order(), "steps"]
    return sorted({row.stage for row in rows}, key=lambda name: known.index(name) if name in known else 0)


def figure() -> str:
    rows = table()
    names = order(rows)
    axis = LogAxis(LOW, HIGH, LEFT, RIGHT)
    bottom = TOP + len(names) * ROW
    drawing = Drawing(800, bottom + 62, "Errors against MuJoCo 3.4.0, by stage")
    exact = sum(row.error == 0 for row in rows)
    drawing.text(14, 26, f"{len(rows)} fields against MuJoCo 3.4.0, {exact} of them exactly equal", "strong")
    drawing.text(LEFT, 48, "worst relative error of each other field, over all models", "small soft")
    drawing.text(RIGHT + 20, 48, "exactly equal", "small soft")
    _axis(drawing, axis, bottom)
    for index, name in enumerate(names):
        own = [row for row in rows if row.stage == name]
        _stage(drawing, axis, TOP + (index + 0.5) * ROW, name, own)
    drawing.dot(LEFT + 6, bottom + 46, 4, "a")
    drawing.text(LEFT + 16, bottom + 50, "within its tolerance", "small soft")
    drawing.dot(LEFT + 156, bottom + 46, 4, "b")
    drawing.text(
        LEFT + 166, bottom + 50, "outside: distance fields, whose gradients are differences", "small soft"
    )
    return drawing.svg()


def _axis(drawing: Drawing, axis: LogAxis, bottom: float) -> None:
    for power in axis.powers():
        x = axis(10.0**power)
        drawing.line([(x, TOP - 4), (x, bottom)], "grid")
        if power % 2 == 0:
            drawing.text(x, bottom + 18, f"1e{power}", "small middle soft")


def _stage(drawing: Drawing, axis: LogAxis, y: float, name: str, rows: list[Measured]) -> None:
    entry = (
        f"reference/stages.md#{name}" if name in pipeline.STAGES else "reference/conformance.md#conformance"
    )
    drawing.begin_link(entry, f"{name}: {len(rows)} fields")
    drawing.text(LEFT - 12, y + 4, name, "code small end")
    drawing.end_link()
    for row in rows:
        if row.error:
            drawing.dot(axis(row.error), y, 4, "a" if row.error <= row.tolerance else "b")
    exact = sum(row.error == 0 for row in rows)
    drawing.text(RIGHT + 20, y + 4, f"{exact} of {len(rows)}", "small soft")
