"""`dovetail diff`: two runs of a model, and the first stage where they part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli._options import (
    FiniteRange,
    asset_root_option,
    check_model_name,
    cli_command,
    confine,
    model_argument,
)
from dovetail.cli._output import emit, say

if TYPE_CHECKING:
    from dovetail.compare.run_report import DiffRunsReport


@cli_command(
    example="""dovetail diff humanoid --a numpy --b mujoco --steps 200
    dovetail diff box.xml --b combine_friction=geometric_mean --html report.html
    dovetail diff humanoid --a native --b native,f32 --nworld 16 --mode both"""
)
@model_argument
@click.option("--a", default="", metavar="SPEC", help="The authority. Nothing said: the reference.")
@click.option("--b", default="", metavar="SPEC", help="What is measured against it.")
@click.option(
    "--mode",
    type=click.Choice(["isolated", "free", "both"]),
    help="Each stage of B on A's inputs (isolated, the default), both on their own, or both modes "
    "(the default with --html).",
)
@click.option("--steps", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--nworld", type=click.IntRange(min=1), help="Compare this many worlds as one batch.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the first states.")
@click.option(
    "--start",
    default="near",
    show_default=True,
    metavar="STATE",
    help="near the model's pose, at rest in it, random, a keyframe's name, or a saved state's file.",
)
@click.option("--tolerance", type=FiniteRange(min=0.0), help="In place of the fields' own.")
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE", help="Record A's results (.npz).")
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a report of one HTML file."
)
@asset_root_option
def diff(
    model: str,
    mode: str | None,
    save: Path | None,
    html: Path | None,
    asset_root: str | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Find the first stage where two runs of a model part.

    A SPEC is a list with commas: choices by stage (integrate=rk4, solve_constraints=newton@native), backend=,
    precision=, config=FILE, model=FILE, plugin=, semantics=; or a word: mujoco, a backend, f32, a semantics bundle,
    nudge (the first state moved by one ulp), or the file of a saved run (.npz). The exit code is 0 if the runs agree,
    1 if they differ, 3 if what differs between them was never used, so that nothing was compared.
    """
    from dovetail.compare import diff_runs

    check_model_name(model)
    confine([model], asset_root)
    for option, path in (("--html", html), ("--save", save)):
        if path is not None and not path.parent.is_dir():
            raise click.BadParameter(f"there is no folder {path.parent}", param_hint=option)
    chosen: Any = mode or ("both" if html is not None else "isolated")
    report = diff_runs(model, mode=chosen, save=save, **asked)
    if html is not None:
        html.write_text(report.html(), encoding="utf-8")
    _show(report, as_json)
    return report.exit_code


def _show(report: DiffRunsReport, as_json: bool) -> None:
    if as_json:
        emit(report.to_dict())
    else:
        say(report.table())
