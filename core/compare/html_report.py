"""The report of two runs as one HTML file: no script, nothing from elsewhere; for a screen, a phone and paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from dovetail.compare.svg import LEAST, Series, lines, points, sparkline
from dovetail.compare.timeline import Divergence

if TYPE_CHECKING:
    from dovetail.compare.run_report import DiffRunsReport, StageResult

STYLE = """
:root { color-scheme: light; --ink: #1c2127; --soft: #5b6570; --line: #d7dce1; --good: #22683f; --bad: #a3261d; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; color: var(--ink); background: #fff;
  font: 16px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.35rem; margin: .2rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 1.6rem 0 .4rem; border-bottom: 1px solid var(--line); }
p { margin: .3rem 0; } .soft { color: var(--soft); font-size: .9rem; }
.verdict { display: inline-block; padding: .1rem .6rem; border-radius: .3rem; color: #fff; background: var(--bad);
  font-weight: 600; } .verdict.agree { background: var(--good); } .verdict.nothing { background: #7a5a00; }
.first { border-left: 4px solid var(--bad); padding: .3rem .8rem; background: #fbf3f2; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: .3rem 0; }
dt { color: var(--soft); } dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); gap: 1rem; }
figure { margin: 0; break-inside: avoid; } figcaption { font-weight: 600; margin-bottom: .2rem; }
svg { display: block; width: 100%; height: auto; } svg text { font: 13px system-ui, sans-serif; fill: var(--soft); }
svg .grid { stroke: var(--line); } svg.key { display: inline-block; width: 28px; height: 8px; margin-right: .3rem; }
svg.spark { height: 34px; border: 1px solid var(--line); }
.legend span { margin-right: 1rem; white-space: nowrap; font-size: .9rem; }
.stage { display: grid; grid-template-columns: 2rem minmax(9rem, 17rem) 5.5rem 1fr 11rem 12rem; gap: .2rem .7rem;
  align-items: center; padding: .25rem 0; border-bottom: 1px solid var(--line); break-inside: avoid; }
