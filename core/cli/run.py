"""`dovetail run`: simulate, then say what ran, how quickly, and whether the numbers are sane."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli import FOUND_PROBLEMS
from dovetail.cli._filming import film_options
from dovetail.cli._options import (
    Choices,
    FiniteRange,
    asset_root_option,
    check_chart_file,
    cli_command,
    load_model,
    model_argument,
    running,
    selection_options,
)
from dovetail.cli._output import Progress, emit, waiting
from dovetail.errors import BadStateError

if TYPE_CHECKING:
    from dovetail.cli._filming import Filming
    from dovetail.cli._recording import Quantity, Recorder
    from dovetail.cli._run_report import Outcome
    from dovetail.cli._watch import Watch
    from dovetail.contracts.fields import Array
    from dovetail.contracts.types import Model
    from dovetail.planning.wrappers import Profiler
    from dovetail.simulation import Simulation

DEFAULT_DURATION = 1.0
"""Seconds to simulate when nobody says."""
PLOT_SAMPLES = 144
"""Samples of a plot when --every is not given: one per dot column."""
MOST_DIGITS = 10
"""Of the number of a keyframe; what is longer can only be a name."""
REFRESH = 0.1
"""Seconds between two looks at the progress bar and at the state."""


@cli_command(
    example="""dovetail run humanoid --duration 2 --plot height
    dovetail run pendulum --plot energy --plot "qpos[0]" --plot-file swing.pdf
    dovetail run humanoid --nworld 1024 --noise 0.1 --steps 500
    dovetail run arm --keyframe reach --output reach.npz --every 10
    dovetail run humanoid --keyframe leap --video leap.mp4 --size 1280x720"""
)
@model_argument
@click.option("--steps", type=click.IntRange(min=0), help="How many steps; 0 shows how the model begins.")
@click.option("--duration", type=float, help="How many seconds instead [default: 1].")
@click.option("--keyframe", help="Start from a keyframe, by name or number.")
@click.option("--noise", type=FiniteRange(min=0), default=0.0, help="Random initial velocities: sigma.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random velocities."
)
@click.option(
    "--missing",
    type=click.Choice(["error", "skip"]),
    default="error",
    show_default=True,
    help="What to do about stages that nothing implements: stop, or run without them.",
)
@click.option(
    "--on-nan",
    type=click.Choice(["raise", "reset", "freeze"]),
    default="raise",
    show_default=True,
    help="What to do when a state goes bad: stop, reset that world as MuJoCo does, or hold it.",
)
@click.option("--strict", is_flag=True, help="Stop where a NumPy stage touches a field it does not declare.")
@click.option("--profile", is_flag=True, help="Time every stage by itself (fused kernels come apart).")
@click.option(
    "--plan", "with_plan", is_flag=True, help="Show the plan, too: what ran for each stage, and why."
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Trajectory file, .npz.")
@click.option(
    "--plot",
    "plots",
    multiple=True,
    is_flag=False,
    flag_value="auto",
    metavar="[QUANTITY]",
    help="Plot over time: height, energy, a joint, or FIELD[i,j]. Repeatable; put it after MODEL.",
)
@click.option(
    "--plot-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw what --plot names into this .svg, .png or .pdf.",
)
@click.option("--every", type=click.IntRange(min=1), help="Record every so many steps.")
@film_options
@asset_root_option
@selection_options
def run(
    model: str,
    choices: Choices,
    filming: dict[str, Any],
    asset_root: str | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Simulate a model and sum up what happened.

    MODEL is an MJCF file or the name of a built-in model. The exit code is 1 if the state went bad.
    """
    from dovetail.cli import _filming, _recording, _run_report, _screen
    from dovetail.cli._watch import Watch
    from dovetail.planning import costs

    loaded = load_model(model, choices, asset_root=asset_root)
    total = _step_count(loaded, asked["steps"], asked["duration"])
    _check_output(asked["output"])
    if asked["plot_file"] is not None:
        check_chart_file(asked["plot_file"], "--plot-file")
    plots = asked["plots"] or (("auto",) if asked["plot_file"] else ())
    quantities = tuple(_recording.parse_quantity(loaded, text) for text in plots)
    profiler = _profiler() if asked["profile"] else None
    outcome = _run_report.Outcome()
    with (
        _collecting(outcome.warnings),
        _filming.filming(loaded, filming, choices["nworld"], total) as film,
    ):
        sim = _simulation(
            loaded,
            choices,
            quantities,
            profiler,
            **{name: asked[name] for name in ("missing", "on_nan")},
            strict=asked["strict"] or None,
        )
        clock = costs.watch(sim.plan)
        _start(sim, asked["keyframe"], asked["noise"], asked["seed"])
        recorder = _recording.Recorder(sim, quantities, whole_state=asked["output"] is not None)
        every = asked["every"] or (1 if asked["output"] or not quantities else max(1, total // PLOT_SAMPLES))
        watch = Watch(sim, total)
        _simulate(sim, total, every, recorder, watch, film, profiler, outcome, quiet=as_json)
    outcome.costs = costs.told(clock)
    if film is not None:
        outcome.film = film.report(outcome.problem)
    with _collecting(outcome.warnings):
        if asked["output"] is not None:
            recorder.write(asked["output"])
        if asked["plot_file"] is not None:
            recorder.draw(asked["plot_file"])
        report = _run_report.report(sim, outcome, watch.seen(), recorder, asked["output"], profiler, total)
    if as_json:
        emit(report)
    else:
        _screen.show(report, with_plan=asked["with_plan"])
    return FOUND_PROBLEMS if report["problems"] else 0


# ---- before


def _step_count(model: Model, steps: int | None, duration: float | None) -> int:
    from dovetail import limits
    from dovetail.arguments import whole

    if steps is not None and duration is not None:
        raise click.UsageError("give --steps or --duration, not both")
    if steps is not None:
        return whole("--steps", steps, 0, "STEPS")
    seconds = DEFAULT_DURATION if duration is None else duration
    if not seconds < limits.STEPS * model.opt.timestep:
        raise click.BadParameter(
            f"{seconds:g} s should be finite, and no more than {limits.LIMITS['STEPS']}",
            param_hint="--duration",
        )
    count = round(seconds / model.opt.timestep)
    if count < 1:
        raise click.BadParameter(
            f"{seconds:g} s is shorter than one step of {model.opt.timestep:g} s", param_hint="--duration"
        )
    return count


def _check_output(path: Path | None) -> None:
    """Say now, not after an hour's simulation, that the file cannot be written."""
    if path is None:
        return
    if path.exists() and not path.is_file():
        raise click.BadParameter(f"{path} is there and no regular file", param_hint="--output")
    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no directory {path.parent}", param_hint="--output")


def _profiler() -> Profiler:
    from dovetail.planning.wrappers import Profiler

    return Profiler()


def _simulation(
    model: Model,
    choices: Choices,
    quantities: tuple[Quantity, ...],
    profiler: Profiler | None,
    **handling: Any,
) -> Simulation:
    from dovetail.config import Config
    from dovetail.simulation import Simulation

    found = Config.discover()
    asked = choices["keep"] or found.setting("keep", None).value
    wanted = {**running(choices), "keep": _keep(model, asked, quantities), "config": found}
    sim = Simulation(model, **wanted, wrap=(profiler,) if profiler else (), **handling)
    for gap in sim.plan.missing:
        click.echo(f"warning: running without {gap.slot}, needed by {gap.reason}", err=True)
    return sim


def _keep(model: Model, asked: tuple[str, ...] | None, quantities: tuple[Quantity, ...]) -> tuple[str, ...]:
    """Fields to keep: what the user or a configuration asks for, plus what this command wants to show."""
    from dovetail.features import need

    shown = {q.field for q in quantities} | {"ncon"} | ({"energy"} if need(model, "energy") else set())
    return tuple(dict.fromkeys((*(asked or ("state",)), *sorted(shown))))


def _start(sim: Simulation, keyframe: str | None, noise: float, seed: int) -> None:
    """Put the worlds at a keyframe and give them random velocities."""
    import numpy as np

    if keyframe is not None:
        try:
            number = keyframe.isdecimal() and len(keyframe) < MOST_DIGITS
            sim.reset(int(keyframe) if number else keyframe)
        except KeyError as error:
            names = ", ".join(filter(None, sim.model.object_names.get("key", ()))) or "none"
            raise click.BadParameter(
                f"{error.args[0]}. Keyframes: {names}", param_hint="--keyframe"
            ) from None
    if noise > 0:
        shape = np.shape(sim.data.qvel)
        sim.data.qvel = sim.data.qvel + noise * np.random.default_rng(seed).standard_normal(shape)


# ---- during


@contextmanager
def _collecting(texts: list[str]) -> Iterator[None]:
    """Warnings are shown as ever, and kept."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def keep(message: Warning | str, *rest: Any, **extra: Any) -> None:
            texts.append(str(message))
            show(message, *rest, **extra)

        warnings.showwarning = keep
        yield


def _simulate(
    sim: Simulation,
    total: int,
    every: int,
    recorder: Recorder,
    watch: Watch,
    film: Filming | None,
    profiler: Profiler | None,
    outcome: Outcome,
    *,
    quiet: bool,
) -> None:
    """Step in portions that end at samples and are short enough for a live progress bar; stop at NaN."""
    recorder.sample(first=True)
    watch.sample(first=True)
    if film is not None:
        film.look(sim, 0)
    if not total:
        return
    outcome.first_seconds = _first_step(sim, outcome, quiet=quiet)
    outcome.steps = 0 if outcome.problem else 1
    outcome.energy_first = outcome.energy_last = _energy(sim)
    if profiler is not None:
        profiler.reset()  # the first calls may have compiled something
    portion = 1
    with Progress(total, show=not quiet) as progress:
        _record(recorder, watch, film, outcome, every, total)
        while outcome.steps < total and not outcome.problem and _finite(sim):
            count = min(portion, _until_stop(outcome.steps, every, watch, film), total - outcome.steps)
            spent = _timed(sim, count, outcome)
            outcome.steps += 0 if outcome.problem else count
            outcome.seconds += spent
            if spent < REFRESH / 2 and count == portion:
                portion *= 2
            _record(recorder, watch, film, outcome, every, total)
            progress.advance(outcome.steps, outcome.seconds)
    outcome.energy_last = _energy(sim)


def _first_step(sim: Simulation, outcome: Outcome, *, quiet: bool) -> float:
    from dovetail.cli.plan import compiled_backends

    compiled = compiled_backends(sim.plan)
    text = f"compiling for {', '.join(compiled)} …"
    with waiting(text, show=bool(compiled) and not quiet):
        seconds = _timed(sim, 1, outcome)
    if compiled and not quiet:
        click.echo(f"ready in {seconds:.1f} s", err=True)
    return seconds


def _timed(sim: Simulation, count: int, outcome: Outcome) -> float:
    """Seconds that steps took; a state that went bad is kept as the outcome's problem."""
    start = time.perf_counter()
    try:
        sim.step(count)
    except BadStateError as error:
        outcome.problem = str(error)
    return time.perf_counter() - start


def _until_stop(steps: int, every: int, watch: Watch, film: Filming | None) -> int:
    """How many steps there are until somebody wants to look."""
    near = min(every - steps % every, watch.every - steps % watch.every)
    return near if film is None else min(near, film.until_next(steps))


def _record(
    recorder: Recorder, watch: Watch, film: Filming | None, outcome: Outcome, every: int, total: int
) -> None:
    last = outcome.steps == total or bool(outcome.problem)
    if outcome.steps % every == 0 or outcome.steps == total:
        recorder.sample()
    if outcome.steps % watch.every == 0 or last:
        watch.sample()
    if film is not None and not outcome.problem:
        film.look(watch.sim, outcome.steps)


def _finite(sim: Simulation) -> bool:
    import numpy as np

    return bool(np.isfinite(np.asarray(sim.data.qpos)).all())


def _energy(sim: Simulation) -> Array | None:
    """Total energy of each world before its last step, if it is computed."""
    import numpy as np

    if "energy" not in sim.data or "energy" not in sim.plan.choices:
        return None
    total: Array = np.asarray(sim.data.energy, dtype=np.float64).sum(axis=-1)
    return total
