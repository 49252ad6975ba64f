"""The last screen of a run: a headline, what happened, how fast, and two small plots, in 80 columns and 24 lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dovetail.cli._output import ascii_only, pairs, quantity, say, table, title, width
from dovetail.cli._plot import line_plot, side_by_side, small_plot

WIDEST, NARROW = 100, 80
"""Columns: the screen is not wider than the first, and in a pipe as wide as the second."""
PLOT_HEIGHT, LOW_HEIGHT = 6, 9
"""Lines of one of two plots side by side, and of one that the user asked for."""
FLAT = 1e-6
"""What varies by a smaller share of its size is drawn as constant."""
NAMELESS = "MuJoCo Model"
"""What a model without a name is called (mjModel.names)."""
PLACE = 10
"""Columns of labels and margins beside the text of a fact."""


def show(report: dict[str, Any], *, with_plan: bool) -> None:
    """The plan and the profile, if they were asked for; then what happened."""
    from dovetail.cli import plan

    if with_plan:
        plan.show(report["plan"])
        say()
    if report["profile"]:
        title("Time per stage")
        _show_profile(report["profile"])
        say()
    good = not report["problems"]
    say(headline(report), bold=True, fg="green" if good and not report["warnings"] else _alarm(good))
    pairs(facts(report, _room() - PLACE - 4))
    for line in _plots(report):
        say(line)
    say(_footer(report, with_plan))


def _alarm(good: bool) -> str:
    return "yellow" if good else "red"


def _room() -> int:
    return min(WIDEST, width() or NARROW)


def headline(report: dict[str, Any]) -> str:
    """The one line that sums a run up."""
    name = report["model"] if report["model"] not in ("", NAMELESS) else Path(report["source"]).name
    who = f"{name} × {report['nworld']:,}" if report["nworld"] else name
    if report["problems"]:
        done = f"{report['steps']:,} of {report['steps_asked']:,} steps"
        return f"{who}: went bad after {duration(report['simulated_seconds'])}, {done}"
    if not report["steps"]:
        return f"{who}: no step was taken; this is how it begins"
    spent = duration(report["later_seconds"] or report["first_step_seconds"])
    factor = f"{quantity(_short(report['realtime_factor']))} times real time"
    still = "" if report["sizes"]["nv"] else "; nothing can move"
    together = " in all" if report["nworld"] else ""
    return f"{who}: {duration(report['simulated_seconds'])} simulated in {spent}, {factor}{together}{still}"


def duration(seconds: float) -> str:
    """Seconds in a unit that makes them readable."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{quantity(seconds) if seconds >= 1000 else f'{seconds / size:.3g}'} {unit}"
    return f"{seconds:.3g} s"


def _short(value: float) -> float:
    """A number with three digits."""
    return float(f"{value:.3g}")


def facts(report: dict[str, Any], room: int) -> dict[str, str]:
    """What happened, by what it is about."""
    found = {
        "speed": _speed(report),
        "cost": "\n".join(cost["text"] for cost in report["costs"]),
        "motion": _motion(report["motion"]),
        "energy": _energy(report["energy"], bool(report["nworld"])),
        "contacts": _contacts(report["contacts"], room),
        "state": _state(report),
        "warnings": _warnings(report["warnings"]),
        "trajectory": report["output"] or "",
        "film": _film(report["film"]),
    }
    return {label: text for label, text in found.items() if text}


def _speed(report: dict[str, Any]) -> str:
    if not report["steps"]:
        return ""
    rate = quantity(_short(report["steps_per_second"]), "steps/s")
    if report["nworld"]:
        threads = min(report["plan"]["threads"], report["nworld"])
        whole = quantity(_short(report["world_steps_per_second"]))
        each = f", {quantity(_short(report['per_thread']))} a thread" if threads > 1 else ", one thread"
        rate = f"{whole} world steps/s{each}"
    steps = f"{report['steps']:,} step{'s'[: report['steps'] != 1]} of {duration(report['timestep'])}"
    if report["steps"] == 1:
        return f"{rate}; {steps}"
    how = ", kernel included" if report["compiled"] else ""
    return f"{rate}; {steps}; first one {duration(report['first_step_seconds'])}{how}"


def _motion(motion: dict[str, Any] | None) -> str:
    if motion is None:
        return ""
    text = f"{motion['name']} {_change(motion['first'], motion['last'])} {motion['unit']}"
    text += _of_world(motion["world"])
    if "worlds" in motion:
        worlds = motion["worlds"]
        return f"{text} in the mean ({_number(worlds['least'])} … {_number(worlds['most'])})"
    if motion["least"] < min(motion["first"], motion["last"]) - _slack(motion):
        text += f", lowest {_number(motion['least'])}"
    if motion["most"] > max(motion["first"], motion["last"]) + _slack(motion):
        text += f", highest {_number(motion['most'])}"
    if motion["moved"] is not None and motion["moved"] >= 5e-4:
        text += f"; moved {_number(motion['moved'])} m along the floor"
    return text


