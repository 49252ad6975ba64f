"""The speed charts, from the recorded results in `speed.json`."""

from __future__ import annotations

from typing import Any

from drawing import Drawing, LogAxis
from record_speed import recorded

LEFT, WIDE = 176.0, 470.0
BAR, BETWEEN = 16.0, 20.0


def figures() -> dict[str, str]:
    """Charts by file name."""
    records = recorded()
    return {
        "speed-one-world": one_world(records["one"]),
        "speed-batch": batch(records["batch"]),
        "speed-worlds": worlds(records["worlds"]),
    }


def one_world(record: dict[str, Any]) -> str:
    """Microseconds of a step of one world, a call per step."""
    measured = record["result"]["one_world"]
    groups = []
    for model in dict.fromkeys(row["model"] for row in measured):
        kept = {row["keep"]: row for row in measured if row["model"] == model}
        theirs = kept["state"]["mujoco_one"]
        bars = [
            ("a", 'keep="state"', kept["state"]["one"], f"{theirs / kept['state']['one']:.1f} × as fast"),
            ("d", 'keep="all"', kept["all"]["one"], f"{theirs / kept['all']['one']:.1f} ×"),
            ("plain", "mj_step", theirs, ""),
        ]
        groups.append((f"{model}, nv {kept['state']['nv']}", bars))
    return _bars("One world: microseconds per step, a call of step for each", groups, record, measured[0])


def batch(record: dict[str, Any]) -> str:
    """Microseconds per world of a step of a batch."""
    groups = []
    for result in record["result"]["results"]:
        rows = {row["precision"]: row for row in result["rows"]}
        bars = [
            ("a", "float64", rows["f64"]["microseconds"], f"{rows['f64']['ratio']:.1f} × as fast"),
            ("b", "float32", rows["f32"]["microseconds"], f"{rows['f32']['ratio']:.1f} ×"),
            ("plain", "MuJoCo", rows["f64"]["mujoco_microseconds"], ""),
        ]
        groups.append((f"{result['model']}, nv {result['nv']}", bars))
    count = record["result"]["results"][0]["rows"][0]["nworld"]
    title = f"{count} worlds, one thread: microseconds per step and world"
    return _bars(title, groups, record, record["result"]["results"][0])


Bar = tuple[str, str, float, str]
"""Look, words, length, note."""


def _bars(
    title: str, groups: list[tuple[str, list[Bar]]], record: dict[str, Any], result: dict[str, Any]
) -> str:
    """Groups of bars, each group to its own scale, because models differ by more than engines do."""
    height = 58 + len(groups) * (len(groups[0][1]) * BAR + BETWEEN + 18) + 30
    drawing = Drawing(800, height, title)
    drawing.text(14, 26, title, "strong")
    y = 52.0
    for name, bars in groups:
        drawing.text(14, y + 4, name, "code small strong")
        y += 14
        longest = max(value for _, _, value, _ in bars)
        for look, words, value, note in bars:
            wide = WIDE * value / longest
            drawing.text(LEFT - 10, y + BAR - 4, words, "small end")
            drawing.bar(LEFT, y + 2, wide, BAR - 4, look)
            drawing.text(
                LEFT + wide + 8, y + BAR - 4, f"{_short(value)} µs" + (f" · {note}" if note else ""), "small"
            )
            y += BAR
        y += BETWEEN + 4
    drawing.text(14, y + 2, _source(record, result), "small soft")
    drawing.height = y + 18
    return drawing.svg()


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 2 else f"{value:.2f}"


def _source(record: dict[str, Any], result: dict[str, Any]) -> str:
    machine = result["machine"]
    what = f"{machine['processor']}, {machine['cores']} cores, in use by others; processor time, taking turns"
    return f"{record['date']}, {what}"


def worlds(record: dict[str, Any]) -> str:
    """How the time per world falls as a batch grows."""
    sweep = record["result"]["sweeps"][0]
    lines = [
        (s["name"], [(n, c / n) for n, c in zip(s["sizes"], s["costs"], strict=True)])
        for s in sweep["series"]
    ]
    looks = [
        "mark-plain" if "MuJoCo" in name else f"mark-{'b' if 'f32' in name else 'a'}" for name, _ in lines
    ]
    sizes = [n for n, _ in lines[0][1]]
    costs = [c for _, points in lines for _, c in points]
    across = LogAxis(min(sizes), max(sizes), 70, 620)
    up = LogAxis(1, max(costs) * 1.2, 300, 56)
    title = f"{sweep['results'][0]['model']}: microseconds per step and world"
    drawing = Drawing(800, 356, title)
    drawing.text(14, 26, title, "strong")
    for value in (1, 2, 5, 10, 20):
        drawing.line([(70, up(value)), (620, up(value))], "grid")
        drawing.text(60, up(value) + 4, str(value), "small end soft")
    for size in sizes:
        drawing.text(across(size), 320, f"{size:.0f}", "small middle soft")
    drawing.text(345, 338, "worlds", "small middle soft")
    for (name, points), look in zip(lines, looks, strict=True):
        drawing.line([(across(n), up(c)) for n, c in points], look)
        kind = "MuJoCo" if "MuJoCo" in name else "float32" if "f32" in name else "float64"
        drawing.text(630, up(points[-1][1]) + 4, f"{kind}, {_short(points[-1][1])} µs", "small")
    drawing.text(14, 352, _source(record, sweep["results"][0]), "small soft")
    drawing.height = 362
    return drawing.svg()
