"""`dovetail rollout`: many worlds on many processors or machines."""

from __future__ import annotations

import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli._options import (
    Choices,
    FiniteRange,
    asset_root_option,
    cli_command,
    load_model,
    model_argument,
    selection_options,
)
from dovetail.cli._output import emit, quantity, say, table, waiting

if TYPE_CHECKING:
    from dovetail.distributed import Rollout

DEFAULT_WORLDS, DEFAULT_STEPS = 1024, 1000
MOST_DIGITS = 10
"""Of the number of a keyframe; what is longer can only be a name."""


@cli_command(
    example="""dovetail rollout humanoid --workers 2 --nworld 256 --steps 100
    dovetail rollout arm --steps 1000 --every 10 --out arm.npz
    dovetail rollout humanoid --address auto --nworld 65536 --json"""
)
@model_argument
@click.option("--workers", type=click.IntRange(min=1), help="How many [default: all processors of Ray].")
@click.option(
    "--steps", type=click.IntRange(min=1), default=DEFAULT_STEPS, show_default=True, help="How many steps."
)
@click.option("--keyframe", help="Start from a keyframe, by name or number.")
@click.option(
    "--noise",
    type=FiniteRange(min=0),
    default=0.1,
    show_default=True,
    help="Random initial velocities: sigma.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random velocities."
)
@click.option(
    "--record",
    multiple=True,
    metavar="FIELD",
    help="Keep a field of every world [default: qpos, qvel]. Repeatable.",
)
@click.option("--every", type=click.IntRange(min=1), default=1, show_default=True, help="Steps per sample.")
@click.option(
    "--checkpoint",
    type=click.IntRange(min=1),
    help="Steps between checkpoints, from which a lost worker's worlds go on [default: about 25,000 by worlds of a "
    "batch].",
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Fetch the records into an .npz."
)
@click.option("--address", help="Of a Ray cluster; auto finds it [default: this machine].")
@asset_root_option
@selection_options
def rollout(
    model: str, choices: Choices, asset_root: str | None, out: Path | None, as_json: bool, **asked: Any
) -> None:
    """Step many worlds on many processors or machines.

    MODEL is an MJCF file or the name of a built-in model. Needs Ray: the extra `distributed`. The results have the
    same bits for any number of workers. There are 1024 worlds unless --nworld says otherwise; --threads are those of
    each worker, usually 1.
    """
    from dovetail.distributed import rollout as roll_out
    from dovetail.distributed import shutdown
    from dovetail.distributed.extra import require_ray

    require_ray()
    if out is not None:
        _check_writable(out)
    loaded = load_model(model, choices, asset_root=asset_root)
    options = {name: value for name, value in choices.items() if value is not None}
    if "stages" in options:
        from dovetail.planning.loading_selection import for_running

        options["stages"] = for_running(options["stages"]) or None
    words = {
        **options,
        "nworld": options.get("nworld") or DEFAULT_WORLDS,
        "nstep": asked.pop("steps"),
        "record": asked.pop("record") or ("qpos", "qvel"),
        "keyframe": _keyframe(asked.pop("keyframe")),
        **asked,
    }
    with redirect_stdout(sys.stderr):  # Ray tells of lost workers on stdout
        try:
            with waiting("starting workers and stepping …", show=not as_json):
                result = roll_out(loaded, **words)
            if out is not None:
                _write(out, result)
            report = _report(result, out)
        finally:
            shutdown()
    emit(report) if as_json else _show(report)


def _keyframe(text: str | None) -> int | str | None:
    """By number if it is one."""
    return int(text) if text is not None and text.isdecimal() and len(text) < MOST_DIGITS else text


def _check_writable(path: Path) -> None:
    """Before anything is computed."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent}", param_hint="--out")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as problem:
        raise click.BadParameter(
            f"nothing can be written to {path.parent}: {problem.strerror}", param_hint="--out"
        ) from None


def _write(path: Path, result: Rollout) -> None:
    from dovetail.contracts import store

    store.write_arrays(path, result.arrays())


def _report(result: Rollout, out: Path | None) -> dict[str, Any]:
    done = result.nworld * result.nstep
    return {
        "worlds": result.nworld,
        "steps": result.nstep,
        "workers": result.workers,
        "startup_seconds": result.startup_seconds,
        "seconds": result.seconds,
        "busy_seconds": result.busy_seconds,
        "processor_seconds": result.processor_seconds,
        "steps_per_second": done / result.seconds,
        "restarts": result.restarts,
        "repeated_steps": result.repeated_steps,
        "costs": result.costs,
        "out": None if out is None else str(out),
    }


def _show(report: dict[str, Any]) -> None:
    row = (
        report["worlds"],
        report["steps"],
        report["workers"],
        quantity(report["seconds"]),
        quantity(report["steps_per_second"]),
        report["restarts"],
        report["repeated_steps"],
    )
    names = ("worlds", "steps", "workers", "seconds", "steps/s", "restarts", "repeated steps")
    table(names, [row], numeric=names)
    say(
        f"Before these seconds it took {quantity(report['startup_seconds'])} until the first worker was ready."
    )
    for cost in report["costs"]:
        say(cost.text)
    if report["out"]:
        say(f"Records: {report['out']}")
