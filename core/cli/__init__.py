"""The command line: a group whose commands are imported only when they run.

`dovetail --help` prints the table below and imports nothing else, so it answers at once. The command `x`
is the function `x` of the module `x` here. Installed packages add commands through the entry-point group
`dovetail.commands` (name → click command).

Exit codes: 0 all is well; 1 the command found something wrong (a model with problems, NaN, a comparison out of
tolerance); 2 it was asked something it cannot do (bad usage, unreadable input, an unsatisfiable choice); 3 a
comparison compared nothing.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from dovetail.entry_points import entry_points
from dovetail.errors import DovetailError, PluginError, nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "dovetail.commands"

COMMANDS = {
    "run": "Simulate a model and sum up what happened.",
    "view": "Watch a model in the browser: run it, pull at it, plot, replay, compare.",
    "rollout": "Step many worlds on many processors or machines.",
    "check": "Load models and say everything that stops them from running.",
    "info": "Show what is in a model: sizes, options, bodies, actuators.",
    "plan": "Show which implementation would run for each stage, and why.",
    "lock": "Write down what computes a project's models, for --locked.",
    "stages": "List the stages of the pipeline, or describe one.",
    "fields": "List the declared fields of Model and Data.",
    "plugins": "List the installed plugins and what they offer.",
    "doctor": "Show what this machine has for fast kernels, and try it.",
    "bench": "Measure the speed of batches or of one world, beside MuJoCo if it is installed.",
    "conform": "Compare a model, stage by stage and step by step, with MuJoCo 3.4.0.",
    "compare": "Compare two implementations of one stage on the same states.",
    "diff": "Find the first stage where two runs of a model part.",
    "minimise": "Find the smallest model and state that still show a fault.",
    "certify": "Certify a package: run every check on all it brings.",
}
"""Built-in commands, in the order of --help. A test compares these lines with the commands' own."""

FOUND_PROBLEMS = 1
BAD_REQUEST = 2
INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""


def plugin_commands() -> dict[str, EntryPoint]:
    """Commands that installed packages add, by name; nothing is imported."""
    found = sorted(entry_points(ENTRY_POINTS), key=lambda entry: entry.name)
    return {entry.name: entry for entry in found if entry.name not in COMMANDS}


class LazyGroup(click.Group):
    """Knows its commands by name, imports one when it is invoked, and reports errors cleanly."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *plugin_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command: click.Command = getattr(importlib.import_module(f"dovetail.cli.{cmd_name}"), cmd_name)
            return command
        entry = plugin_commands().get(cmd_name)
        return None if entry is None else _load_plugin_command(entry)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and name not in COMMANDS:
            known = self.list_commands(ctx)
            if name not in known:
                raise click.UsageError(
                    f"there is no command {name!r}{nearest(name, known) or '.'} Commands: {', '.join(known)}",
                    ctx,
                )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        added = plugin_commands()
        if added:
            with formatter.section("Commands of installed plugins"):
                formatter.write_dl([(name, f"from {_distribution(e)}") for name, e in added.items()])

    def main(self, args: Sequence[str] | None = None, *rest: Any, **extra: Any) -> NoReturn:
        """Run, and leave with the exit code; errors become one message, or JSON if that was asked for."""
        words = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                code = super().main(words, *rest, **extra)
        except click.exceptions.Abort:
            sys.exit(INTERRUPTED)
        except (click.ClickException, DovetailError) as error:
            _report(error, as_json="--json" in words)
            sys.exit(BAD_REQUEST)
        except OSError as error:
            if error.filename is None:  # not about a file the user named: a defect, show where
                raise
            _report(DovetailError(f"{error.filename}: {error.strerror}"), as_json="--json" in words)
            sys.exit(BAD_REQUEST)
        sys.exit(code if isinstance(code, int) else 0)


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value.partition(":")[0]


def _load_plugin_command(entry: EntryPoint) -> click.Command:
    try:
        command = entry.load()
    except Exception as error:
        raise PluginError(
            f"the command {entry.name!r} of {_distribution(entry)} cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(command, click.Command):
        raise PluginError(
            f"the entry point {entry.name!r} of {_distribution(entry)} should be a click command, "
            f"but {entry.value} is {command!r}"
        )
    return command


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"warning: {message}", err=True)


def _report(error: click.ClickException | DovetailError, *, as_json: bool) -> None:
    if as_json:
        import json

        text = error.format_message() if isinstance(error, click.ClickException) else str(error)
        notes = {"notes": list(error.__notes__)} if getattr(error, "__notes__", None) else {}
        click.echo(json.dumps({"error": text, "type": type(error).__name__, **notes}))
    elif isinstance(error, click.ClickException):
        error.show()
    else:
        click.echo("\n  ".join([f"dovetail: {error}", *getattr(error, "__notes__", ())]), err=True)


def _version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from dovetail import __version__

        click.echo(f"dovetail {__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Every command has --json, and --help with an example.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print it."
)
def main() -> None:
    """dovetail: a physics engine whose every stage is a plugin.

    \b
    dovetail run humanoid --duration 2 --plot
    dovetail plan my_robot.xml --nworld 1024
    """
