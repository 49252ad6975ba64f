"""`dovetail conform`: a model against MuJoCo 3.4.0, field by field after every stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dovetail.cli import FOUND_PROBLEMS
from dovetail.cli._options import (
    asset_root_option,
    check_model_name,
    cli_command,
    confine,
    locked_option,
    start_option,
)
from dovetail.cli._output import emit, say, table, title

if TYPE_CHECKING:
    from dovetail.compare.conform import ConformReport


@cli_command(
    example="""dovetail conform
    dovetail conform my_robot.xml --disable constraint --backend native
    dovetail conform my_robot.xml --keyframe home --start random
    dovetail conform arm --stage mass_matrix --stage integrate --fields"""
)
@click.argument("models", nargs=-1, metavar="[MODEL...]")
@click.option("--stage", "stages", multiple=True, metavar="STAGE", help="Report only this. Repeatable.")
@click.option(
    "--steps", type=click.IntRange(min=0), default=10, show_default=True, help="States along each trajectory."
)
@click.option("--states", type=click.IntRange(min=0), default=5, show_default=True, help="Random states.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random states."
)
@start_option((), "Where states come from, if not from all of these:")
@click.option(
    "--keyframe", "keyframes", multiple=True, metavar="NAME", help="The same, a keyframe's name or number."
)
@click.option("--disable", multiple=True, metavar="FLAG", help="Option flag to disable in both. Repeatable.")
@click.option("--enable", multiple=True, metavar="FLAG", help="Option flag to enable in both. Repeatable.")
@click.option("--nworld", type=click.IntRange(min=1), help="Compare this many worlds as one batch.")
@click.option(
    "--backend",
    help="What computes: numpy, native, taichi, auto. Nothing said: stages by numpy, steps as in a run.",
)
@click.option("--precision", type=click.Choice(["f64", "f32"]), help="Of all real numbers in Data.")
@click.option(
    "--compiled-by",
    type=click.Choice(["dovetail", "mujoco"]),
    default="dovetail",
    show_default=True,
    help="Whose compiler reads the model.",
)
@click.option("--fields", is_flag=True, help="Show every field, not only the worst of each stage.")
@locked_option
@asset_root_option
def conform(
    models: tuple[str, ...],
    stages: tuple[str, ...],
    fields: bool,
    asset_root: str | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Compare a model, stage by stage and step by step, with MuJoCo 3.4.0.

    Each stage is compared by itself, and so is all that can be read after a step of an ordinary Simulation: one
    world in several orders, many steps in one call, a batch with other neighbours. First the model keeps its own
    options, then solvers go on until they have converged. Without MODEL, every built-in model is compared. The exit
    code is 1 if a field is out of tolerance, if a step depends on more than its state, or if a model needs stages
    that nothing implements.
    """
    from dovetail.compare import conform as conforming
    from dovetail.simulation import builtin_models

    for model in models:
        check_model_name(model)
    confine(models, asset_root)
    reports = []
    for model in models or builtin_models():
        reports.append(conforming.conform(model, stages=stages or None, **asked))
        if not as_json:
            _show(reports[-1], fields)
    good = all(report.ok and report.complete for report in reports)
    if as_json:
        emit({"ok": good, "models": [report.to_dict() for report in reports]})
    return 0 if good else FOUND_PROBLEMS


def _show(report: ConformReport, fields: bool) -> None:
    from dovetail.compare import conform_report as text

    say(report.headline())
    for line in text.plan_lines(report):
        say(line)
    table(text.HEADINGS, text.cells(report, fields=fields), numeric=text.NUMBERS, optional=("allowed",))
    problems = text.problem_lines(report)
    if problems:
        title("Out of tolerance")
        for line in problems:
            say(f"  {line}", hanging=4)
    for line in text.remarks(report):
        say(line)
    say()
