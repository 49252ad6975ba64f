"""`dovetail compare`: two implementations of one stage on the same inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dovetail.cli._errors import show_errors
from dovetail.cli._options import (
    asset_root_option,
    check_model_name,
    cli_command,
    confine,
    model_argument,
    start_option,
)
from dovetail.cli._output import emit, say

if TYPE_CHECKING:
    from dovetail.compare.ab import ABReport


@cli_command(example="dovetail compare humanoid --stage mass_matrix --a crb@numpy --b crb@native")
@model_argument
@click.option("--stage", required=True, metavar="SLOT", help="A stage, or a row as passive_force:spring.")
@click.option("--a", required=True, metavar="NAME@BACKEND", help="The authority.")
@click.option("--b", required=True, metavar="NAME@BACKEND", help="What is measured against it.")
@click.option(
    "--steps", type=click.IntRange(min=1), default=100, show_default=True, help="Of each trajectory."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the initial states."
)
@start_option(("random",))
@click.option("--nworld", type=click.IntRange(min=1), help="Compare this many worlds as one batch.")
@click.option("--precision", type=click.Choice(["f64", "f32"]), default="f64", show_default=True)
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--repeat", type=click.IntRange(min=1), default=1, show_default=True, help="Timings per step.")
@asset_root_option
def compare(
    model: str,
    stage: str,
    a: str,
    b: str,
    starts: tuple[str, ...],
    asset_root: str | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Compare two implementations of one stage on the same states.

    Both run on copies of the same data along a trajectory, or several with --start. For a stage that takes part in
    loading, as mesh_inertia:exact, the model is loaded with each and every field of the Model is compared. The exit
    code is 1 if B differs from A by more than the tolerances of the fields, and 3 if nothing was compared, as two
    friction rules when no contact occurs.
    """
    from dovetail.compare import ab

    check_model_name(model)
    confine([model], asset_root)
    report = ab.compare(model, stage, a, b, start=starts, **asked)
    if as_json:
        emit(report.to_dict())
    else:
        _show(report)
    return report.exit_code


def _show(report: ABReport) -> None:
    say(report.headline())
    show_errors(report.rows, fields=True)
    say(report.times())
    if report.missing:
        say(f"the trajectory ran without missing stages: {', '.join(report.missing)}")
