"""`dovetail run`: it simulates what it says, records it, and notices when the numbers go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lane_backend import LANES, lanes_missing

import dovetail
from dovetail.cli._plot import line_plot


def test_a_run_is_summed_up(run) -> None:
    answer = run("run", "pendulum", "--steps", 20)
    assert answer.code == 0
    assert answer.out.startswith("pendulum: 20 ms simulated in ")
    assert "20 steps of 1 ms" in answer.out
    assert "all numbers finite" in answer.out
    assert "rk4@numpy" not in answer.out
    assert "rk4@numpy" in run("run", "pendulum", "--steps", 2, "--plan").out


def test_the_final_state_is_that_of_the_simulation(run) -> None:
    report = run("run", "arm", "--keyframe", "reach", "--steps", 7, "--json").json
    sim = dovetail.Simulation("arm")
    sim.reset("reach")
    sim.step(7)
    assert report["steps"] == 7
    np.testing.assert_array_equal(report["final"]["qpos"], sim.data.qpos)
    assert report["final"]["time"] == pytest.approx(0.014)


def test_duration_is_counted_in_steps(run) -> None:
    assert run("run", "pendulum", "--duration", 0.05, "--json").json["steps"] == 50


def test_a_stage_can_be_chosen(run) -> None:
    report = run("run", "pendulum", "--steps", 2, "--stage", "integrate=euler", "--json").json
    chosen = {s["slot"]: s["implementation"] for s in report["plan"]["slots"]}
    assert chosen["integrate"] == "euler@numpy"


def test_energy_of_the_frictionless_pendulum_is_conserved(run) -> None:
    energy = run("run", "pendulum", "--keyframe", "level", "--duration", 0.2, "--json").json["energy"]
    assert energy["relative_change"] < 1e-9


def test_noise_makes_worlds_differ_and_the_seed_repeats_them(run, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        words = ("--nworld", 2, "--noise", 0.1, "--seed", seed, "--steps", 3, "--output", f"{name}.npz")
        assert run("run", "pendulum", *words).code == 0
    a, b, c = (np.load(tmp_path / f"{name}.npz")["qpos"][-1] for name in "abc")
    assert not np.array_equal(a[0], a[1])
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_the_trajectory_file_holds_every_sample(run, tmp_path: Path) -> None:
    run("run", "arm", "--steps", 10, "--every", 4, "--output", "arm.npz", "--keyframe", "reach")
    with np.load(tmp_path / "arm.npz", allow_pickle=False) as file:
        header = json.loads(bytes(file["header"]))
        np.testing.assert_allclose(file["time"], [0, 0.008, 0.016, 0.02], atol=1e-12)
        np.testing.assert_allclose(file["energy_time"], [0.006, 0.014, 0.018], atol=1e-12)
        assert file["qpos"].shape == (4, 10)
        assert file["qvel"].shape == (4, 9)
        assert file["energy"].shape == (3, 2)
        last = file["qpos"][-1]
    assert header["format"] == "dovetail-trajectory-1"
    assert header["implementations"]["integrate"].startswith("rk4@numpy")
    sim = dovetail.Simulation("arm")
    sim.reset("reach")
    sim.step(10)
    np.testing.assert_array_equal(last, sim.data.qpos)


def test_an_interrupted_write_leaves_no_file(run, tmp_path: Path, monkeypatch) -> None:
    def fail(*_, **__):
        raise OSError(28, "No space left on device", "x.npz")

    monkeypatch.setattr(np, "savez", fail)
    assert run("run", "pendulum", "--steps", 2, "--output", "x.npz").code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_state_that_explodes_is_reported_by_joint(run, tmp_path: Path) -> None:
    (tmp_path / "wild.xml").write_text(
        '<mujoco model="wild"><option timestep="10"><flag contact="disable"/></option><worldbody>'
        '<body><joint name="wheel" axis="0 1 0" stiffness="1e200"/><geom size="0.1" pos="1 0 0"/></body>'
        "</worldbody></mujoco>"
    )
    with np.errstate(all="ignore"):
        answer = run("run", "wild.xml", "--noise", 1, "--steps", 50)
        report = run("run", "wild.xml", "--noise", 1, "--steps", 50, "--json")
    assert answer.code == report.code == 1
    assert 'joint "wheel"' in answer.out
    assert report.json["problems"]
    assert report.json["steps"] < 50  # it stops there


def test_missing_stages_stop_a_run_unless_told_otherwise(run, soft_model: Path) -> None:
    answer = run("run", soft_model, "--steps", 2)
    assert answer.code == 2
    assert "flex_kinematics: needed by 1 flex object" in answer.err
    answer = run("run", soft_model, "--steps", 2, "--missing", "skip")
    assert answer.code == 0
    assert "warning: running without flex_kinematics" in answer.err


def test_profile_counts_the_calls_of_each_stage(run) -> None:
    words = ("run", "pendulum", "--steps", 5, "--stage", "integrate=euler", "--profile")
    profile = {row["slot"]: row for row in run(*words, "--json").json["profile"]}
    assert profile["kinematics"]["calls"] == 4  # the first step is not timed: it may compile
    assert sum(row["share"] for row in profile.values()) == pytest.approx(1)
    assert "µs per call" in run(*words).out


@pytest.mark.parametrize("asked", ["height", "energy", "kinetic", "qvel[2]", "xpos[1,2]", "root"])
def test_a_quantity_is_plotted(run, asked: str) -> None:
    answer = run("run", "humanoid", "--steps", 4, "--plot", asked)
    assert answer.code == 0
    assert "time [s]" in answer.out


def test_plot_alone_shows_the_height_of_the_root(run) -> None:
    report = run("run", "tumbler", "--keyframe", "spin", "--steps", 3, "--plot", "--json").json
    series = report["series"]["height of the root [m]"]
    assert series["time"] == pytest.approx([0.002, 0.004, 0.006])
    assert series["value"][-1] == report["final"]["qpos"][2]


def test_quantities_are_drawn_into_a_file(run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "run.svg"
    answer = run(
        "run", "humanoid", "--steps", 4, "--plot", "energy", "--plot", "qvel[2]", "--plot-file", path
    )
    assert answer.code == 0
    for word in ("humanoid", "energy [J]", "qvel[2]", "time [s]"):
        assert f">{word}</text>" in path.read_text()


def test_a_file_alone_gets_the_height_of_the_root(run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run("run", "tumbler", "--steps", 3, "--plot-file", tmp_path / "run.svg", "--json")
    assert "height of the root [m]" in (tmp_path / "run.svg").read_text()


@pytest.mark.parametrize(
    ("path", "text"), [("a.gif", "written as .svg, .png or .pdf"), ("nowhere/a.svg", "no folder nowhere")]
)
def test_a_chart_that_cannot_be_written_is_refused_first(run, path: str, text: str) -> None:
    answer = run("run", "pendulum", "--plot-file", path)
    assert answer.code == 2
    assert text in answer.err
    assert "--plot-file" in answer.err


def test_taichi_says_that_it_compiles(run) -> None:
    pytest.importorskip("taichi")
    answer = run("run", "pendulum", "--nworld", 4, "--backend", "taichi", "--steps", 3)
    assert answer.code == 0
    assert "compiling for taichi" in answer.err
    assert "3 steps of 1 ms" in answer.out


# ---- the plot itself


def test_a_rising_line_runs_from_corner_to_corner() -> None:
    text = line_plot([0, 1], [0, 1], label="y", width=8, height=4, ascii_only=True)
    rows = [line.partition("|")[2] for line in text.splitlines()[1:5]]
    assert [row.index("*") for row in rows] == sorted((row.index("*") for row in rows), reverse=True)
    assert rows[0].endswith("*")
    assert rows[-1].startswith("*")
    assert "1 |" in text
    assert "0 |" in text


def test_a_steep_line_has_no_gaps() -> None:
    text = line_plot([0, 1, 2], [0, 0, 1], label="y", width=3, height=9, ascii_only=True)
    assert all("*" in line for line in text.splitlines()[1:10])


def test_braille_has_two_by_four_dots_a_character() -> None:
    text = line_plot([0, 1], [0, 7], label="y", width=1, height=2)
    cells = [line.partition("│")[2] for line in text.splitlines()[1:3]]
    assert all("\u2800" < cell <= "\u28ff" for cell in cells)


def test_a_constant_and_nothing_can_be_plotted() -> None:
    assert "3" in line_plot([0, 1], [3, 3], label="y")
    assert line_plot([0.0], [float("nan")], label="y") == "y: no finite values to plot"


@pytest.mark.skipif(bool(lanes_missing()), reason="no lane backend")
def test_a_choice_that_costs_much_is_told_of(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dovetail.planning.costs.WORTH_SAYING", 0.0)
    words = ("run", "pendulum", "--steps", 4, "--backend", LANES)
    (cost,) = run(*words, "--stage", "solve_constraints=sequential", "--json").json["costs"]
    assert (cost["slot"], cost["implementation"]) == ("solve_constraints", "sequential@numpy")
    assert run(*words, "--json").json["costs"] == []
    monkeypatch.setenv("COLUMNS", "80")
    shown = run(*words, "--stage", "solve_constraints=sequential").out
    assert "solve_constraints (sequential) runs on NumPy and takes" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "runs on NumPy and takes" not in run(*words).out
