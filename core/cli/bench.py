"""`dovetail bench`: how quick a batch is, beside MuJoCo on the same states."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli._options import cli_command
from dovetail.cli._output import console, emit, quantity, say, table

if TYPE_CHECKING:
    from dovetail.bench import BenchResult, BenchRow, Tell


@cli_command(
    example="""dovetail bench humanoid --nworld 1024 --precision f64 --precision f32
    dovetail bench my_robot.xml --threads 1 --threads 2 --history speed.jsonl"""
)
@click.argument("model", default="humanoid", metavar="[MODEL]")
@click.option("--nworld", type=click.IntRange(min=1), default=1024, show_default=True, help="Worlds.")
@click.option(
    "--precision",
    "precisions",
    type=click.Choice(["f64", "f32"]),
    multiple=True,
    default=("f64", "f32"),
    show_default=True,
    help="Repeatable.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    multiple=True,
    default=(1,),
    show_default=True,
    help="Repeatable: the scaling is shown too.",
)
@click.option("--steps", type=click.IntRange(min=1), default=50, show_default=True, help="Steps per call.")
@click.option("--repeat", type=click.IntRange(min=1), default=9, show_default=True, help="Paired runs.")
@click.option("--backend", default="taichi", show_default=True, help="Where stages run.")
@click.option("--runtime", help="Runtime of the taichi backend: auto, quadrants or taichi.")
@click.option("--mujoco/--no-mujoco", "with_mujoco", default=None, help="Measure MuJoCo too [if installed].")
@click.option("--history", type=click.Path(dir_okay=False, path_type=Path), help="Append a JSON line here.")
def bench(model: str, history: Path | None, as_json: bool, **asked: Any) -> None:
    """Measure the speed of batches, beside MuJoCo if it is installed.

    Both engines start from the same random states with the same controls and take turns; the figure is the median
    of the paired ratios. The error is that of the state after one step.
    """
    from dovetail import bench as benching
    from dovetail.cli._options import check_model_name

    check_model_name(model)
    with _status(show=not as_json) as tell:
        result = benching.bench(model, **asked, tell=tell)
    if history is not None:
        result.append_to(history)
    if as_json:
        emit(result.to_dict())
    else:
        _show(result)


@contextmanager
def _status(*, show: bool) -> Iterator[Tell]:
    """A line on stderr that changes, on a terminal; else only what takes long."""
    if not show:
        yield lambda text: None
    elif sys.stderr.isatty():
        with console(stderr=True).status("") as status:
            yield status.update
    else:
        yield lambda text: click.echo(text, err=True) if text.startswith("compiling") else None


def _show(result: BenchResult) -> None:
    say(result.headline())
    table(
        (
            "precision",
            "threads",
            "µs/step/world",
            "MuJoCo µs",
            "times MuJoCo",
            "from … to",
            "error",
            "world steps/s",
            "scaling",
            "compile s",
        ),
        [_cells(row) for row in result.rows],
        numeric=(
            "threads",
            "µs/step/world",
            "MuJoCo µs",
            "times MuJoCo",
            "world steps/s",
            "scaling",
            "compile s",
        ),
    )
    for note in result.notes:
        say(f"note: {note}")
    machine = result.machine
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    say(f"{machine['processor']}, {machine['cores']} cores; Python {machine['python']}, {packages}")


def _cells(row: BenchRow) -> tuple[object, ...]:
    return (
        row.precision,
        row.threads,
        f"{row.microseconds:.2f}",
        None if row.mujoco_microseconds is None else f"{row.mujoco_microseconds:.2f}",
        None if row.ratio is None else f"{row.ratio:.2f}",
        None if row.ratio_range is None else "{:.2f} … {:.2f}".format(*row.ratio_range),
        None if row.error is None else f"{row.error:.0e}",
        quantity(row.world_steps_per_second),
        f"{row.scaling:.2f}",
        f"{row.compile_seconds:.1f}",
    )
