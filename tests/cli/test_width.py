"""Every command at 80 and at 100 columns: no line is longer, and no name is cut."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dovetail.cli import COMMANDS
from dovetail.text_tables import table_lines

WIDTHS = (80, pytest.param(100, marks=pytest.mark.slow))

RUNS: dict[str, tuple[object, ...]] = {
    "run": ("humanoid", "--steps", 12, "--plan", "--profile", "--backend", "numpy"),
    "rollout": ("pendulum", "--workers", 1, "--nworld", 2, "--steps", 3, "--backend", "numpy"),
    "check": ("humanoid", "arm"),
    "info": ("humanoid",),
    "plan": ("humanoid", "--nworld", 8, "--stage", "integrate=rk4@numpy", "--stage", "energy=@numpy"),
    "lock": ("humanoid", "--backend", "numpy"),
    "stages": (),
    "fields": (),
    "plugins": (),
    "doctor": (),
    "bench": ("pendulum", "--backend", "numpy", "--nworld", 1, "--steps", 1, "--repeat", 1, "--roll-in", 0),
    "conform": ("arm", "--steps", 1, "--states", 1),
    "compare": ("humanoid", "--stage", "mass_matrix", "--a", "crb@numpy", "--b", "crb@numpy", "--steps", 2),
    "diff": ("humanoid", "--b", "integrate=implicit", "--steps", 1),
    "minimise": ("pendulum", "--shows", "call", "--call", "what_shows:anything", "--seconds", 1),
    "certify": ("dovetail", "--stage", "mass_matrix", "--backend", "numpy", "--quick"),
}
FURTHER: dict[str, tuple[object, ...]] = {
    "run, a batch": ("run", "humanoid", "--nworld", 3, "--noise", 0.1, "--steps", 5, "--backend", "numpy"),
    "run, nothing": ("run", "humanoid", "--steps", 0),
    "one stage": ("stages", "collide_pair"),
    "what is old": ("stages", "--deprecated"),
    "kernel fields": ("fields", "--owner", "kernel"),
    "all fields of a stage": ("conform", "arm", "--steps", 1, "--states", 0, "--fields"),
}
CALLS = {**{name: (name, *words) for name, words in RUNS.items()}, **FURTHER}
NOT_HERE = {"view": "it serves a page until it is stopped"}
"""Commands that print no table, and why."""
NEEDS = {"conform": "mujoco", "all fields of a stage": "mujoco", "rollout": "ray"}


def test_every_command_is_looked_at() -> None:
    assert set(COMMANDS) - set(NOT_HERE) == set(RUNS)


@pytest.fixture
def narrow(run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run a command on a terminal of some columns."""
    (tmp_path / "what_shows.py").write_text("def anything(trial):\n    return 'it shows'\n")
    monkeypatch.syspath_prepend(tmp_path)

    def at(width: int, *words: object):
        monkeypatch.setenv("COLUMNS", str(width))
        return run(*words)

    return at


@pytest.mark.slow_cases("rollout-80")
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CALLS)
def test_no_line_is_longer_than_the_terminal_is_wide(narrow, name: str, width: int) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    answer = narrow(width, *CALLS[name])
    assert answer.code in (0, 1), answer.err
    assert answer.out
    assert [line for line in answer.out.splitlines() if len(line) > width and not _path(line)] == []
    assert re.findall(r"\S*\w…", answer.out) == []  # nothing is cut
    assert "\x1b" not in answer.out


def _path(line: str) -> bool:
    """Whether a line is too long only because of a file's path, which is left whole."""
    return any("/" in word and len(word) > 40 for word in line.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_80_columns(narrow, command: str) -> None:
    out = narrow(80, command, "--help").out
    assert max(map(len, out.splitlines())) <= 80


def test_names_are_whole_in_80_columns(narrow) -> None:
    plan = narrow(80, "plan", "humanoid", "--json").json
    words = set(narrow(80, "plan", "humanoid").out.split())
    assert {slot["slot"] for slot in plan["slots"]} <= words
    assert {slot["implementation"] for slot in plan["slots"]} <= words
    fields = narrow(80, "fields", "--owner", "data", "--json").json["fields"]
    assert {field["name"] for field in fields} <= set(narrow(80, "fields", "--owner", "data").out.split())


def test_a_pipe_keeps_a_line_a_line(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = run("plan", "humanoid").out.splitlines()
    [line] = [line for line in lines if line.startswith("not needed by this model")]
    assert len(line) > 160


# ---- the layout itself

ROWS = [("kinematics", 12, "Poses of all bodies, from the joints outwards, in world axes"), ("energy", 3, "")]


def lines_of(width: int, **options) -> list[str]:
    heading, body = table_lines(
        ("stage", "count", "what"), ROWS, numeric=("count",), width=width, rule="-", **options
    )
    return [*heading, *body]


def test_a_table_that_fits_is_as_wide_as_it_must_be() -> None:
    lines = lines_of(100)
    assert lines[0] == "stage       count  what"
    assert lines[2].startswith("kinematics     12  Poses of all bodies, from")
    assert lines[3] == "energy          3"


def test_text_is_wrapped_at_spaces() -> None:
    lines = lines_of(50)
    assert max(map(len, lines)) <= 50
    assert " ".join(line[19:].strip() for line in lines[2:]).strip() == ROWS[0][2]


def test_text_without_room_goes_below() -> None:
    lines = lines_of(30)
    assert max(map(len, lines)) <= 30
    assert lines[:2] == ["stage       count", "    what"]
    assert lines[3] == "kinematics     12"
    assert lines[4].startswith("    Poses of all")


def test_an_optional_column_is_left_out_first() -> None:
    assert lines_of(30, optional=("what",)) == [
        "stage       count",
        "-----------------",
        "kinematics     12",
        "energy          3",
    ]


def test_the_named_column_goes_below_first() -> None:
    assert "count" in lines_of(30, below="what", optional=("count",))[0]


def test_a_row_of_a_stage_is_broken_behind_its_colon_if_nothing_else_helps() -> None:
    heading, body = table_lines(
        ("slot", "field"), [("constraint_rows:frictionloss", "qfrc_constraint")], width=36, rule="-"
    )
    assert body == ["constraint_rows:     qfrc_constraint", "frictionloss"]
    assert len(heading[-1]) <= 36


def test_an_empty_column_is_left_out_and_an_empty_table_is_nothing() -> None:
    heading, body = table_lines(("a", "b"), [("x", None)], width=80, rule="-")
    assert (heading, body) == (["a", "-"], ["x"])
    assert table_lines(("a", "b"), [], width=80) == ([], [])


def test_a_wide_letter_takes_two_columns() -> None:
    _, body = table_lines(("a", "b"), [("猫", "x"), ("q̈q", "y")], width=80, rule="-")
    assert body == ["猫  x", "q̈q  y"]
