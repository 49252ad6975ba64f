"""Recordings: played, scrubbed, and refused with everything that differs; curves of fields."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import dovetail
from dovetail.cli import main
from dovetail.errors import ArgumentError, FileFormatError, UnknownFieldError, ValidationError
from dovetail.viewer.replay import Recording, Replay
from dovetail.viewer.traces import MOST_CURVES, SAMPLES, Entries, Trace


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "swing.npz"
    words = ["run", "pendulum", "--backend", "numpy", "--steps", "100", "--output", str(path), "--noise", "1"]
    assert CliRunner().invoke(main, words).exit_code == 0
    return path


def test_a_recording_shows_its_samples_at_their_times(swing: Path) -> None:
    recording = Recording.read(swing)
    replay = Replay(dovetail.load("pendulum"), recording, backend="numpy")
    assert replay.time == 0.0
    for time, sample in ((0.0405, 40), (0.1, 100), (99.0, 100), (-5.0, 0)):
        replay.seek(time)
        assert replay.shown(0).qpos.tolist() == recording.qpos[sample].tolist()
    reference = dovetail.Simulation("pendulum", backend="numpy")
    reference.data.qpos[:] = recording.qpos[0]
    reference.forward()
    assert replay.poses()[0][0] == pytest.approx(np.asarray(reference.data.geom_xpos))
    assert replay.edited(0) is None


def test_a_recording_begins_again_at_its_end(swing: Path) -> None:
    replay = Replay(dovetail.load("pendulum"), Recording.read(swing), backend="numpy")
    replay.step(3)
    assert replay.time == pytest.approx(0.05)
    replay.step(10)
    assert replay.time == 0.0


def test_a_recording_of_another_model_is_refused_with_all_that_differs(swing: Path) -> None:
    with pytest.raises(ValidationError) as error:
        Replay(dovetail.load("humanoid"), Recording.read(swing))
    text = str(error.value)
    assert "recording of another model" in text
    for word in ("'pendulum'", "'humanoid'", "qpos", "qvel", "timestep"):
        assert word in text


def test_damaged_recordings_are_refused(swing: Path, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError):
        Recording.read(tmp_path / "none.npz")
    with np.load(swing) as saved:
        arrays = dict(saved)
    for name, change, word in (
        ("missing", {"qvel": None}, "without qvel"),
        ("short", {"qpos": arrays["qpos"][:3]}, "samples"),
        ("backwards", {"time": arrays["time"][::-1]}, "forward"),
        ("empty", {"time": arrays["time"][:0]}, "samples"),
    ):
        path = tmp_path / f"{name}.npz"
        np.savez(path, **{k: v for k, v in {**arrays, **change}.items() if v is not None})
        with pytest.raises(FileFormatError, match=word):
            Recording.read(path)


def test_the_command_refuses_what_contradicts_itself(swing: Path) -> None:
    pytest.importorskip("viser")
    for words, text in (
        (["--replay", str(swing), "--a", "numpy"], "neither --a, --b"),
        (["--a", "numpy", "--backend", "native"], "say backend in a SPEC"),
        (["--replay", str(swing)], "recording of another model"),
        (["--keyframe", "nowhere", "--no-open"], "Keyframes: stand, leap"),
    ):
        result = CliRunner().invoke(main, ["view", "humanoid", *words])
        assert result.exit_code == 2, words
        assert text in result.output


def test_fields_rows_and_entries_can_be_plotted() -> None:
    model = dovetail.load("humanoid")
    assert Entries.of(model, "qpos[3]").labels == ("qpos[3]",)
    assert Entries.of(model, "xpos[2]").labels == ("xpos[2, 0]", "xpos[2, 1]", "xpos[2, 2]")
    assert Entries.of(model, " xpos[2,1] ").indices == (7,)
    assert Entries.of(model, "time").labels == ("time",)
    assert len(Entries.of(model, "qvel").indices) == MOST_CURVES


@pytest.mark.parametrize(
    ("text", "error", "word"),
    [
        ("qpoz", UnknownFieldError, "did you mean 'qpos'"),
        ("qpos[999]", ArgumentError, "shape"),
        ("qpos[1,2]", ArgumentError, "shape"),
        ("ten_length", ArgumentError, "empty"),
        ("import os", ArgumentError, "write qpos"),
    ],
)
def test_what_cannot_be_plotted_is_said(text: str, error: type[Exception], word: str) -> None:
    with pytest.raises(error, match=word):
        Entries.of(dovetail.load("humanoid"), text)


def test_a_trace_keeps_the_last_samples_and_begins_anew_after_a_reset() -> None:
    sim = dovetail.Simulation("pendulum", backend="numpy")
    trace = Trace(Entries.of(sim.model, "qpos"))
    assert len(trace.columns()[0]) == 2, "a plot needs two points"
    for number in range(SAMPLES + 50):
        sim.data.qpos[0] = number
        assert trace.sample(0.01 * number, sim.data)
    assert not trace.sample(0.01 * number, sim.data)
    times, first, *_ = trace.columns()
    assert len(times) == SAMPLES
    assert first[-1] == SAMPLES + 49
    trace.sample(0.0, sim.data)
    assert len(trace.columns()[0]) == 2
    sim.data.qpos[0] = np.nan
    trace.sample(0.1, sim.data)
    assert np.isfinite(trace.columns()[1]).all()
