"""`dovetail bench`: how quick batches are beside MuJoCo on the same states, and where the time goes."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli._options import FiniteRange, asset_root_option, check_chart_file, cli_command, locked_option
from dovetail.cli._output import console, emit, quantity, say, size, table, title

if TYPE_CHECKING:
    from dovetail.bench import BenchResult, BenchRow, Case, Measurement, ShowProgress
    from dovetail.bench.one_world import OneWorld
    from dovetail.bench.stages import StageTimes
    from dovetail.bench.startup import FirstStep
    from dovetail.bench.sweeps import Sweep

OUTPUT_FILE = click.Path(dir_okay=False, path_type=Path)


def _names(ctx: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split(",") if name.strip())


@cli_command(
    example="""dovetail bench humanoid --nworld 64 --nworld 1024 --precision f32
    dovetail bench --suite --threads 1 --threads 2 --plot speed.svg
    dovetail bench humanoid --profile
    dovetail bench --sweep ncon --plot contacts.png"""
)
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--suite", is_flag=True, help="Also the models of the built-in set.")
@click.option("--nworld", type=click.IntRange(min=1), multiple=True, help="Worlds [1024]. Repeatable.")
@click.option(
    "--precision",
    "precisions",
    type=click.Choice(["f64", "f32"]),
    multiple=True,
    help="[f64 and f32; with --profile f64.] Repeatable.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    multiple=True,
    default=(1,),
    show_default=True,
    help="Repeatable: the scaling is shown too.",
)
@click.option(
    "--runtime",
    "runtimes",
    multiple=True,
    help="Runtime of the taichi backend: auto, quadrants or taichi. Repeatable.",
)
@click.option("--steps", type=click.IntRange(min=1), default=50, show_default=True, help="Steps per call.")
@click.option("--repeat", type=click.IntRange(min=1), default=9, show_default=True, help="Paired runs.")
@click.option(
    "--roll-in",
    type=FiniteRange(min=0),
    default=1.0,
    show_default=True,
    help="Simulated seconds before the measurement.",
)
@click.option(
    "--budget",
    type=FiniteRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds for the runs of one size of batch.",
)
@click.option("--backend", default="auto", show_default=True, help="Where stages run.")
@click.option("--mujoco/--no-mujoco", "with_mujoco", default=None, help="Measure MuJoCo too [if installed].")
@click.option(
    "--sweep", type=click.Choice(["nworld", "nv", "ncon"]), help="Cost over this size, with a fitted line."
)
@click.option("--profile", is_flag=True, help="Time each stage inside the fused kernel.")
@click.option("--profile-stages", callback=_names, default="", metavar="A,B", help="Only these stages.")
@click.option("--one-world", is_flag=True, help="One world: a call for each step, and for a thousand.")
@click.option("--first-step", is_flag=True, help="Time to the first step, without and with cached kernels.")
@click.option("--history", type=OUTPUT_FILE, help="Append JSON lines here.")
@click.option("--plot", type=OUTPUT_FILE, help="Draw a chart into this .svg, .png or .pdf.")
@locked_option
@asset_root_option
def bench(
    models: tuple[str, ...],
    suite: bool,
    sweep: str | None,
    profile: bool,
    profile_stages: tuple[str, ...],
    first_step: bool,
    one_world: bool,
    history: Path | None,
    plot: Path | None,
    locked: str | None,
    asset_root: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Measure the speed of batches or of one world, beside MuJoCo if it is installed.

    MODEL is a file, a built-in model, boxes, meshes, gymnasium/NAME or suite/NAME (of an installed gymnasium or
    dm_control), with +euler, +rk4, +implicit or +implicitfast behind it for another integrator. Both engines start
    from the same states, rolled in under random controls, and take turns; the figure is the median of the paired
    ratios. The error is that of the state after one step.
    """
    profile = profile or bool(profile_stages)
    kinds = {
        "--sweep": sweep is not None,
        "--profile": profile,
        "--first-step": first_step,
        "--one-world": one_world,
    }
    _check_request(models, [name for name, wanted in kinds.items() if wanted], suite, sweep, plot)
    _check_files(history, plot)
    request = _request(asked, profile=profile, sweep=sweep)
    from dovetail.config import insisting_on

    with _status(show=not as_json) as show, insisting_on(locked):
        cases = _cases(models, suite=suite)
        _confine(cases, asset_root)
        if profile:
            job: _Job = _Profile(cases, request, profile_stages)
        elif first_step:
            job = _FirstStep(cases, request)
        elif one_world:
            job = _OneWorld(cases, request)
        elif sweep is not None:
            job = _Sweep(sweep, cases[0], request, asked["nworld"])
        else:
            job = _Speed(cases, request)
        for part in job.parts(show):
            if history is not None:
                _append(history, job.kind, part)
            if not as_json:
                job.show(part)
    if plot is not None:
        job.draw(plot)
    if as_json:
        emit(job.report())


