"""What a comparison of two runs found: the first divergence, then stage by stage, then over time; text and JSON."""

from __future__ import annotations

import textwrap
from typing import Any, Literal

import attrs

from dovetail.compare.errors import FieldError
from dovetail.compare.free_run import FreeRun
from dovetail.compare.reports import Report
from dovetail.compare.timeline import Divergence
from dovetail.text_tables import table_lines

Verdict = Literal["agree", "differ", "nothing compared"]
EXIT_CODES: dict[Verdict, int] = {"agree": 0, "differ": 1, "nothing compared": 3}
WIDTH = 80
SHOWN = 8
"""So many divergences are printed; JSON has all."""
MOVED = (
    "beyond the tolerance, but within a thousand of the moves of A itself when its inputs are nudged by 1e-14"
)


@attrs.frozen(kw_only=True)
class StageResult:
    """One slot of both sides, or several that run as one kernel."""

    stage: str
    a: str
    """The implementation, `name@backend`; empty where a side has none."""
    b: str
    errors: tuple[tuple[int, float], ...]
    """Steps, and the largest error of all fields at each."""
    worst: Divergence | None
    first: Divergence | None
    compared: int
    """Entries that were compared: of stages that make lists (contacts, rows), those of the lists."""
    stopped_elsewhere: int
    """Steps at which solvers differ by no more than their tolerance."""
    moved: int
    """Steps at which B differs by no more than A does from itself, when its inputs are nudged by rounding."""
    microseconds_a: float
    microseconds_b: float

    @property
    def error(self) -> float:
        return max((error for _, error in self.errors), default=0.0)

    @property
    def verdict(self) -> str:
        """In a word."""
        if self.first is not None:
            return "DIFFERS"
        if self.stopped_elsewhere:
            return "solver"
        if self.moved:
            return "moved"
        if not self.compared:
            return "nothing"
        return "same" if self.error == 0.0 else "ok"

    def to_dict(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "a": self.a,
            "b": self.b,
            "verdict": self.verdict,
            "error": self.error,
            "compared": self.compared,
            "stopped_elsewhere": self.stopped_elsewhere,
            "moved": self.moved,
            "microseconds_a": self.microseconds_a,
            "microseconds_b": self.microseconds_b,
            "first": None if self.first is None else self.first.to_dict(),
            "worst": None if self.worst is None else self.worst.to_dict(),
            "errors": [list(pair) for pair in self.errors],
        }


