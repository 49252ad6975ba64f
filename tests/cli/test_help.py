"""Help is quick, complete, and true: nothing heavy is imported to print it."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import dovetail.cli
from dovetail.cli import COMMANDS, main

HEAVY = ("numpy", "scipy", "lxml", "rich", "pluggy", "attr", "taichi", "quadrants", "mujoco")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_summaries_says_what_each_command_says(name: str) -> None:
    command = getattr(importlib.import_module(f"dovetail.cli.{name}"), name)
    assert command.name == name
    assert command.short_help == COMMANDS[name]


def test_every_command_file_is_in_the_table() -> None:
    files = Path(dovetail.cli.__file__).parent.glob("*.py")
    assert {f.stem for f in files if not f.stem.startswith("_")} == set(COMMANDS)


@pytest.mark.parametrize("words", [["--help"], *([name, "--help"] for name in COMMANDS)], ids=" ".join)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    printed = python(
        "import sys\nfrom dovetail.cli import main\n"
        f"try:\n    main({words!r}, prog_name='dovetail')\nexcept SystemExit:\n    pass\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    assert printed.splitlines()[-1] == "[]"


def test_help_imports_no_more_than_click_and_the_command_line() -> None:
    """What makes help quick: beside click and the standard library only the few modules that print it."""
    printed = python(
        "import sys, click, importlib.metadata\nbefore = set(sys.modules)\nfrom dovetail.cli import main\n"
        "try:\n    main(['--help'], prog_name='dovetail')\nexcept SystemExit:\n    pass\n"
        "print(sorted(m for m in set(sys.modules) - before if m.partition('.')[0] not in sys.stdlib_module_names))"
    )
    added = ast.literal_eval(printed.splitlines()[-1])
    ours = [name for name in added if name.partition(".")[0] == "dovetail"]
    assert [n for n in added if n not in ours and not n.startswith(("click", "__editable__"))] == []
    assert set(ours) == {"dovetail", "dovetail.cli", "dovetail.entry_points", "dovetail.errors"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_json(run, name: str) -> None:
    answer = run(name, "--help")
    assert answer.code == 0
    assert f"Example:\n    dovetail {name}" in answer.out
    assert "--json" in answer.out
    assert " ".join(answer.out.split()).count(COMMANDS[name]) == 1


def test_help_lists_commands_in_order(run) -> None:
    lines = run("--help").out.splitlines()
    listed = [line.split()[0] for line in lines if line[:2] == "  " and line.split()[0] in COMMANDS]
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)


def test_the_version_is_the_package_version(run) -> None:
    assert run("--version").out == f"dovetail {dovetail.__version__}\n"


def test_an_unknown_command_names_the_nearest(run) -> None:
    answer = run("benhc")
    assert answer.code == 2
    assert "did you mean 'bench'?" in answer.err
    assert run("benhc", "--json").json == {
        "error": answer.err.partition("Error: ")[2].strip(),
        "type": "UsageError",
    }


# ---- commands of plugins


def entry(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Pretend that an installed package adds a command."""
    real = importlib.metadata.entry_points

    def entry_points(*, group: str):
        if group == "dovetail.commands":
            return [importlib.metadata.EntryPoint(name, value, group)]
        return real(group=group)

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


def test_a_plugin_command_is_listed_without_being_imported(run, monkeypatch) -> None:
    entry(monkeypatch, "wave", "no_such_package:wave")
    answer = run("--help")
    assert answer.code == 0
    assert "wave  from no_such_package" in answer.out


def test_a_plugin_command_runs(run, monkeypatch, tmp_path) -> None:
    (tmp_path / "waving.py").write_text(
        "import click\n\n\n@click.command()\n@click.argument('name')\ndef wave(name):\n    click.echo(f'hi {name}')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry(monkeypatch, "wave", "waving:wave")
    assert run("wave", "you").out == "hi you\n"


def test_a_broken_plugin_command_says_whose_it_is(run, monkeypatch) -> None:
    entry(monkeypatch, "wave", "no_such_package:wave")
    answer = run("wave")
    assert answer.code == 2
    assert "command 'wave' of no_such_package cannot be loaded" in answer.err
    assert "Traceback" not in answer.err


def test_a_plugin_cannot_replace_a_built_in_command(run, monkeypatch) -> None:
    entry(monkeypatch, "info", "no_such_package:info")
    assert run("info", "pendulum").code == 0


def test_main_is_the_script_that_the_package_installs() -> None:
    scripts = importlib.metadata.entry_points(group="console_scripts")
    assert next(e for e in scripts if e.name == "dovetail").load() is main


def test_options_that_choose_are_keywords_of_simulation() -> None:
    from dovetail import Simulation
    from dovetail.cli._options import SIMULATION_OPTIONS

    assert set(SIMULATION_OPTIONS) <= set(inspect.signature(Simulation).parameters)
