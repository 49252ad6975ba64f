"""`dovetail bench`: what it refuses, what it writes, what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.bench import cases, read_history

QUICK = ("--backend", "numpy", "--nworld", 2, "--steps", 1, "--repeat", 1, "--roll-in", 0, "--no-mujoco")


def test_models_and_batches_in_one_run(run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    history, plot = tmp_path / "history.jsonl", tmp_path / "speed.svg"
    answer = run("bench", "pendulum", "arm", *QUICK, "--nworld", 3, "--history", history, "--plot", plot)
    assert answer.code == 0
    assert "pendulum (nv 2) on numpy" in answer.out
    assert "arm (nv 9) on numpy" in answer.out
    reports = read_history(history)
    assert [(r["kind"], r["model"]) for r in reports] == [("speed", "pendulum"), ("speed", "arm")]
    assert [row["nworld"] for row in reports[0]["rows"]] == [2, 2, 3, 3]
    assert "times as fast as MuJoCo" in plot.read_text() or "µs per step and world" in plot.read_text()


def test_json_has_every_row_and_nothing_else_is_printed(run) -> None:
    answer = run("bench", "pendulum", *QUICK, "--precision", "f64", "--json")
    [result] = answer.json["results"]
    [row] = result["rows"]
    assert (row["nworld"], row["precision"], row["threads"]) == (2, "f64", 1)
    assert row["bytes_per_world"] > 0
    assert answer.err == ""


def test_the_suite_names_what_it_skips(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "find_spec", lambda name: None)
    monkeypatch.setattr("dovetail.bench.SUITE", ("pendulum", "gymnasium/ant+euler"))
    answer = run("bench", "--suite", *QUICK, "--precision", "f64")
    assert answer.code == 0
    assert "skipped gymnasium/ant: the package gymnasium is not installed" in answer.err
    assert "pendulum" in answer.out


def test_a_model_asked_for_by_name_is_not_skipped(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "find_spec", lambda name: None)
    answer = run("bench", "gymnasium/ant", *QUICK)
    assert answer.code == 2
    assert "gymnasium is not installed" in answer.err


def test_a_sweep_prints_the_fitted_line(run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    sizes = ("--nworld", 4, "--nworld", 8)
    answer = run("bench", "pendulum", *QUICK, *sizes, "--precision", "f64", "--sweep", "nworld",
                 "--plot", tmp_path / "sweep.png", "--history", tmp_path / "history.jsonl")  # fmt: skip
    assert answer.code == 0
    assert "· size µs, at most" in answer.out
    assert (tmp_path / "sweep.png").read_bytes().startswith(b"\x89PNG")
    [report] = read_history(tmp_path / "history.jsonl")
    assert (report["kind"], report["over"]) == ("sweep", "nworld")
    assert report["series"][0]["sizes"] == [2, 4, 8]


def test_the_first_step_is_timed_without_and_with_kernels(run) -> None:
    answer = run("bench", "pendulum", *QUICK, "--precision", "f64", "--first-step")
    assert answer.code == 0
    assert "compiled" in answer.out
    assert "from the cache" in answer.out


def test_stages_are_measured_in_kernels_only(run) -> None:
    answer = run("bench", "pendulum", *QUICK, "--profile-stages", "bias_force")
    assert answer.code == 2
    assert "`dovetail run --profile`" in answer.err


BAD = {
    "two kinds": (("--profile", "--first-step"), "--profile and --first-step are different measurements"),
    "swept suite": (("--sweep", "nworld", "--suite"), "--sweep measures one model"),
    "swept model": (("--sweep", "nv", "arm"), "leave out 'arm'"),
    "plotted profile": (("--profile", "--plot", "a.svg"), "not what --profile measures"),
    "format": (("--plot", "a.gif"), "written as .svg, .png or .pdf"),
    "folder": (("--plot", "nowhere/a.svg"), "there is no folder nowhere"),
    "budget": (("--budget", "0"), "not in the range"),
}


@pytest.mark.parametrize("words", BAD)
def test_what_makes_no_sense_is_refused_before_anything_is_measured(run, words: str) -> None:
    options, text = BAD[words]
    answer = run("bench", *options)
    assert answer.code == 2
    assert text in answer.err
