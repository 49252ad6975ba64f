"""`dovetail lock`: write down what computes the steps of a project's models, or see whether it is still that."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli import FOUND_PROBLEMS
from dovetail.cli._options import (
    LOCK_FILE,
    Choices,
    asset_root_option,
    cli_command,
    load_model,
    make_plan,
    selection_options,
)
from dovetail.cli._output import emit, say

if TYPE_CHECKING:
    from dovetail.lock import ProjectLock, StageLock


@cli_command(
    example="""dovetail lock humanoid robots/arm.xml
    dovetail lock
    dovetail lock --check
    dovetail run humanoid --locked"""
)
@click.argument("models", nargs=-1, metavar="[MODEL...]")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=LOCK_FILE,
    show_default=True,
    help="The lock file.",
)
@click.option("--only", is_flag=True, help="Only MODEL...: forget other models that the file has.")
@click.option("--check", is_flag=True, help="Write nothing; the exit code is 1 if the file is out of date.")
@asset_root_option
@selection_options
def lock(
    models: tuple[str, ...],
    output: Path,
    only: bool,
    check: bool,
    choices: Choices,
    asset_root: str | None,
    as_json: bool,
) -> int:
    """Write down what computes a project's models, for --locked.

    For every stage: the implementation, its version, its package, and a hash of the sources that its results depend
    on. The models that the file has are locked again, with those that are named. What changed is listed.
    """
    from dovetail.lock import ProjectLock

    if choices["locked"]:
        raise click.UsageError(
            "lock writes a lock: leave --locked out, or see with --check whether one still holds"
        )
    before = ProjectLock.read(output) if output.exists() else None
    names = _names(models, before, output, only=only)
    now = ProjectLock(tuple(_lock_of(name, choices, asset_root) for name in names))
    if not check:
        now.write(output)
    report = _report(output, before, now)
    if as_json:
        emit(report)
    else:
        _show(report, written=not check)
    return FOUND_PROBLEMS if check and report["changed"] else 0


def _names(models: tuple[str, ...], before: ProjectLock | None, output: Path, *, only: bool) -> list[str]:
    """The models of the file, as they are called from here, and those that are asked for."""
    from dovetail.loading import builtin_models

    if not models and (only or before is None):
        missing = "--only needs models" if only else f"there is no {output} yet"
        raise click.UsageError(f"{missing}: name the models to lock, as in: dovetail lock humanoid")
    known = [] if only or before is None else [lock.model for lock in before.models]
    builtin = builtin_models()
    there = [name if name in builtin else os.path.normpath(output.parent / name) for name in known]
    asked = [name if name in builtin else os.path.normpath(name) for name in models]
    return list(dict.fromkeys([*there, *asked]))


def _lock_of(name: str, choices: Choices, asset_root: str | None) -> StageLock:
    """The lock of what would run, whatever lock the configuration insists on."""
    plan = make_plan(load_model(name, choices, asset_root=asset_root), {**choices, "locked": False}, "error")
    found: StageLock = plan.lock
    return found


def _report(output: Path, before: ProjectLock | None, now: ProjectLock) -> dict[str, Any]:
    from dovetail.lock import model_of

    former = {} if before is None else {lock.model: lock for lock in before.models}
    locks = {model_of(lock.model, output.parent): lock for lock in now.models}
    changes = {key: _changes(former[key], lock) for key, lock in locks.items() if key in former}
    added = [key for key in locks if key not in former]
    removed = [key for key in former if key not in locks]
    return {
        "file": str(output),
        "changed": bool(added or removed or any(changes.values())),
        "changes": changes,
        "added": added,
        "removed": removed,
        "models": {key: {"digest": lock.digest, **lock.as_plain()} for key, lock in locks.items()},
    }


def _changes(was: StageLock, now: StageLock) -> list[str]:
    return [str(change) for change in (*was.changes(now), *was.surroundings(now))]


def _show(report: dict[str, Any], *, written: bool) -> None:
    for model, lines in report["changes"].items():
        if lines:
            say(f"{model}: {len(lines)} change{'s'[: len(lines) != 1]}")
        for line in lines:
            say(f"  {line}")
    for word in ("added", "removed"):
        if report[word]:
            say(f"{word}: {', '.join(report[word])}")
    if not report["changed"]:
        say("nothing has changed")
    for model, entry in report["models"].items():
        say(f"{model}: {len(entry['stages'])} implementations, {entry['digest']}")
    say(f"{report['file']} {'is written' if written else 'is left as it is'}")
