"""What commands share: the decorator that makes one, its common options, and the models they name.

Nothing heavy is imported here at module level: `dovetail run --help` should be as quick as `dovetail --help`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from dovetail.contracts.choices import OnMissing
    from dovetail.contracts.types import Model

F = TypeVar("F", bound=Callable[..., Any])
Choices = dict[str, Any]
"""What the user chose: keyword arguments of `Simulation`, None for what is left open."""


class Command(click.Command):
    """A command that also takes options by the names that they had in the last minor version."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        from dovetail.deprecation import todays_words

        return super().parse_args(ctx, todays_words(self.name or "", args))


def cli_command(example: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function: its name and docstring, an example, and `--json` (passed as `as_json`)."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        summary, _, details = (inspect.getdoc(function) or "").partition("\n")
        shown = "\n".join(f"  {line.strip()}" for line in example.strip().splitlines())
        text = "\n\n".join(part for part in (summary, details.strip(), f"\b\nExample:\n{shown}") if part)
        as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout, nothing else.")
        return click.command(function.__name__, cls=Command, help=text, short_help=summary)(as_json(function))

    return decorate


def _stages(ctx: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> Mapping[str, str]:
    chosen = {}
    for text in value:
        slot, equals, choice = text.partition("=")
        if not (slot and equals and choice):
            raise click.BadParameter(
                f"{text!r} should be SLOT=CHOICE, as integrate=rk4 or passive_force:spring=joint@numpy"
            )
        chosen[slot] = choice
    return chosen


def stage_option(help: str) -> Callable[[F], F]:
    """The option `--stage`, passed as `stages`: choices by slot."""
    return click.option(
        "--stage", "stages", multiple=True, callback=_stages, metavar="SLOT=CHOICE", help=help
    )


def start_option(default: tuple[str, ...], before: str = "Where runs begin:") -> Callable[[F], F]:
    """The option `--start`, passed as `starts`: kinds of starts, keyframes and saved states."""
    return click.option(
        "--start",
        "starts",
        multiple=True,
        default=default,
        show_default=bool(default),
        metavar="STATE",
        help=f"{before} near the model's pose, at rest in it, random, at a keyframe (name or number), or in a saved "
        "state's file. Repeatable.",
    )


LOCK_FILE = "dovetail.lock"

locked_option = click.option(
    "--locked",
    is_flag=False,
    flag_value=LOCK_FILE,
    metavar="[FILE]",
    help=f"Refuse what this stage lock does not list [{LOCK_FILE}]; an .npz file has one, too. Put it after MODEL.",
)
"""Insists on a stage lock, passed as `locked`: the path of one, or None."""


SIMULATION_OPTIONS: Mapping[str, Callable[[Any], Any]] = {
    "nworld": click.option(
        "--nworld", type=click.IntRange(min=1), help="Simulate this many worlds as one batch."
    ),
    "backend": click.option(
        "--backend", help="Where stages run: auto (the fastest here), numpy, native, taichi."
    ),
    "precision": click.option(
        "--precision", type=click.Choice(["f64", "f32"]), help="Of all real numbers in Data."
    ),
    "threads": click.option("--threads", type=click.IntRange(min=1), help="CPU threads for a batch."),
    "stages": stage_option(
        "Choose for one stage, of running or loading: name, name@backend or @backend. Repeatable."
    ),
    "keep": click.option(
        "--keep", multiple=True, metavar="FIELD", help="Keep a field in Data (or: all). Repeatable."
    ),
    "plugins": click.option(
        "--plugin",
        "plugins",
        multiple=True,
        metavar="NAME",
        help="Let an installed package's own forces, constraints and callbacks take part. Repeatable.",
    ),
    "semantics": click.option(
        "--semantics", metavar="NAME", help="Bundle of rules: mujoco-3.4 (default) or mujoco-4."
    ),
    "runtime": click.option("--runtime", help="Runtime of the taichi backend: auto, quadrants or taichi."),
    "arch": click.option("--arch", help="What it runs on: cpu (default), vulkan, cuda, metal or gpu."),
    "locked": locked_option,
}
"""Options by the keyword of `Simulation` that they are, in the order in which `--help` lists them."""


def selection_options(function: F) -> F:
    """Add the options that choose implementations; they arrive together as `choices`."""

    @functools.wraps(function)
    def gathered(**arguments: Any) -> Any:
        choices = {keyword: arguments.pop(keyword) or None for keyword in SIMULATION_OPTIONS}
        return function(choices=choices, **arguments)

    for option in reversed([*SIMULATION_OPTIONS.values()]):
        gathered = option(gathered)
    result: Any = gathered
    return result


class FiniteRange(click.FloatRange):
    """A range of numbers; what is no number or infinite is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number - number != 0:
            self.fail(f"{value} is no finite number", param, ctx)
        return number


model_argument = click.argument("model", metavar="MODEL")


asset_root_option = click.option(
    "--asset-root",
    type=click.Path(),
    metavar="FOLDER",
    help="The only folder that the model's files may come from.",
)


def check_chart_file(path: Path, option: str) -> None:
    """Say before anything is computed that a chart cannot be drawn into a file."""
    from dovetail.chart import check_format, require_matplotlib
    from dovetail.errors import DovetailError

    try:
        check_format(path)
    except DovetailError as error:
        raise click.BadParameter(str(error), param_hint=option) from error
    if not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.parent}", param_hint=option)
    require_matplotlib()


def check_model_name(name: str) -> None:
    """Refuse what is neither a file nor a built-in model, and list what exists."""
    import os

    from dovetail.errors import listing, nearest, shown
    from dovetail.loading import builtin_models

    known = builtin_models()
    if name not in known and not os.path.exists(name):
        raise click.BadParameter(
            f"{shown(name)} is neither a file nor a built-in model{nearest(name, known) or '.'} "
            f"Built in: {listing(known)}",
            param_hint="MODEL",
        )


def load_model(
    name: str,
    choices: Choices | None = None,
    *,
    stages: Mapping[str, str] | None = None,
    asset_root: str | None = None,
) -> Model:
    """A model file, or a built-in model by name: with what `choices` has for loading, or with `stages`, which must
    all be for loading."""
    from dovetail.loading import load
    from dovetail.planning.loading_selection import for_loading

    check_model_name(name)
    chosen = stages if choices is None else for_loading(choices["stages"])
    semantics = choices.get("semantics") if choices else None
    return load(name, asset_root=asset_root, stages=chosen, semantics=semantics)


def confine(names: Iterable[str], asset_root: str | None) -> None:
    """See that models have all their files in one folder, for commands that then load them in several ways."""
    if asset_root is not None:
        for name in names:
            load_model(name, asset_root=asset_root)


def running(choices: Choices) -> Choices:
    """What the user chose without what is for loading, which the model has seen."""
    from dovetail.planning.loading_selection import for_running

    return {**choices, "stages": for_running(choices["stages"]) or None}


def make_plan(model: Model, choices: Choices, missing: OnMissing = "report") -> Any:
    """The plan for what the user chose, with the configuration files and environment behind it. Choices for loading
    are not for plans."""
    from dovetail.config import Config
    from dovetail.planning.loading_selection import over_configuration
    from dovetail.planning.planner import compile_plan

    settings = running(choices)
    nworld, stages = settings.pop("nworld"), settings.pop("stages")
    config = over_configuration(Config.of_call(stages, **settings))
    return compile_plan(model, config, nworld=nworld, missing=missing)
