"""The curves of training, from the recorded runs in `data/learning.json`."""

from __future__ import annotations

from typing import Any

from drawing import Drawing
from record_learning import recorded

TASKS = (("HalfCheetah-v5", "cheetah"), ("Ant-v5", "ant"), ("QuadrupedVelocity-v0", "quadruped"))
WIDE, HIGH, TOP = 210.0, 150.0, 66.0


def figures() -> dict[str, str]:
    """The drawing by file name; none if nothing was recorded."""
    records = recorded()
    return {"learning": figure(records)} if records else {}


def figure(records: dict[str, Any]) -> str:
    """Return against processor time, a task a panel."""
    title = "PPO: mean return of finished episodes against seconds of processor time"
    drawing = Drawing(800, 290, title)
    drawing.text(14, 26, title, "strong")
    for number, (task, name) in enumerate(TASKS):
        lines = [("a", records[name]["curve"])] if name in records else []
        if f"{name}-envpool" in records:
            lines.append(("b", records[f"{name}-envpool"]["curve"]))
        if lines:
            panel(drawing, 50 + number * 256, task, lines)
    for look, words, x in (("a", "dovetail", 300), ("b", "EnvPool", 400)):
        drawing.line([(x, 262), (x + 22, 262)], f"mark-{look}")
        drawing.text(x + 28, 266, words, "small")
    days = sorted({record["date"] for record in records.values()})
    drawing.text(14, 283, f"{days[-1]}, one run each, one thread, two cores in use by others", "small soft")
    return drawing.svg()


def panel(drawing: Drawing, left: float, task: str, lines: list[tuple[str, list[dict[str, float]]]]) -> None:
    """Axes and curves of one task."""
    longest = max(curve[-1]["processor"] for _, curve in lines)
    highest = max(row["return"] for _, curve in lines for row in curve)
    lowest = min(0.0, *(row["return"] for _, curve in lines for row in curve))
    step = next(s for s in (100, 200, 250, 500, 1000, 2000, 5000) if highest / s <= 5)
    bottom = TOP + HIGH
    drawing.text(left, TOP - 12, task, "code small strong")

    def place(row: dict[str, float]) -> tuple[float, float]:
        share = (row["return"] - lowest) / (highest - lowest)
        return left + WIDE * row["processor"] / longest, bottom - HIGH * share

    for value in range(0, int(highest) + 1, step):
        y = place({"return": value, "processor": 0})[1]
        drawing.line([(left, y), (left + WIDE, y)], "grid")
        drawing.text(left - 5, y + 4, str(value), "small end soft")
    each = next(s for s in (10, 20, 25, 50, 100, 200, 500) if longest / s <= 5)
    for second in range(0, int(longest) + 1, each):
        x = left + WIDE * second / longest
        drawing.text(x, bottom + 16, f"{second} s" if second else "0", "small middle soft")
    for look, curve in lines:  # where episodes ended since the last point, and the last
        news = [
            row
            for row, last in zip(curve, [None, *curve], strict=False)
            if not last or row["return"] != last["return"]
        ]
        drawing.line([place(row) for row in (*news, curve[-1])], f"mark-{look}")
