"""The last screen of a run: it fits 80 × 24, says what happened, and says the same as --json."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail.cli import _screen, _watch
from dovetail.cli._watch import Observer, Watch

HUMANOID = ("run", "humanoid", "--steps", 20, "--backend", "numpy")

FALLING = """
<mujoco model="rain"><worldbody><geom name="ground" type="plane" size="3 3 .1"/>
  <body name="a" pos="0 0 .099"><freejoint/><geom size=".1"/></body>
  <body name="b" pos="1 0 .099"><freejoint/><geom size=".1"/></body>
</worldbody></mujoco>
"""
STILL = '<mujoco model="house"><worldbody><geom type="box" size="1 1 1"/></worldbody></mujoco>'
WILD = """
<mujoco model="wild"><option timestep="10"><flag contact="disable"/></option><worldbody>
  <body><joint name="wheel" axis="0 1 0" stiffness="1e200"/><geom size="0.1" pos="1 0 0"/></body>
</worldbody></mujoco>
"""


@pytest.fixture
def model(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "model.xml"
        path.write_text(text)
        return path

    return write


def in_terminal(*words: str, columns: int = 80, lines: int = 24, **variables: str) -> str:
    """What a command prints on a real terminal."""
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    environment |= {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **variables}
    process = subprocess.Popen(
        [sys.executable, "-m", "dovetail", *words],
        stdout=side,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env=environment,
    )
    os.close(side)
    found = b""
    while True:
        try:
            part = os.read(main, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        found += part
    os.close(main)
    assert process.wait() == 0
    return found.decode().replace("\r\n", "\n")


def test_a_run_fits_a_terminal_of_80_by_24_and_is_coloured_unless_that_is_not_wanted() -> None:
    words = ("run", "humanoid", "--steps", "30", "--backend", "numpy")
    coloured = in_terminal(*words)
    assert "\x1b[32m" in coloured
    plain = in_terminal(*words, NO_COLOR="1")
    assert "\x1b" not in plain
    assert len(plain.splitlines()) < 24  # and the prompt
    assert max(map(len, plain.splitlines())) <= 80


def test_the_headline_comes_first_and_the_plan_only_if_asked_for(run) -> None:
    out = run(*HUMANOID).out
    assert re.match(r"humanoid: 80 ms simulated in \S+ \S+, \S+ times real time\n", out)
    assert "kinematics" not in out
    shown = run(*HUMANOID, "--plan").out
    assert shown.index("kinematics") < shown.index("times real time")


def test_the_screen_says_what_json_says(run) -> None:
    out = run(*HUMANOID).out
    report = run(*HUMANOID, "--json").json
    motion = report["motion"]
    assert motion["name"] == "height of torso"
    assert f"height of torso {motion['first']:.3f} → {motion['last']:.3f} m" in out
    assert motion["last"] == pytest.approx(report["final"]["qpos"][2])
    assert f"{report['energy']['initial']:.4g} → {report['energy']['final']:.4g} J" in out
    contacts = report["contacts"]
    assert f"{contacts['count']} at the end, at most {contacts['most']}" in out
    assert sum(pair["points"] for pair in contacts["pairs"]) == contacts["count"] > 0
    watched = report["watched"]["height of torso [m]"]
    assert watched["time"] == pytest.approx(np.arange(21) * 0.004)
    assert watched["value"][-1] == motion["last"]


def test_everything_that_json_had_is_there(run) -> None:
    report = run(*HUMANOID, "--json").json
    assert {
        *("model", "source", "sizes", "nworld", "steps", "simulated_seconds", "first_step_seconds"),
        *("wall_seconds", "steps_per_second", "world_steps_per_second", "realtime_factor", "problems"),
        *("energy", "final", "output", "profile", "series", "plan", "lock", "lock_digest"),
    } <= set(report)
    assert report["realtime_factor"] == pytest.approx(report["steps_per_second"] * 0.004)


def test_energy_is_seen_where_the_model_does_not_ask_for_it(run, model) -> None:
    report = run("run", model(FALLING), "--steps", 5, "--json").json
    weight = sum(dovetail.loads(FALLING).body_mass) * 9.81
    assert report["energy"]["initial"] == pytest.approx(weight * 0.099)
    assert report["motion"]["name"] == "height of the centre of mass"
    assert "energy" not in report["final"]


def test_who_touches_whom_is_said_by_name(run, model) -> None:
    out = run("run", model(FALLING), "--steps", 3).out
    assert "2 at the end, at most 2: ground–a, ground–b" in out


def test_a_joint_that_moved_most_is_shown(run) -> None:
    motion = run("run", "arm", "--keyframe", "reach", "--steps", 30, "--json").json["motion"]
    sim = dovetail.Simulation("arm")
    sim.reset("reach")
    before = sim.data.qpos.copy()
    sim.step(30)
    joint = sim.model.joint(motion["name"])
    moved = np.abs(sim.data.qpos - before)[sim.model.jnt_qposadr]
    assert moved[joint.id] == max(moved[i] for i in range(sim.model.njnt) if sim.model.jnt_type[i] in (2, 3))


def test_a_batch_shows_its_spread(run) -> None:
    words = ("run", "humanoid", "--nworld", 3, "--noise", 0.3, "--steps", 4, "--backend", "numpy")
    report = run(*words, "--json").json
    worlds = report["motion"]["worlds"]
    assert worlds["least"] < worlds["mean"] < worlds["most"]
    assert report["per_thread"] <= report["world_steps_per_second"]
    out = run(*words).out
    assert out.startswith("humanoid × 3: ")
    assert f"in the mean ({worlds['least']:.3f} … {worlds['most']:.3f})" in out
    assert "least, mean, most" in out
    assert "world steps/s" in out


def test_no_steps_show_how_a_model_begins(run) -> None:
    answer = run("run", "humanoid", "--steps", 0)
    assert answer.code == 0
    assert answer.out.startswith("humanoid: no step was taken")
    assert "height of torso 1.180 m" in answer.out
    report = run("run", "humanoid", "--steps", 0, "--json").json
    assert report["steps"] == 0
    assert report["steps_per_second"] is None


def test_a_model_that_cannot_move_says_so(run, model) -> None:
    answer = run("run", model(STILL), "--steps", 3)
    assert answer.code == 0
    assert answer.out.splitlines()[0].endswith("nothing can move")
    assert "time [s]" not in answer.out


def test_a_run_that_went_bad_says_so_first(run, model) -> None:
    with np.errstate(all="ignore"):
        answer = run("run", model(WILD), "--noise", 1, "--steps", 50)
    assert answer.code == 1
    assert re.match(r"wild: went bad after 10 s, 1 of 50 steps\n", answer.out)
    assert 'joint "wheel"' in answer.out


def test_warnings_are_counted(run, model) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("always")
        answer = run("run", model(WILD), "--noise", 1, "--steps", 8, "--on-nan", "reset")
        report = run("run", model(WILD), "--noise", 1, "--steps", 8, "--on-nan", "reset", "--json").json
    assert answer.code == 0
    assert len(report["warnings"]) == answer.err.count("the world is reset") > 1
    assert f"(and {len(report['warnings']) - 1} more)" in answer.out


def test_a_terminal_without_unicode_gets_ascii_plots(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_screen, "ascii_only", lambda: True)
    out = run(*HUMANOID).out
    assert "*" in out
    assert not any("\u2800" <= letter <= "\u28ff" for letter in out)


def test_watching_does_not_change_the_run(run) -> None:
    report = run("run", "humanoid", "--steps", 20, "--backend", "numpy", "--json").json
    sim = dovetail.Simulation("humanoid", backend="numpy")
    sim.step(20)
    np.testing.assert_array_equal(report["final"]["qpos"], sim.data.qpos)


def test_what_is_watched_is_what_the_stages_compute() -> None:
    sim = dovetail.Simulation("humanoid", backend="numpy")
    sim.step(30)
    watch = Watch(sim, 1)
    watch.sample()
    sim.forward()
    look = Observer(sim.model).look(watch.states[-1])
    assert look.energy == pytest.approx(float(sim.data.energy.sum()), rel=1e-12)
    assert look.height == pytest.approx(float(sim.data.subtree_com[0, 2]), rel=1e-12)
    assert Observer(sim.model).touching(watch.states[-1]).count == sim.data.ncon


def test_little_is_looked_at_where_looking_takes_long(run, model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_watch, "PATIENCE", 0.0)
    monkeypatch.setattr(_watch, "MOST_TOUCHING", 1)
    report = run("run", model(FALLING), "--steps", 9, "--json").json
    watched = report["watched"]["energy [J]"]
    assert watched["time"] == pytest.approx([0, 0.018])
    assert report["contacts"]["count"] == 2
    assert report["contacts"]["pairs"] == []
    assert "2 at the end" in run("run", model(FALLING), "--steps", 9).out


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0072, "7.2 ms"), (1.0, "1 s"), (3e-5, "30 µs"), (0.0, "0 s"), (7200, "7200 s")]
)
def test_durations_are_readable(seconds: float, text: str) -> None:
    assert _screen.duration(seconds) == text