.stage.head { color: var(--soft); font-size: .9rem; } .stage b { overflow-wrap: anywhere; }
.stage small { font-weight: 400; color: var(--soft); display: block; overflow-wrap: anywhere; }
.DIFFERS { color: var(--bad); font-weight: 600; } .nothing-word { color: #7a5a00; }
.bar { display: flex; align-items: center; gap: .4rem; font-size: .8rem; font-variant-numeric: tabular-nums; }
.bar i { display: block; height: .55rem; min-width: 1px; background: #0b6e99; }
.bar.b i { background: #c2571a; } .bar span { white-space: nowrap; }
ol { padding-left: 1.4rem; margin: .3rem 0; } li { overflow-wrap: anywhere; font-size: .95rem; }
@media (max-width: 48rem) {
  .stage { grid-template-columns: 1.6rem 1fr auto; } .stage.head { display: none; }
  .stage > :nth-child(n+4) { grid-column: 2 / -1; }
  svg text { font-size: 17px; }
}
@media print {
  body { font-size: 10pt; max-width: none; padding: 0; } .verdict, .bar i, .first { print-color-adjust: exact; }
  .charts { grid-template-columns: 1fr 1fr; }
  .stage { grid-template-columns: 1.6rem 10rem 4rem 1fr 9rem 9rem; }
}
"""


COLUMNS = (
    "",
    "stage",
    "",
    "error over time (1e-18 to 1; dotted: tolerance)",
    "largest error",
    "time of a call, A and B",
)


def page(report: DiffRunsReport) -> str:
    """The whole file."""
    title = escape(f"{report.model}: {report.a} and {report.b}")
    parts = [_head(report), _first(report), _unseen(report), _charts(report), _stages(report), _notes(report)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>\n"
        + "\n".join(filter(None, parts))
        + "\n</body></html>\n"
    )


def _head(report: DiffRunsReport) -> str:
    worlds = f"{report.worlds} worlds" if report.worlds > 1 else "one world"
    word = report.verdict.partition(" ")[0]
    return (
        f"<h1>{escape(report.model)}: A {escape(report.a)}, B {escape(report.b)}</h1>"
        f'<p><span class="verdict {word}">{report.verdict}</span></p>'
        f'<p class="soft">{report.steps} steps, {worlds}, {report.precision}, {report.mode}'
        f"{_inputs(report)}</p>"
    )


def _inputs(report: DiffRunsReport) -> str:
    """What B was given."""
    if report.mode == "free":
        return ""
    whole = "mujoco" in (report.a, report.b)
    return ": every step of B began in A's state" if whole else ": each stage of B got the inputs that A had"


def _first(report: DiffRunsReport) -> str:
    first = report.first
    if first is None:
        return ""
    later = "".join(f"<li>{escape(str(d))}</li>" for d in report.divergences[1:13])
    more = len(report.divergences) - 13
    rest = f"<p>then:</p><ol>{later}</ol>" if later else ""
    rest += f'<p class="soft">and {more} more fields</p>' if more > 0 else ""
    return f'<h2>First divergence</h2><div class="first">{_definition(first)}</div>{rest}'


def _definition(first: Divergence) -> str:
    entries = {
        "step": f"{first.step} (t = {first.time:g} s)",
        "stage": first.stage,
        "field": first.where,
        "A": first.note or repr(first.a),
        "B": "" if first.note else repr(first.b),
        "error": f"{first.error:.2e} (tolerance {first.tolerance:.0e})",
        "relative": f"{first.relative:.2e}, {first.ulps:.3g} ulp",
    }
    rows = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in entries.items() if text)
    return f"<dl>{rows}</dl>"


def _unseen(report: DiffRunsReport) -> str:
    if not report.unseen:
        return ""
    return (
        "<h2>Nothing compared</h2><ol>"
        + "".join(f"<li>{escape(why)}</li>" for why in report.unseen)
        + "</ol>"
    )


# ---- charts


def _charts(report: DiffRunsReport) -> str:
    figures = [*_free_figures(report), *_run_figures(report), *_cost_figure(report)]
    sentence = f"<p>{escape(report.free.sentence())}</p>" if report.free is not None else ""
    return f'<h2>Over time</h2>{sentence}<div class="charts">{"".join(figures)}</div>' if figures else ""


def _figure(caption: str, drawing: str, note: str = "") -> str:
    below = f'<p class="soft">{escape(note)}</p>' if note else ""
    return f"<figure><figcaption>{escape(caption)}</figcaption>{drawing}{below}</figure>"


def _free_figures(report: DiffRunsReport) -> Iterable[str]:
    free = report.free
    if free is None:
        return
    for name in free.errors:
        pair = [
            Series("B from A", free.times, free.errors[name]),
            Series("A's neighbours, one ulp away", free.times, free.growth[name]),
        ]
        yield _figure(f"Divergence of {name}, free running", lines(pair, "time [s]", "error", log=True))


def _run_figures(report: DiffRunsReport) -> Iterable[str]:
    free = report.free
    energy, contacts = [], []
    if free is not None:
        energy = [Series("A", free.times, free.energy_a), Series("B", free.times, free.energy_b)]
        contacts = [Series("A", free.times, free.contacts_a), Series("B", free.times, free.contacts_b)]
    elif report.times:
        energy = [Series("A", report.times, report.energy)]
        contacts = [Series("A", report.times, report.contacts)]
    if energy and any(math.isfinite(v) for s in energy for v in s.y):
        yield _figure("Energy of the first world", lines(energy, "time [s]", "energy [J]"))
    if contacts:
        yield _figure("Contacts in all worlds", lines(contacts, "time [s]", "contacts"))


def _cost_figure(report: DiffRunsReport) -> Iterable[str]:
    every = [(n, s) for n, s in enumerate(report.stages, 1) if s.microseconds_b > 0]
    timed = [(n, s) for n, s in every if s.error > 0.0]
    if timed:
        dots = [(s.microseconds_b, max(s.error, LEAST), str(n)) for n, s in timed]
        note = f"Stages of B by their number in the table; {len(every) - len(timed)} without any error are left out."
        yield _figure(
            "Cost against error", points([("B", dots)], "time of a call [µs]", "largest error"), note
        )


# ---- stages


def _stages(report: DiffRunsReport) -> str:
    if not report.stages:
        return ""
    longest = max(
        (t for s in report.stages for t in (s.microseconds_a, s.microseconds_b) if t == t), default=0.0
    )
    cells = "".join(f"<span>{name}</span>" for name in COLUMNS)
    head = f'<div class="stage head">{cells}</div>'
    rows = "".join(_stage(n, s, report.times, longest) for n, s in enumerate(report.stages, 1))
    return f"<h2>Error and time of each stage</h2>{head}{rows}"


def _stage(number: int, stage: StageResult, times: Sequence[float], longest: float) -> str:
    worst = stage.worst
    pairs = [(times[step] if step < len(times) else float(step), error) for step, error in stage.errors]
    drawing = sparkline([p[0] for p in pairs], [p[1] for p in pairs], worst.tolerance if worst else 0.0)
    who = stage.a if stage.a == stage.b else f"{stage.a or 'nothing'} | {stage.b or 'nothing'}"
    word = {"DIFFERS": "DIFFERS", "nothing": "nothing-word"}.get(stage.verdict, "")
    error = f"{stage.error:.1e}<small>{escape(worst.field)}</small>" if worst and stage.compared else "–"
    bars = "".join(
        _bar(side, value, longest)
        for side, value in (("a", stage.microseconds_a), ("b", stage.microseconds_b))
    )
    return (
        f'<div class="stage"><span class="soft">{number}</span>'
        f"<b>{escape(stage.stage)}<small>{escape(who)}</small></b>"
        f'<span class="{word}">{_told(stage)}</span>{drawing}<span>{error}</span><span>{bars}</span></div>'
    )


def _told(stage: StageResult) -> str:
    words = {"nothing": "nothing compared", "solver": "stopped elsewhere", "same": "identical"}
    return words.get(stage.verdict, stage.verdict)


def _bar(side: str, value: float, longest: float) -> str:
    if value != value or not longest:
        return ""
    return (
        f'<div class="bar {side}"><i style="width:{60 * value / longest:.1f}%"></i>'
        f"<span>{side.upper()} {value:.0f} µs</span></div>"
    )


def _notes(report: DiffRunsReport) -> str:
    if not report.notes:
        return ""
    return "<h2>Notes</h2>" + "".join(f"<p>{escape(note)}</p>" for note in report.notes)