# ---- what was asked


def _check_request(
    models: Sequence[str], chosen: Sequence[str], suite: bool, sweep: str | None, plot: Path | None
) -> None:
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} are different measurements: ask for one at a time")
    if sweep is not None and (suite or len(models) > 1):
        raise click.UsageError("--sweep measures one model")
    if sweep in ("nv", "ncon") and models:
        raise click.UsageError(f"--sweep {sweep} generates its models; leave out {models[0]!r}")
    if plot is not None and chosen and sweep is None:
        raise click.UsageError(f"--plot draws speeds and sweeps, not what {chosen[0]} measures")


def _check_files(history: Path | None, plot: Path | None) -> None:
    """Fail before the measurement, not after it."""
    from dovetail.files import appending

    if history is not None:
        with appending(history):
            pass
    if plot is not None:
        check_chart_file(plot, "--plot")


def _request(asked: dict[str, Any], *, profile: bool, sweep: str | None) -> Measurement:
    from dovetail.bench import Measurement

    given = {name: value for name, value in asked.items() if value is not None and value != ()}
    given["runtimes"] = given.get("runtimes", (None,))
    if profile:
        given.setdefault("precisions", ("f64",))
    return Measurement(**given)


def _cases(models: Sequence[str], *, suite: bool) -> list[Case]:
    """The models asked for; those of the suite whose package is missing are skipped, and named."""
    from dovetail.bench import SUITE, find
    from dovetail.bench.cases import AbsentPackageError, UnknownModelError

    cases = []
    for name in dict.fromkeys([*models, *(SUITE if suite else ())] or ["humanoid"]):
        try:
            cases.append(find(name))
        except UnknownModelError as error:
            raise click.BadParameter(str(error), param_hint="MODEL") from error
        except AbsentPackageError as error:
            if name in models:
                raise
            click.echo(f"skipped {error}", err=True)
    return cases


def _confine(cases: Iterable[Case], asset_root: str | None) -> None:
    """See that the models of files have all their files in one folder."""
    from dovetail.bench.cases import is_own
    from dovetail.loading import load

    for case in cases if asset_root is not None else ():
        if case.file is not None and not is_own(case.file):
            load(case.file, asset_root=asset_root)


@contextmanager
def _status(*, show: bool) -> Iterator[ShowProgress]:
    """A line on stderr that changes, on a terminal; else a line for what takes long, with the seconds since the
    beginning."""
    began = time.perf_counter()

    def line(text: str) -> None:
        if not text.startswith("measuring"):
            click.echo(f"[{time.perf_counter() - began:4.0f} s] {text}", err=True)

    if not show:
        yield lambda text: None
    elif sys.stderr.isatty():
        with console(stderr=True).status("") as status:
            yield lambda text: status.update(f"[{time.perf_counter() - began:4.0f} s] {text}")
    else:
        yield line


def _append(history: Path, kind: str, part: Any) -> None:
    import attrs

    from dovetail.bench.results import append_line

    append_line(history, {"kind": kind, **attrs.asdict(part)})


# ---- kinds of measurement


class _Job(ABC):
    """A measurement of several parts, each shown and written to the history as soon as it is there."""

    kind: str
    """In the history."""
    plural: str
    """In the JSON report."""

    def __init__(self, cases: Sequence[Case], request: Measurement) -> None:
        self.cases, self.request = cases, request
        self.done: list[Any] = []

    def parts(self, show: ShowProgress) -> Iterator[Any]:
        for case in self.cases:
            for part in self.measured(case, show):
                self.done.append(part)
                yield part

    @abstractmethod
    def measured(self, case: Case, show: ShowProgress) -> Sequence[Any]: ...

    @abstractmethod
    def show(self, part: Any) -> None: ...

    def report(self) -> dict[str, Any]:
        return {self.plural: self.done}

    def draw(self, path: Path) -> None:
        """Only of jobs that make a chart; the others are refused before they start."""
        raise click.UsageError(f"--plot has no chart of {self.kind}")


