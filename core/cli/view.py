"""`dovetail view`: a model in the browser."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli._options import (
    Choices,
    asset_root_option,
    check_model_name,
    cli_command,
    confine,
    load_model,
    model_argument,
    running,
    selection_options,
)
from dovetail.cli._output import emit

if TYPE_CHECKING:
    from dovetail.viewer.viewer import Viewer


@cli_command(
    example="""dovetail view humanoid
    dovetail view humanoid --nworld 16 --no-open --port 8090
    dovetail view arm --keyframe reach --paused
    dovetail view pendulum --replay swing.npz
    dovetail view humanoid --a numpy --b solve_constraints=cg"""
)
@model_argument
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Of the page [default: the first free one from 8080]."
)
@click.option("--no-open", is_flag=True, help="Open no browser; only say where the page is.")
@click.option("--paused", is_flag=True, help="Begin paused.")
@click.option("--keyframe", help="Start from a keyframe, by name or number.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Play a recording that `dovetail run --output` wrote (.npz).",
)
@click.option("--a", metavar="SPEC", help="Beside --b: the authority, in the words of `dovetail diff`.")
@click.option("--b", metavar="SPEC", help="Beside --a: what is compared with it.")
@asset_root_option
@selection_options
def view(
    model: str,
    port: int | None,
    no_open: bool,
    paused: bool,
    keyframe: str | None,
    replay: Path | None,
    a: str | None,
    b: str | None,
    choices: Choices,
    asset_root: str | None,
    as_json: bool,
) -> int:
    """Watch a model in the browser: run it, pull at it, plot, replay, compare.

    The page is on this machine only (127.0.0.1). Ctrl-C, or the button in the page, ends it. With --a and --b two
    implementations run side by side, coloured by how far they are apart.
    """
    from dovetail.viewer.extra import require_viser

    require_viser()
    _check_together(replay, a, b, keyframe, choices)
    check_model_name(model)
    if a is not None or b is not None:
        confine([model], asset_root)
        made = _pair(model, a or "", b or "", port, paused, keyframe)
    elif replay is not None:
        made = _replay(load_model(model, choices, asset_root=asset_root), replay, port, paused, choices)
    else:
        made = _live(load_model(model, choices, asset_root=asset_root), port, paused, keyframe, choices)
    with made:
        _say(made, no_open, as_json)
        with suppress(KeyboardInterrupt):  # how a viewer is meant to end
            made.run()
    return 0


def _check_together(
    replay: Path | None, a: str | None, b: str | None, keyframe: str | None, choices: Choices
) -> None:
    """Refuse options that contradict each other."""
    comparing = a is not None or b is not None
    if replay is not None and (comparing or keyframe is not None):
        raise click.UsageError("--replay shows what was recorded: it takes neither --a, --b nor --keyframe")
    if comparing:
        chosen = [name for name, value in choices.items() if value]
        if chosen:
            raise click.UsageError(
                f"with --a and --b, say {chosen[0]} in a SPEC: what is outside of them would be true of neither"
            )


def _live(model: Any, port: int | None, paused: bool, keyframe: str | None, choices: Choices) -> Viewer:
    from dovetail.viewer import live_viewer

    made = live_viewer(model, port=port, paused=paused, **{k: v for k, v in running(choices).items() if v})
    _start(made, keyframe)
    return made


def _replay(model: Any, path: Path, port: int | None, paused: bool, choices: Choices) -> Viewer:
    from dovetail.viewer.panels.recording import RecordingPanel
    from dovetail.viewer.replay import Recording, Replay
    from dovetail.viewer.viewer import Viewer

    settings = {k: v for k, v in running(choices).items() if v and k not in ("nworld", "keep")}
    watched = Replay(model, Recording.read(path), **settings)
    return Viewer(watched, port=port, paused=paused, panels=(RecordingPanel(watched),))


def _pair(model: str, a: str, b: str, port: int | None, paused: bool, keyframe: str | None) -> Viewer:
    from dovetail.viewer.ab import pair_viewer

    made = pair_viewer(model, a, b, port=port, paused=paused)
    _start(made, keyframe)
    return made


def _start(made: Viewer, keyframe: str | None) -> None:
    """Begin at a keyframe; a viewer whose keyframe is not there is closed."""
    from dovetail.contracts.named import object_id

    if keyframe is None:
        return
    model = made.watched.model
    try:
        known = keyframe.isdecimal() and keyframe not in model.name_index("key")
        number = object_id(model, "key", int(keyframe) if known else keyframe)
    except KeyError as error:
        made.close()
        names = ", ".join(filter(None, model.object_names.get("key", ()))) or "none"
        raise click.BadParameter(f"{error.args[0]}. Keyframes: {names}", param_hint="--keyframe") from None
    made.runner.reset(number)


def _say(made: Viewer, no_open: bool, as_json: bool) -> None:
    """Where the page is, and open it."""
    if as_json:
        emit({"url": made.url, "model": made.watched.model.modelname, "nworld": made.watched.nworld})
    else:
        click.echo(f"viewer at {made.url} (Ctrl-C ends it)")
    if not no_open:
        click.launch(made.url)
