"""`dovetail stages`: the pipeline, and what is installed for each stage."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli._options import cli_command
from dovetail.cli._output import emit, pairs, say, table, title

if TYPE_CHECKING:
    from dovetail.implementation import Implementation
    from dovetail.pipeline import Stage

MOST_ROWS = 4
"""Rows of a table that a list of stages names; of more it says how many."""


@cli_command(example="dovetail stages\ndovetail stages mass_matrix\ndovetail stages --deprecated")
@click.argument("name", required=False, metavar="[STAGE]")
@click.option("--deprecated", is_flag=True, help="List what is superseded, and what to use instead.")
def stages(name: str | None, deprecated: bool, as_json: bool) -> None:
    """List the stages of the pipeline, or describe one.

    Kinds: one (one implementation is selected), table (rows under keys), all (every plugin's runs).
    """
    from dovetail import pipeline

    if deprecated:
        if name is not None:
            raise click.UsageError("--deprecated lists everything: leave STAGE out")
        _list_deprecated(as_json)
        return
    chosen = ordered() if name is None else [pipeline.stage(name)]
    reports = [describe(stage) for stage in chosen]
    if as_json:
        emit({"stages": reports})
    elif name is None:
        _show_all(reports)
    else:
        _show_one(reports[0])


def ordered() -> list[Stage]:
    """Stages in the order in which they run, each part after the stage that calls it; compile time first."""
    from dovetail.pipeline import STAGES, STEP

    compile_time = [s for s in STAGES.values() if s.phase == "compile"]
    in_step = [s for name in STEP for s in (STAGES[name], *(STAGES[p] for p in STAGES[name].parts))]
    rest = [s for s in STAGES.values() if s not in compile_time and s not in in_step]
    return [*compile_time, *in_step, *rest]


def describe(stage: Stage) -> dict[str, Any]:
    """A stage as plain values, with the records installed for it."""
    from dovetail.registry import default_registry

    records = [r for r in default_registry().implementations if r.stage == stage.name]
    return {
        "name": stage.name,
        "phase": stage.phase,
        "kind": stage.kind,
        "summary": stage.summary,
        "arguments": stage.arguments,
        "reads": stage.reads,
        "writes": stage.writes,
        "accumulates": stage.accumulates,
        "parts": stage.parts,
        "part_of": stage.part_of,
        "when": stage.when,
        "implementations": [_record(record) for record in records],
    }


def _record(record: Implementation) -> dict[str, Any]:
    return {
        "label": record.label,
        "key": record.key,
        "provider": record.provider,
        "default": record.default,
        "summary": record.summary,
        "supports": record.supports,
        "reads": record.reads,
        "writes": record.writes,
        "target": record.target,
        "version": record.version,
        "deprecated": record.deprecated,
    }


def _list_deprecated(as_json: bool) -> None:
    """Implementations, names, options and settings that go in the next minor version."""
    from dovetail.deprecation import known, since_of
    from dovetail.registry import default_registry

    found = known(default_registry())
    if as_json:
        emit({"deprecated": [{**one._asdict(), "removed_in": one.removed_in} for one in found]})
        return
    for kind, group in groupby(sorted(found, key=lambda one: one.kind), key=lambda one: one.kind):
        title(f"{kind}s")
        table(
            ("deprecated", "use instead", "since", "goes in"),
            [(one.old, one.new or "nothing", since_of(one), one.removed_in) for one in group],
        )
    say()
    say("Each works until then, and warns once in a process.")


def short(implementations: Iterable[tuple[str, str, str]], most: int = MOST_ROWS) -> str:
    """`soft@numpy/native (4 rows)`: names with the backends they are on and the rows that they serve, of which many
    are counted. Each implementation is its label, its row and, if it is not dovetail's, its provider."""
    backends: dict[str, list[str]] = {}
    rows: dict[str, list[str]] = {}
    for label, key, provider in implementations:
        name, _, backend = label.partition("@")
        entry = f"{name} of {provider}" if provider else name
        backends.setdefault(entry, [])
        rows.setdefault(entry, [])
        if backend not in backends[entry]:
            backends[entry].append(backend)
        if key and key not in rows[entry]:
            rows[entry].append(key)
    return ", ".join(_entry(entry, on, rows[entry], most) for entry, on in backends.items())


def _entry(entry: str, backends: list[str], keys: list[str], most: int) -> str:
    name, _, provider = entry.partition(" of ")
    text = f"{name}@{'/'.join(backends)}" + (f" of {provider}" if provider else "")
    if not keys:
        return text
    return f"{text} ({', '.join(keys) if len(keys) <= most else f'{len(keys)} rows'})"


def _short(implementations: list[dict[str, Any]]) -> str:
    return short(
        (r["label"], r["key"], "" if r["provider"] == "dovetail" else r["provider"]) for r in implementations
    )


def _few(names: tuple[str, ...], limit: int = 2) -> str:
    """The first names, and how many more."""
    rest = len(names) - limit
    return " ".join(names[:limit]) + (f" +{rest}" if rest > 0 else "")


def _show_all(reports: list[dict[str, Any]]) -> None:
    table(
        ("phase", "stage", "kind", "reads", "writes", "implementations"),
        [
            (
                r["phase"],
                f"  {r['name']}" if r["part_of"] else r["name"],
                r["kind"],
                _few(r["reads"]),
                _few(r["writes"]),
                _short(r["implementations"]) or "-",
            )
            for r in reports
        ],
        optional=("reads", "writes"),
    )
    say("dovetail stages STAGE describes one; indented stages are called by the one above them.")


def _what(record: dict[str, Any]) -> str:
    return (
        f"{record['summary']} (deprecated: {record['deprecated']})"
        if record["deprecated"]
        else record["summary"]
    )


def _show_one(report: dict[str, Any]) -> None:
    title(report["name"])
    say(f"  {report['summary']}")
    say()
    entries = {
        "phase": report["phase"],
        "kind": report["kind"],
        "arguments": ", ".join(report["arguments"]),
        "reads": " ".join(report["reads"]) or "nothing",
        "writes": " ".join(report["writes"]) or "nothing",
        "adds to": " ".join(report["accumulates"]),
        "calls": " ".join(report["parts"]),
        "called by": report["part_of"] or "",
        "runs": "" if report["when"] == "always" else f"in the {report['when']} evaluation of a step",
    }
    pairs({label: text for label, text in entries.items() if text})
    title("Implementations")
    if not report["implementations"]:
        say("  none is installed")
        return
    table(
        ("row", "implementation", "from", "default", "what"),
        [
            (r["key"], r["label"], r["provider"], "yes" if r["default"] else "", _what(r))
            for r in report["implementations"]
        ],
    )
