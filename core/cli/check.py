"""`dovetail check`: does each model load, and is there an implementation for every stage it needs?"""

from __future__ import annotations

from typing import Any

import click

from dovetail.cli import FOUND_PROBLEMS
from dovetail.cli._options import (
    Choices,
    asset_root_option,
    cli_command,
    load_model,
    make_plan,
    selection_options,
)
from dovetail.cli._output import emit, say
from dovetail.errors import MOST_LISTED, DovetailError, MJCFError, ValidationError


@cli_command(example="dovetail check humanoid robots/*.xml")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@asset_root_option
@selection_options
def check(models: tuple[str, ...], choices: Choices, asset_root: str | None, as_json: bool) -> int:
    """Load models and say everything that stops them from running.

    Problems are printed as file:line: what is wrong; all that the schema does not allow are told together. The exit
    code is 1 if any model has one.
    """
    reports = [_examine(name, choices, asset_root) for name in models]
    if as_json:
        emit({"models": reports, "ok": all(r["ok"] for r in reports)})
    else:
        _show(reports)
    return 0 if all(r["ok"] for r in reports) else FOUND_PROBLEMS


def _examine(name: str, choices: Choices, asset_root: str | None) -> dict[str, Any]:
    """One model's problems: what stopped it from loading, or else what its plan lacks."""
    try:
        model = load_model(name, choices, asset_root=asset_root)
        plan = make_plan(model, choices)
    except click.BadParameter as error:
        problems = [{"kind": "file", "message": error.message}]
    except MJCFError as error:
        problems = [_from_mjcf(problem) for problem in _all_problems(name, error, asset_root)]
    except DovetailError as error:
        problems = _from_error(error)
    else:
        problems = [
            {
                "kind": "stage",
                "stage": m.slot,
                "message": f"no plugin implements {m.slot}, needed by {m.reason}",
            }
            for m in plan.missing
        ]
    return {"model": name, "ok": not problems, "problems": problems}


def _all_problems(name: str, first: MJCFError, asset_root: str | None) -> list[MJCFError]:
    """Everything the schema does not allow in the file, or else the error that stopped the compiler.

    What the compiler found may be in a file that the model attaches, which the schema is not asked about.
    """
    from dovetail.mjcf.read.lint import schema_problems
    from dovetail.registry import default_registry

    found = schema_problems(
        name, asset_root=asset_root, custom=frozenset(default_registry().keys("mjcf_element"))
    )
    known = {str(problem) for problem in found}
    return found if str(first) in known else [*found, first]


def _from_mjcf(error: MJCFError) -> dict[str, Any]:
    place = {"file": error.file, "line": error.line, "element": error.element}
    return {"kind": "mjcf", **place, "message": str(error)}


def _from_error(error: DovetailError) -> list[dict[str, Any]]:
    if isinstance(error, ValidationError):
        return [{"kind": "model", "message": problem} for problem in error.problems]
    return [{"kind": type(error).__name__, "message": str(error)}]


def _show(reports: list[dict[str, Any]]) -> None:
    for report in reports:
        if report["ok"]:
            say(f"{report['model']}: ok")
        for problem in report["problems"][:MOST_LISTED]:
            # a message of the MJCF reader already begins with file:line
            prefix = "" if problem["kind"] == "mjcf" else f"{report['model']}: "
            click.echo(f"{prefix}{problem['message']}")  # one line, which other programs read
        if len(report["problems"]) > MOST_LISTED:
            say(f"{report['model']}: and {len(report['problems']) - MOST_LISTED} more problems")
    bad = sum(not r["ok"] for r in reports)
    if bad:
        say(f"{bad} of {len(reports)} model{'s'[: len(reports) > 1]} cannot run")
