"""Commands and the stages that load a model: `--stage`, what `info` tells, `compare` on two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

TUBE = """
<mujoco model="tube"><worldbody><body>
  <freejoint/><geom type="cylinder" size="1 2" shellinertia="true" contype="0" conaffinity="0"/>
</body></worldbody></mujoco>
"""
CHOICE = "geom_inertia:cylinder=open_shell"


@pytest.fixture
def tube(tmp_path: Path) -> Path:
    path = tmp_path / "tube.xml"
    path.write_text(TUBE)
    return path


def test_info_tells_what_is_no_default(run, tube) -> None:
    assert "loaded with" not in run("info", tube).out
    chosen = " ".join(run("info", tube, "--stage", CHOICE).out.split())
    assert "loaded with geom_inertia:cylinder open_shell@numpy/1 (call argument)" in chosen


def test_info_as_json_tells_all(run, tube) -> None:
    said = run("info", tube, "--json").json["loaded_with"]
    assert said == {"geom_inertia:cylinder": "analytic@numpy/1", "finalize_model": "dynamics@numpy/1"}


def test_info_takes_the_environments_word(run, tube, monkeypatch) -> None:
    monkeypatch.setenv("DOVETAIL_STAGE_GEOM_INERTIA__CYLINDER", "open_shell")
    said = run("info", tube, "--json").json["loaded_with"]["geom_inertia:cylinder"]
    assert said == "open_shell@numpy/1 (environment DOVETAIL_STAGE_GEOM_INERTIA__CYLINDER)"


def test_info_does_not_run(run, tube) -> None:
    answer = run("info", tube, "--stage", "integrate=rk4")
    assert (answer.code, "give it to Simulation" in answer.err) == (2, True)


@pytest.mark.parametrize("command", ["plan", "run", "check"])
def test_commands_choose_for_loading_and_running_together(run, tube, command) -> None:
    answer = run(command, tube, "--stage", CHOICE, "--stage", "integrate=rk4")
    assert answer.code == 0, answer.err
    if command == "plan":
        assert "rk4" in answer.out


@pytest.mark.parametrize("command", ["plan", "run", "info"])
@pytest.mark.parametrize(
    ("choice", "hint"),
    [
        ("geom_inertia:cylinder=open_shel", "did you mean 'open_shell'?"),
        ("geom_inertia:cylindr=open_shell", "did you mean 'cylinder'?"),
        ("geom_inerta:cylinder=open_shell", "did you mean 'geom_inertia'?"),
    ],
)
def test_a_misspelt_choice_is_told(run, tube, command, choice, hint) -> None:
    answer = run(command, tube, "--stage", choice)
    assert answer.code == 2
    assert hint in answer.err


def test_check_reports_a_misspelt_choice(run, tube) -> None:
    answer = run("check", tube, "--stage", "geom_inertia:cylinder=open_shel")
    assert (answer.code, "did you mean 'open_shell'" in answer.out) == (1, True)


WORDS = ("--stage", "geom_inertia:cylinder", "--a", "analytic", "--b")


def test_compare_loads_with_each(run, tube) -> None:
    answer = run("compare", tube, *WORDS, "open_shell")
    assert answer.code == 1
    assert "body_mass" in answer.out
    assert "time to load" in answer.out
    assert run("compare", tube, *WORDS, "analytic").code == 0
    rows = run("compare", tube, *WORDS, "open_shell", "--json").json["rows"]
    assert "body_inertia" in {row["field"] for row in rows}


def test_compare_says_what_the_model_uses(run, tube) -> None:
    answer = run("compare", tube, "--stage", "geom_inertia:box", "--a", "analytic", "--b", "tubes")
    assert (answer.code, "It uses geom_inertia:cylinder" in answer.err) == (2, True)