class _Speed(_Job):
    kind, plural = "speed", "results"

    def measured(self, case: Case, show: ShowProgress) -> Sequence[BenchResult]:
        from dovetail.bench import measure

        return [measure(case, self.request, show)]

    def show(self, part: BenchResult) -> None:
        title(part.headline())
        _show(ROW, part.rows)
        _show_notes(part.notes)
        if len(self.done) == len(self.cases):
            _show_machine(part.machine)

    def draw(self, path: Path) -> None:
        from dovetail.bench.chart import of_results
        from dovetail.chart import write

        write(path, [of_results(self.done)])


class _Sweep(_Job):
    kind, plural = "sweep", "sweeps"

    def __init__(self, over: str, case: Case, request: Measurement, sizes: Sequence[int]) -> None:
        super().__init__([case], request)
        self.over = over
        self.sizes = tuple(sizes) if over == "nworld" else ()

    def measured(self, case: Case, show: ShowProgress) -> Sequence[Sweep]:
        from dovetail.bench.sweeps import sweep

        return [sweep(self.over, case, self.request, self.sizes, show)]

    def show(self, part: Sweep) -> None:
        _show_sweep(part)
        _show_notes(note for result in part.results for note in result.notes)
        _show_machine(part.results[-1].machine)

    def draw(self, path: Path) -> None:
        from dovetail.bench.chart import of_sweep
        from dovetail.chart import write

        write(path, [of_sweep(self.done[0])])


class _Profile(_Job):
    kind, plural = "profile", "profiles"

    def __init__(self, cases: Sequence[Case], request: Measurement, stages: tuple[str, ...]) -> None:
        super().__init__(cases, request)
        self.stages = stages

    def measured(self, case: Case, show: ShowProgress) -> Sequence[StageTimes]:
        from dovetail.bench.stages import profile

        return profile(case, self.request, self.stages, show)

    def show(self, part: StageTimes) -> None:
        _show_profile(part)
        _show_machine(part.machine)


class _FirstStep(_Job):
    kind, plural = "first_step", "first_steps"

    def measured(self, case: Case, show: ShowProgress) -> Sequence[FirstStep]:
        from dovetail.bench.startup import first_steps

        return first_steps(case, self.request, show)

    def show(self, part: FirstStep) -> None:
        """All of them, once the last is there."""
        if part.cached and len(self.done) == self._count():
            title("seconds since the start of a new process")
            _show(FIRST_STEP, self.done)

    def _count(self) -> int:
        return 2 * len(self.cases) * len(self.request.precisions) * len(self.request.runtimes)


class _OneWorld(_Job):
    kind, plural = "one_world", "one_world"

    def measured(self, case: Case, show: ShowProgress) -> Sequence[OneWorld]:
        from dovetail.bench.one_world import one_world

        return one_world(case, self.request, show)

    def show(self, part: OneWorld) -> None:
        """All of them, once the last is there."""
        if part.keep == "all" and len(self.done) == 2 * len(self.cases):
            title("one world, microseconds per step, least of several rounds")
            _show(ONE_WORLD, self.done)
            _show_machine(part.machine)


# ---- tables

Column = tuple[str, Callable[[Any], object]]
"""Heading, and what stands under it."""


def _number(value: float | None, form: str = ".2f") -> str | None:
    return None if value is None else format(value, form)


def _error(row: BenchRow) -> str | None:
    return None if row.error is None else f"{row.error:.0e} ({row.error_median:.0e})"


def _range(row: BenchRow) -> str | None:
    return None if row.ratio_range is None else "{:.2f} … {:.2f}".format(*row.ratio_range)


