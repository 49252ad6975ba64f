"""What `conform` found: the compiled model, each stage by itself, and steps; text of 80 columns and JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from dovetail.compare.errors import FieldError
from dovetail.compare.mujoco_moves import Moved
from dovetail.compare.oracle import VERSION
from dovetail.compare.real_steps import Disagreement
from dovetail.compare.run_sides import ORDER
from dovetail.text_tables import table_lines

if TYPE_CHECKING:
    from dovetail.compare.conform import ConformReport

COMPILE = "compile"
"""The name under which the comparison of Model fields is reported."""
OWN, CONVERGED = "own options", "converged"
WIDTH = 80
HEADINGS = ("slot", "field", "stages", "solved", "steps", "allowed", "")
"""`solved`: the stages, with solvers that have converged."""
NUMBERS = ("stages", "solved", "steps", "allowed")
SHOWN = 8
"""How many entries of a long list the text shows; JSON has all."""


@attrs.frozen(kw_only=True)
class Part:
    """All comparisons under one set of options."""

    name: str
    """`own options`: those of the model; `converged`: solvers that go on until nothing changes any more."""
    stages: tuple[FieldError, ...]
    """Each stage by itself."""
    steps: tuple[FieldError, ...]
    """What steps of a Simulation leave."""
    disagreements: tuple[Disagreement, ...]
    """What steps do that they should not, each with its stage."""
    moved: tuple[Moved, ...]
    """Errors beyond their tolerance where MuJoCo's own answer moves, by slot and field the worst."""
    explained: int
    """How many such errors there were."""
    compared: int
    """How many comparisons of a field in one state were made."""

    @property
    def failures(self) -> tuple[FieldError, ...]:
        return tuple(row for row in (*self.stages, *self.steps) if not row.ok)

    @property
    def ok(self) -> bool:
        return not self.failures and not self.disagreements

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "ok": self.ok,
            "compared": self.compared,
            "explained": self.explained,
            "stages": [row.to_dict() for row in self.stages],
            "steps": [row.to_dict() for row in self.steps],
            "disagreements": [one.to_dict() for one in self.disagreements],
            "moved": [one.to_dict() for one in self.moved],
        }


def headline(report: ConformReport) -> str:
    """The verdict in a sentence."""
    holes = f", {len(report.missing)} slot(s) missing" if report.missing else ""
    return (
        f"{report.model}: {verdict(report)}{holes}; compared with MuJoCo {VERSION} in {report.states} states of "
        f"{len(report.starts)} starts, {report.worlds} world(s)"
    )


def verdict(report: ConformReport) -> str:
    """In some words."""
    if report.ok:
        return "conforms"
    wrong = [part.name for part in report.parts if not part.ok]
    found = [f"{len(report.failures)} field(s) out of tolerance"] if report.failures else []
    relations = sorted({one.kind for one in report.disagreements} - {"mujoco"})
    found += [f"steps fail: {', '.join(relations)}"] if relations else []
    return " and ".join(found) + (f" ({', '.join(wrong)})" if wrong else "")


def plan_lines(report: ConformReport) -> list[str]:
    """What was compared with what."""
    lines = [f"stages: {report.plan}"]
    if report.stepped:
        lines.append(f"steps: {report.stepped}")
    return lines + list(report.notes)


def cells(report: ConformReport, *, fields: bool = False) -> list[tuple[str, ...]]:
    """The rows under HEADINGS: of each slot the worst field, or every field."""
    return [_cells(slot, field, errors) for (slot, field), errors in _chosen(report, fields)]


def _chosen(report: ConformReport, fields: bool) -> Iterator[tuple[tuple[str, str], dict[str, FieldError]]]:
    table = _table(report)
    if fields:
        yield from table.items()
        return
    worst: dict[str, tuple[str, str]] = {}
    for key in table:
        known = worst.get(key[0])
        if known is None or _badness(table[key].values()) > _badness(table[known].values()):
            worst[key[0]] = key
    yield from ((key, table[key]) for key in worst.values())


