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
    start_option,
)
from dovetail.cli._output import emit, say

if TYPE_CHECKING:
    from dovetail.compare.dump import ReplayReport
    from dovetail.compare.run_report import DiffRunsReport


@cli_command(
    example="""dovetail diff humanoid --a numpy --b mujoco --steps 200
    dovetail diff box.xml --b combine_friction=geometric_mean --html report.html
    dovetail diff humanoid --a native --b native,f32 --nworld 16 --mode both
    dovetail diff humanoid --b native --start near --start random --steps 20
    dovetail diff --from first.npz"""
)
@click.argument("model", metavar="[MODEL]", required=False)
@click.option(
    "--from",
    "dump",
    type=click.Path(path_type=Path),
    metavar="DUMP",
    help="Instead of MODEL, A and B: repeat what a Shadow found and dumped (.npz).",
)
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
@start_option(("near",))
@click.option("--tolerance", type=FiniteRange(min=0.0), help="In place of the fields' own.")
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE", help="Record A's results (.npz).")
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a report of one HTML file."
)
@asset_root_option
def diff(
    model: str | None,
    dump: Path | None,
    mode: str | None,
    save: Path | None,
    html: Path | None,
    starts: tuple[str, ...],
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

    if dump is not None:
        return _repeat(dump, model, html, as_json)
    if model is None:
        raise click.UsageError("give a MODEL, or a dump with --from")
    check_model_name(model)
    confine([model], asset_root)
    for option, path in (("--html", html), ("--save", save)):
        if path is not None and not path.parent.is_dir():
            raise click.BadParameter(f"there is no folder {path.parent}", param_hint=option)
    chosen: Any = mode or ("both" if html is not None else "isolated")
    report = diff_runs(model, mode=chosen, save=save, start=starts, **asked)
    if html is not None:
        html.write_text(report.html(), encoding="utf-8")
    _show(report, as_json)
    return report.exit_code


def _repeat(dump: Path, model: str | None, html: Path | None, as_json: bool) -> int:
    """Compare again what a dump holds; 0 if both sides agree now, else 1."""
    from dovetail.compare.dump import replay

    if model is not None or html is not None:
        raise click.UsageError("--from repeats one moment of a run: it takes neither MODEL nor --html")
    report = replay(dump)
    _show(report, as_json)
    return 0 if report.ok else 1


def _show(report: DiffRunsReport | ReplayReport, as_json: bool) -> None:
    if as_json:
        emit(report.to_dict())
    else:
        say(report.table())