ROW: tuple[Column, ...] = (
    ("worlds", lambda row: row.nworld),
    ("real", lambda row: row.precision),
    ("threads", lambda row: row.threads),
    ("runtime", lambda row: row.runtime),
    ("µs/step/world", lambda row: _number(row.microseconds)),
    ("MuJoCo µs", lambda row: _number(row.mujoco_microseconds)),
    ("times MuJoCo", lambda row: _number(row.ratio)),
    ("from … to", _range),
    ("error (median)", _error),
    ("steps/s", lambda row: quantity(row.world_steps_per_second)),
    ("scaling", lambda row: _number(row.scaling)),
    ("per world", lambda row: size(row.bytes_per_world)),
    ("compile s", lambda row: _number(row.compile_seconds, ".1f")),
)

FIRST_STEP: tuple[Column, ...] = (
    ("model", lambda one: one.model),
    ("precision", lambda one: one.precision),
    ("runtime", lambda one: one.runtime),
    ("kernels", lambda one: "from the cache" if one.cached else "compiled"),
    ("imported", lambda one: _number(one.imported)),
    ("loaded", lambda one: _number(one.loaded)),
    ("planned", lambda one: _number(one.planned)),
    ("first step done", lambda one: _number(one.first_step)),
    ("a later step takes", lambda one: _number(one.later_step, ".4f")),
)


ONE_WORLD: tuple[Column, ...] = (
    ("model", lambda one: one.model),
    ("on", lambda one: one.backend),
    ("keep", lambda one: one.keep),
    ("step(1)", lambda one: _number(one.one, ".1f")),
    ("MuJoCo", lambda one: _number(one.mujoco_one, ".1f")),
    ("times MuJoCo", lambda one: _number(one.ratio_one)),
    ("step(1000)", lambda one: _number(one.many, ".1f")),
    ("MuJoCo's", lambda one: _number(one.mujoco_many, ".1f")),
    ("times", lambda one: _number(one.ratio_many)),
    ("real time", lambda one: f"{one.realtime:,.0f}x"),
)


OPTIONAL = (
    *("from … to", "steps/s", "scaling", "per world", "compile s"),
    *("imported", "planned", "loaded", "real time"),
)
"""What a narrow terminal is not shown; --json and --history have all."""


def _show(columns: Sequence[Column], entries: Sequence[object]) -> None:
    names = [name for name, _ in columns]
    cells = [[cell(entry) for _, cell in columns] for entry in entries]
    table(names, cells, numeric=names, optional=OPTIONAL)


def _show_notes(notes: Iterable[str]) -> None:
    for note in dict.fromkeys(notes):
        say(f"note: {note}")


def _show_machine(machine: dict[str, Any]) -> None:
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    load = "" if machine["load"] is None else f" (load {machine['load']:.1f})"
    say("")
    say(f"{machine['processor']}, {machine['cores']} cores{load}; Python {machine['python']}, {packages}")


def _show_sweep(sweep: Sweep) -> None:
    title(f"{sweep.y_label} over {sweep.x_label}")
    sizes = list(dict.fromkeys(x for series in sweep.series for x in series.sizes))
    rows = []
    for series in sweep.series:
        costs = dict(zip(series.sizes, series.costs, strict=True))
        rows.append(
            [
                series.name,
                *(quantity(costs[x]) if x in costs else None for x in sizes),
                "too few points" if series.fit is None else str(series.fit),
            ]
        )
    names = [f"{x:g}" for x in sizes]
    table(("size", *names, "fitted line"), rows, numeric=names)


def _show_profile(one: StageTimes) -> None:
    title(one.headline())
    rows: list[Sequence[object]] = [
        (t.stage, _number(t.microseconds, ".3f"), f"{100 * t.share:.1f} %")
        for t in one.stages
        if t.microseconds is not None and t.share is not None
    ]
    whole = one.looped_microseconds
    for label, value in (("(load, store, launch)", one.copy_microseconds), ("(rest)", one.rest_microseconds)):
        rows.append((label, f"{value:.3f}", f"{100 * value / whole:.1f} %"))
    rows.append(("(all, with loops)", f"{whole:.3f}", "100.0 %"))
    table(("stage", "µs/step/world", "share"), rows, numeric=("µs/step/world", "share"))
    apart = [t.stage for t in one.stages if t.microseconds is None]
    if apart:
        say(f"in the rest, because the state changes when they are repeated: {', '.join(apart)}")
    if one.device is not None:
        say(f"device: {one.device}")
    say(f"how: {one.how}; took {one.seconds:.0f} s with compiling")
    _show_notes(one.notes)
