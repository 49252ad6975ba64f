"""`dovetail minimise`: the smallest model and state that still show a fault."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dovetail.cli._options import check_model_name, cli_command, model_argument
from dovetail.cli._output import emit, say, waiting

if TYPE_CHECKING:
    from dovetail.compare.minimise import Minimal
    from dovetail.compare.shows import Shows


@cli_command(example="dovetail minimise robot.xml --shows nan --steps 200 --out bug")
@model_argument
@click.option(
    "--shows",
    required=True,
    type=click.Choice(["diff", "mujoco", "nan", "crash", "call"]),
    help="diff: two implementations (--stage, --a, --b); mujoco: another state than MuJoCo; nan: a bad state; "
    "crash: an exception or the end of the process (--kind); call: what a function says (--call).",
)
@click.option("--stage", metavar="SLOT", help="For diff: a stage, or a row as passive_force:spring.")
@click.option("--a", metavar="NAME@BACKEND", help="For diff: the authority.")
@click.option("--b", metavar="NAME@BACKEND", help="For diff: what differs from it.")
@click.option(
    "--kind", default="died", show_default=True, help="For crash: an exception's type, died or hung."
)
@click.option("--call", metavar="MODULE:FUNCTION", help="For call: a function of a trial.")
@click.option(
    "--steps", type=click.IntRange(min=1), default=1, show_default=True, help="Within which it shows."
)
@click.option("--tolerance", type=float, default=1e-6, show_default=True, help="For mujoco: relative.")
@click.option("--backend", default="numpy", show_default=True, help="For mujoco, nan and crash.")
@click.option("--keyframe", metavar="NAME", help="Start from a keyframe of the model.")
@click.option("--seed", type=click.IntRange(min=0), help="Start from a random state.")
@click.option("--dump", type=click.Path(), metavar="FILE", help="Start from the state of a dump.")
@click.option("--seconds", type=click.FloatRange(min=0.1), default=120.0, show_default=True, help="To spend.")
@click.option("--isolated", is_flag=True, help="Try in another process; always so for crash.")
@click.option("--out", type=click.Path(), metavar="FOLDER", help="Write model.xml, state.npz and README.txt.")
def minimise(
    model: str,
    shows: str,
    keyframe: str | None,
    seed: int | None,
    dump: str | None,
    seconds: float,
    isolated: bool,
    out: str | None,
    as_json: bool,
    **asked: Any,
) -> int:
    """Find the smallest model and state that still show a fault.

    Elements, attributes and digits go as long as the fault stays. The state follows by the names of joints. The exit
    code is 2 if the model as it is does not show it.
    """
    from dovetail.compare.minimise import minimise as minimised

    check_model_name(model)
    what = _what(shows, asked)
    with waiting("making it smaller …", show=not as_json):
        found = minimised(
            model,
            what,
            state=None if dump is None else _state_of(dump),
            keyframe=keyframe,
            seed=seed,
            seconds=seconds,
            isolated=isolated or shows == "crash",
        )
    if out is not None:
        found.save(out)
    if as_json:
        emit(found.to_dict())
    else:
        _show(found, out)
    return 0


def _what(shows: str, asked: dict[str, Any]) -> Shows:
    """The record of what is looked for; an option that it needs and lacks is an error."""
    from dovetail.compare import shows as kinds

    makers: dict[str, tuple[Any, tuple[str, ...], dict[str, str]]] = {
        "diff": (kinds.Differs, ("stage", "a", "b", "steps"), {}),
        "mujoco": (kinds.DiffersFromMujoco, ("steps", "tolerance", "backend"), {}),
        "nan": (kinds.GoesBad, ("steps", "backend"), {}),
        "crash": (kinds.Crashes, ("kind", "steps", "backend"), {}),
        "call": (kinds.Answers, ("call",), {"call": "target"}),
    }
    make, names, renamed = makers[shows]
    for name in names:
        if asked[name] is None:
            raise click.UsageError(f"--shows {shows} needs --{name}")
    found: Shows = make(**{renamed.get(name, name): asked[name] for name in names})
    return found


def _state_of(path: str) -> dict[str, Any]:
    """The state of the first world of a dump."""
    from dovetail.compare.dump import Dump

    dump = Dump.load(path)
    return {name: value if dump.nworld is None else value[0] for name, value in dump.inputs.items()}


def _show(found: Minimal, out: str | None) -> None:
    say(f"{found.shows}: {found.headline()}")
    say()
    say(found.text.decode().rstrip())
    if out is not None:
        say()
        say(f"written to {Path(out) / 'model.xml'}, with state.npz and README.txt")