@attrs.frozen(kw_only=True)
class DiffRunsReport(Report):
    """Two runs, compared."""

    model: str
    a: str
    b: str
    mode: str
    steps: int
    worlds: int
    precision: str
    rows: tuple[FieldError, ...]
    """The worst error of every field, those of the Model first."""
    divergences: tuple[Divergence, ...]
    """The first divergence of every slot and field, in order."""
    stages: tuple[StageResult, ...]
    unseen: tuple[str, ...]
    """Why choices that differ were never put to the test."""
    times: tuple[float, ...] = ()
    """The time at the beginning of each step."""
    contacts: tuple[int, ...] = ()
    """A's contacts in all worlds, by step."""
    energy: tuple[float, ...] = ()
    """A's energy in the first world, by step; empty if it is not computed."""
    free: FreeRun | None = None
    notes: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    """Where the runs began."""

    @property
    def first(self) -> Divergence | None:
        """The first point at which B differs from A although it got A's inputs."""
        return self.divergences[0] if self.divergences else None

    @property
    def compared_anything(self) -> bool:
        """Whether something was compared that could have differed."""
        model = any(row.slot == "compile" for row in self.rows)
        return model or any(s.compared for s in self.stages) or self.free is not None

    @property
    def verdict(self) -> Verdict:
        """`nothing compared` is no agreement: a choice that differs was never used."""
        if self.divergences or (self.free is not None and self.free.verdict == "error"):
            return "differ"
        return "agree" if self.compared_anything and not self.unseen else "nothing compared"

    @property
    def ok(self) -> bool:
        return self.verdict == "agree"

    @property
    def exit_code(self) -> int:
        """0 agree, 1 differ, 3 nothing compared."""
        return EXIT_CODES[self.verdict]

    def headline(self) -> str:
        """The verdict in a sentence."""
        worlds = f"{self.worlds} worlds" if self.worlds > 1 else "one world"
        several = f" from each of {len(self.starts)} starts" if len(self.starts) > 1 else ""
        what = f"{self.model}: {self.a} and {self.b}, {self.steps} steps{several}, {worlds}, {self.precision}"
        found: dict[Verdict, str] = {
            "agree": "agree" + self._within(),
            "differ": "DIFFER",
            "nothing compared": "NOTHING COMPARED",
        }
        return f"{what}: {found[self.verdict]}"

    def _within(self) -> str:
        if all(stage.verdict in ("same", "nothing") for stage in self.stages) and self.stages:
            return ", bit for bit"
        solver = any(stage.verdict == "solver" for stage in self.stages)
        return " within the solver's tolerance" if solver else " within tolerance"

    def first_lines(self) -> list[str]:
        """The first divergence, in words."""
        first = self.first
        if first is None:
            return []
        when = f"from {first.start}, " if first.start else ""
        when += f"step {first.step} (t = {first.time:g} s)"
        when += f", evaluation {first.evaluation}" if first.evaluation else ""
        lines = [f"first divergence: {when}, stage {first.stage}", f"  {first.where}"]
        if not first.alone:
            lines.insert(0, f"ONLY WHOLE STEPS DIFFER: {first.how}")
        elif first.how:
            lines.append(f"  {first.how}")
        if first.note:
            return [*lines, f"  {first.note}"]
        return [
            *lines,
            f"  A {first.a!r}",
            f"  B {first.b!r}",
            f"  error {first.error:.1e} (tolerance {first.tolerance:.0e}), relative {first.relative:.1e}, "
            f"{_ulps(first.ulps)} ulp",
        ]

    def table(self) -> str:
        """As text of 80 columns."""
        parts = [_wrapped(self.headline())]
        parts += ["\n".join(_wrapped(line, "    ") for line in self.first_lines())] if self.first else []
        later = self.divergences[1:]
        if later:
            alone = self.first is not None and self.first.alone
            lines = ["then, each on A's inputs:" if alone else "then:"]
            lines += [_wrapped(f"  {d}", "    ") for d in later[:SHOWN]]
            parts.append("\n".join(lines))
            if len(later) > SHOWN:
                parts.append(f"  and {len(later) - SHOWN} more fields (--json lists all)")
        if self.stages:
            parts.append(stage_table(self.stages))
        moved = [stage.stage for stage in self.stages if stage.moved]
        if moved:
            parts.append(_wrapped(f"{MOVED}: {', '.join(moved)}", "  "))
        parts += [_wrapped(f"nothing compared: {why}", "  ") for why in self.unseen]
        if self.free is not None:
            parts.append(self.free.table())
        parts += [_wrapped(f"note: {note}", "  ") for note in self.notes]
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "a": self.a,
            "b": self.b,
            "mode": self.mode,
            "steps": self.steps,
            "worlds": self.worlds,
            "starts": list(self.starts),
            "precision": self.precision,
            "verdict": self.verdict,
            "ok": self.ok,
            "first": None if self.first is None else self.first.to_dict(),
            "divergences": [d.to_dict() for d in self.divergences],
            "stages": [stage.to_dict() for stage in self.stages],
            "unseen": list(self.unseen),
            "times": list(self.times),
            "contacts": list(self.contacts),
            "energy": list(self.energy),
            "free": None if self.free is None else self.free.to_dict(),
            "notes": list(self.notes),
            "rows": self.rows_as_dicts(),
        }

    def html(self) -> str:
        """As one HTML page that needs nothing else."""
        from dovetail.compare.html_report import page

        return page(self)


def stage_table(stages: tuple[StageResult, ...]) -> str:
    """One row per stage."""
    rows = [
        [
            stage.stage,
            stage.verdict,
            f"{stage.error:.1e}",
            "" if stage.worst is None else stage.worst.field,
            "" if stage.first is None else str(stage.first.step),
            _micro(stage.microseconds_a),
            _micro(stage.microseconds_b),
        ]
        for stage in stages
    ]
    numbers = ("error", "from", "A µs", "B µs")
    heading, body = table_lines(
        ("stage", "", "error", "worst field", "from", "A µs", "B µs"), rows, numeric=numbers, width=WIDTH
    )
    return "\n".join([*heading[:-1], *body])


def _micro(value: float) -> str:
    return f"{value:.0f}" if value == value else ""


def _ulps(count: float) -> str:
    return f"{count:.0f}" if count < 1e6 else f"{count:.1e}"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