def _change(first: float, last: float) -> str:
    """From where to where, if that is not the same."""
    before, after = _number(first), _number(last)
    return after if before == after else f"{before} → {after}"


def _slack(motion: dict[str, Any]) -> float:
    """What does not count as lower or higher."""
    return float(1e-3 * (motion["most"] - motion["least"]))


def _number(value: float) -> str:
    """A length or an angle with three decimals, or with three digits if it is large or small."""
    return f"{value:.3f}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.3g}"


def _energy(energy: dict[str, Any] | None, batch: bool) -> str:
    if energy is None:
        return ""
    first, last = (f"{energy[name]:.4g}" for name in ("initial", "final"))
    text = f"{last} J" if first == last else f"{first} → {last} J"
    if energy["relative_change"] > 0:
        text += f" (changed by {_percent(energy['relative_change'])})"
    mean = " in the mean of the worlds" if batch and energy["world"] is None else ""
    return text + mean + _of_world(energy["world"])


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if 1e-4 <= share < 1 else f"{share:.1e} of it"


def _of_world(world: int | None) -> str:
    return "" if world is None else f" (world {world})"


def _contacts(contacts: dict[str, Any] | None, room: int) -> str:
    """How many, and between whom, as many pairs as a line has room for."""
    if contacts is None or not (contacts["most"] or contacts["count"]):
        return "none" if contacts is not None else ""
    most = f"at most {contacts['most']}"
    worlds = contacts["worlds"]
    if worlds is not None:
        span = f"{worlds['least']:.0f} … {worlds['most']:.0f}"
        return f"{worlds['mean']:.3g} a world at the end ({span} over the worlds), {most}"
    text = f"{contacts['count']} at the end, {most}"
    told: list[str] = []
    for pair in contacts["pairs"]:
        a, b = pair["between"]
        told.append(f"{a}–{b}" + (f" ×{pair['points']}" if pair["points"] > 1 else ""))
    return text if not told else f"{text}: {_as_fit(told, 2 * room - len(text) - 2)}"


def _as_fit(parts: Sequence[str], room: int) -> str:
    """The first parts that fit, and how many more there are."""
    shown: list[str] = []
    for part in parts:
        if len(", ".join([*shown, part])) > room - len(", 99 more pairs") and shown:
            break
        shown.append(part)
    rest = len(parts) - len(shown)
    return ", ".join(shown) + (f", {rest} more pair{'s'[: rest != 1]}" if rest else "")


def _state(report: dict[str, Any]) -> str:
    return "\n".join(report["problems"]) or "all numbers finite"


def _warnings(texts: Sequence[str]) -> str:
    if not texts:
        return ""
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return f"{texts[0]}{more}"


def _film(film: dict[str, Any] | None) -> str:
    if film is None:
        return ""
    return f"{film['path']}: {film['frames']} pictures of {film['width']} × {film['height']}" + (
        f", {film['note']}" if film["note"] else ""
    )


def _plots(report: dict[str, Any]) -> list[str]:
    """What the user asked for, one below the other; else what was watched, side by side."""
    room, plain = _room(), ascii_only()
    asked = [
        line_plot(
            series["time"],
            series["value"],
            label=label,
            width=room - 8,
            height=LOW_HEIGHT,
            ascii_only=plain,
        )
        for label, series in report["series"].items()
    ]
    if asked:
        return ["", *"\n\n".join(asked).splitlines(), ""]
    drawn = [(label, curve) for label, curve in report["watched"].items() if len(curve["value"]) > 1]
    half = room // 2 if len(drawn) > 1 else room
    blocks = [
        small_plot(
            curve["time"],
            curve["value"],
            room=half - 2,
            height=PLOT_HEIGHT,
            label=_caption(label, curve),
            ascii_only=plain,
            bounds=[curve[name] for name in ("least", "most") if name in curve],
            noise=FLAT,
        )
        for label, curve in drawn
    ]
    if not blocks:
        return [""]
    return ["", *(side_by_side(blocks[0], blocks[1], half) if len(blocks) > 1 else blocks[0]), ""]


def _caption(label: str, curve: dict[str, Any]) -> str:
    if "least" in curve:
        return f"{label}: least, mean, most"
    return label + _of_world(curve["world"])


def _footer(report: dict[str, Any], with_plan: bool) -> str:
    plan = report["plan"]
    used = " and ".join(sorted({line.implementation.partition("@")[2] for line in plan["slots"]}))
    threads = f"{plan['threads']} thread{'s'[: plan['threads'] != 1]}"
    count = f"{len(report['lock']['stages'])} implementations on {used}" if used else "nothing to compute"
    return f"{count}, {plan['precision']}, {threads}, lock {report['lock_digest']}" + (
        "" if with_plan else " (see --plan)"
    )


def _show_profile(timings: list[dict[str, Any]]) -> None:
    table(
        ("stage", "calls", "µs per call", "share"),
        [(t["slot"], t["calls"], f"{t['microseconds']:.1f}", f"{100 * t['share']:.1f} %") for t in timings],
        numeric=("calls", "µs per call", "share"),
    )