def _table(report: ConformReport) -> dict[tuple[str, str], dict[str, FieldError]]:
    """The rows of all parts by slot and field; of steps the worse of the two parts."""
    table: dict[tuple[str, str], dict[str, FieldError]] = {}
    columns: list[tuple[str, Iterable[FieldError]]] = [
        ("stages", report.rows),
        *(("solved", part.stages) for part in report.parts if part.name == CONVERGED),
        *(("steps", part.steps) for part in report.parts),
    ]
    for column, rows in columns:
        for row in rows:
            cell = table.setdefault((row.slot, row.field), {})
            if column not in cell or row.error > cell[column].error:
                cell[column] = row
    return dict(sorted(table.items(), key=lambda entry: _place(entry[0][0])))


def problem_lines(report: ConformReport) -> list[str]:
    """All that is wrong, what steps do first: there the stage is known."""
    lines: list[str] = []
    for part in report.parts:
        lines += [f"{part.name}: {one}" for one in part.disagreements]
    for row in report.rows:
        if row.slot == COMPILE and not row.ok:
            lines.append(str(row))
    for part in report.parts:
        lines += _few([f"{part.name}, stage {row}" for row in part.stages if not row.ok])
        lines += _few([f"{part.name}, step, {row}" for row in part.steps if not row.ok])
    return lines


def remarks(report: ConformReport) -> list[str]:
    """What was explained, left out, or not compared."""
    lines = []
    for part in report.parts:
        if part.explained:
            worst = max(part.moved, key=lambda one: one.error)
            lines.append(
                f"{part.name}: {part.explained} of {part.compared} comparisons are beyond the tolerance, but "
                f"within a thousand of the moves that nudges of 1e-14 make MuJoCo take; the largest: {worst}"
            )
    if report.left_out:
        lines.append(
            f"keyframes left out: {len(report.left_out)} ({', '.join(report.left_out[:SHOWN])}"
            f"{', …' if len(report.left_out) > SHOWN else ''}); name one with --keyframe"
        )
    if report.missing:
        lines.append(
            "missing (MuJoCo ran them, dovetail did not; disable them in both with "
            f'disable=("constraint",) or the like): {", ".join(report.missing)}'
        )
    return [*lines, f"not compared: {', '.join(report.ignored)}"]


def text(report: ConformReport, *, fields: bool = False) -> str:
    """As text of 80 columns: the worst field of each slot, or all of them; what is wrong always."""
    heading, body = table_lines(
        HEADINGS, cells(report, fields=fields), numeric=NUMBERS, optional=("allowed",), width=WIDTH
    )
    parts = [_wrapped(headline(report)), *map(_wrapped, plan_lines(report)), *heading, *body]
    problems = problem_lines(report)
    parts += [
        "out of tolerance:" if problems else "",
        *(_wrapped(f"  {line}", "    ") for line in problems),
    ]
    return "\n".join(filter(None, [*parts, *(_wrapped(line, "  ") for line in remarks(report))]))


def plain(report: ConformReport) -> dict[str, Any]:
    """As plain values, for JSON."""
    return {
        "model": report.model,
        "mujoco": VERSION,
        "ok": report.ok,
        "complete": report.complete,
        "plan": report.plan,
        "stepped": report.stepped,
        "implementations": dict(report.implementations),
        "missing": list(report.missing),
        "ignored": list(report.ignored),
        "starts": list(report.starts),
        "left_out": list(report.left_out),
        "notes": list(report.notes),
        "states": report.states,
        "steps": report.steps,
        "worlds": report.worlds,
        "rows": report.rows_as_dicts(),
        "parts": [part.to_dict() for part in report.parts],
    }


def _place(slot: str) -> int:
    """Where a slot stands: the compiled model first, then stages as they run."""
    return -1 if slot == COMPILE else ORDER.get(slot.partition(":")[0], len(ORDER))


def _cells(slot: str, field: str, errors: Mapping[str, FieldError]) -> tuple[str, ...]:
    numbers = [f"{errors[name].error:.0e}" if name in errors else "" for name in NUMBERS[:3]]
    tolerance = max(row.tolerance for row in errors.values())
    verdict = "" if all(row.ok for row in errors.values()) else "FAIL"
    return (slot, field, *numbers, f"{tolerance:.0e}", verdict)


def _badness(rows: Iterable[FieldError]) -> tuple[bool, float]:
    rows = list(rows)
    return (
        any(not row.ok for row in rows),
        max(row.error / row.tolerance if row.tolerance else row.error for row in rows),
    )


def _few(lines: Sequence[str]) -> list[str]:
    more = len(lines) - SHOWN
    return [*lines[:SHOWN], f"and {more} more fields (--fields shows all)"] if more > 0 else list(lines)


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
