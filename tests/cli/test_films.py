"""Films: pictures at even times, files that are complete or not there, and `run --video`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail.errors import ArgumentError, FileError, MissingDependencyError, UnknownWorldError
from dovetail.films import clock, video, writers
from dovetail.films.film import ClosedFilmError, FilmWarning

Image = pytest.importorskip("PIL.Image")

BALL = """
<mujoco model="ball">
  <option timestep="{timestep}"/>
  <worldbody>
    <camera name="side" pos="0 -3 1" xyaxes="1 0 0 0 0 1"/>
    <body name="ball" pos="0 0 1"><freejoint/><geom size=".2" rgba="1 0 0 1"/></body>
  </worldbody>
</mujoco>
"""
SMALL = {"width": 32, "height": 24, "backend": "numpy"}
SPIN = (
    '<mujoco><worldbody><body><joint name="turn"/><geom size=".1" pos=".2 0 0"/></body></worldbody></mujoco>'
)


def ball(timestep: float = 0.01) -> dovetail.Model:
    return dovetail.loads(BALL.format(timestep=timestep))


def pictures(path: Path) -> list[np.ndarray]:
    """The pictures of an animation, and of nothing else."""
    with Image.open(path) as film:
        found = []
        for number in range(film.n_frames):
            film.seek(number)
            found.append(np.asarray(film.convert("RGB")))
        return found


def durations(path: Path) -> list[int]:
    with Image.open(path) as film:
        found = []
        for number in range(film.n_frames):
            film.seek(number)
            film.load()
            found.append(film.info["duration"])
        return found


class Times:
    """A film that notes when its pictures are taken."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.states: list[list[dict[str, np.ndarray]]] = []

        def picture(film: dovetail.Film, states):
            self.states.append(states)
            return np.full((film.height, film.width, 3), len(self.states), np.uint8)

        monkeypatch.setattr(dovetail.Film, "_picture", picture)

    @property
    def times(self) -> list[float]:
        return [float(states[0]["time"]) for states in self.states]


# ---- when


@pytest.mark.parametrize("timestep", [0.001, 0.003, 0.004, 1 / 30, 0.04, 0.17])
def test_pictures_are_taken_at_even_times_whatever_the_timestep(monkeypatch, tmp_path, timestep) -> None:
    taken = Times(monkeypatch)
    sim = dovetail.Simulation(ball(timestep), backend="numpy")
    with dovetail.Film(tmp_path / "a.gif", sim.model, fps=25, **SMALL) as film:
        film.add(sim.data)
        while sim.data.time < 0.5 - 1e-9:
            sim.step()
            film.add(sim.data)
    np.testing.assert_allclose(taken.times, np.arange(len(taken.times)) / 25, atol=1e-9)
    assert len(taken.times) == film.frames == int(float(sim.data.time) * 25 + 1e-6) + 1


def test_what_is_between_two_steps_is_interpolated(monkeypatch, tmp_path) -> None:
    taken = Times(monkeypatch)
    model = ball(0.1)
    data = dovetail.make_data(model)
    with dovetail.Film(tmp_path / "a.gif", model, fps=20, **SMALL) as film:
        film.add(data)
        data.qpos[:3] = 1, 2, 3
        data.qpos[3:7] = 0, 0, 0, 1  # half a turn about z
        data.time = 0.1
        film.add(data)
    place, turn = np.split(taken.states[1][0]["qpos"], [3])
    np.testing.assert_allclose(place, [0.5, 1, 2])
    np.testing.assert_allclose(np.abs(turn), [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-12)
    np.testing.assert_array_equal(taken.states[2][0]["qpos"], data.qpos)


def test_slow_motion_takes_more_pictures(monkeypatch, tmp_path) -> None:
    taken = Times(monkeypatch)
    sim = dovetail.Simulation(ball(), backend="numpy")
    with dovetail.Film(tmp_path / "a.gif", sim.model, fps=20, speed=0.25, **SMALL) as film:
        film.add(sim.data)
        sim.step(10)
        film.add(sim.data)
    np.testing.assert_allclose(taken.times, np.arange(9) / 80, atol=1e-12)


def test_time_that_goes_back_begins_anew(monkeypatch, tmp_path) -> None:
    taken = Times(monkeypatch)
    sim = dovetail.Simulation(ball(), backend="numpy")
    with dovetail.Film(tmp_path / "a.gif", sim.model, fps=50, **SMALL) as film:
        for _ in range(2):
            sim.reset()
            film.add(sim.data)
            sim.step(4)
            film.add(sim.data)
    np.testing.assert_allclose(taken.times, [0, 0.02, 0.04, 0, 0.02, 0.04], atol=1e-12)


@pytest.mark.parametrize(("timestep", "fps"), [(0.002, 30), (0.01, 50), (0.1, 30), (1 / 30, 30), (0.004, 24)])
def test_a_run_looks_at_the_steps_around_each_picture(timestep: float, fps: float) -> None:
    steps = clock.steps_to_see(200, timestep, 1 / fps)
    assert steps[0] == 0
    assert steps[-1] == 200
    for number in range(int(200 * timestep * fps)):
        place = number / fps / timestep
        assert {int(np.floor(place + 1e-6)), int(np.ceil(place - 1e-6))} <= set(steps)
    assert len(steps) <= 2 * (200 * timestep * fps + 2)


# ---- what


def test_a_picture_shows_the_state_at_its_time(tmp_path) -> None:
    model = ball()
    data = dovetail.make_data(model)
    with dovetail.Film(tmp_path / "a", model, fps=10, camera="side", **SMALL) as film:
        for number in range(3):
            data.time = number / 10
            data.qpos[0] = number - 1
            film.add(data)  # positions of bodies were never computed in this Data
    places = []
    for number in range(3):
        red = np.asarray(Image.open(tmp_path / "a" / f"frame_{number:05d}.png").convert("RGB")).astype(int)
        columns = np.flatnonzero((red[..., 0] > red[..., 1] + 20).any(axis=0))
        places.append(columns.mean())
    assert places[0] < 12 < places[1] < 20 < places[2]
    assert places[1] == pytest.approx(15.5, abs=1)


@pytest.mark.parametrize("ending", ["gif", "webp"])
def test_an_animation_has_every_picture_and_lasts_as_long_as_it_should(tmp_path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    with dovetail.Film(path, ball(), fps=30, **SMALL) as film:
        for number in range(15):
            film.add_picture(np.full((24, 32, 3), 16 * number, np.uint8))
    assert sum(durations(path)) == pytest.approx(500, abs=1)
    grey = [picture.mean() for picture in pictures(path)]
    np.testing.assert_allclose(grey, 16 * np.arange(15), atol=3)


def test_a_video_is_h264_of_even_size_and_the_right_length(tmp_path) -> None:
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "a.mp4"
    with dovetail.Film(path, ball(), fps=25, width=33, height=25) as film:
        for number in range(10):
            film.add_picture(np.full((film.height, film.width, 3), 20 * number, np.uint8))
    words = [video.ffmpeg(), "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    decoded = subprocess.run(words, capture_output=True, check=True)
    assert re.search(rb"Video: h264 .* 34x26.* 25 fps", decoded.stderr)
    grey = np.frombuffer(decoded.stdout, np.uint8).reshape(-1, 26 * 34 * 3).mean(axis=1)
    np.testing.assert_allclose(grey, 20 * np.arange(10), atol=4)


def test_the_worlds_of_a_batch_make_a_grid(tmp_path) -> None:
    sim = dovetail.Simulation(ball(), nworld=3, backend="numpy")
    sim.data.qpos[1, 0] = 50  # out of the picture
    with dovetail.Film(tmp_path / "a", sim.model, camera="side", **SMALL) as film:
        film.add(sim.data)
    picture = np.asarray(Image.open(tmp_path / "a" / "frame_00000.png")).astype(int)
    red = (picture[..., 0] > picture[..., 1] + 20).reshape(2, 12, 2, 16).any(axis=(1, 3))
    np.testing.assert_array_equal(red, [[True, False], [True, False]])


def test_one_world_of_a_batch_can_be_filmed(monkeypatch, tmp_path) -> None:
    taken = Times(monkeypatch)
    sim = dovetail.Simulation(ball(), nworld=3, backend="numpy")
    sim.data.qpos[1, 0] = 50
    with dovetail.Film(tmp_path / "a.gif", sim.model, world=1, **SMALL) as film:
        film.add(sim.data)
    [[state]] = taken.states
    assert state["qpos"][0] == 50
    with dovetail.Film(tmp_path / "b.gif", sim.model, world=3, **SMALL) as film:
        with pytest.raises(UnknownWorldError, match="no world 3 to film: the Data has 3"):
            film.add(sim.data)
        film.add_picture(np.zeros((24, 32, 3), np.uint8))


def test_a_smooth_picture_is_the_mean_of_a_larger_one(tmp_path) -> None:
    model = ball()
    data = dovetail.make_data(model)
    for name, size in (
        ("small", {"width": 32, "height": 24, "smooth": 2}),
        ("large", {"width": 64, "height": 48}),
    ):
        with dovetail.Film(tmp_path / name, model, camera="side", backend="numpy", **size) as film:
            film.add(data)
    small, large = (
        np.asarray(Image.open(tmp_path / name / "frame_00000.png")).astype(float)
        for name in ("small", "large")
    )
    np.testing.assert_allclose(small, large.reshape(24, 2, 32, 2, 3).mean(axis=(1, 3)), atol=0.5)
    assert large.std() > 1


# ---- what goes wrong


def test_a_state_that_went_bad_ends_the_film_with_the_last_good_one(monkeypatch, tmp_path) -> None:
    taken = Times(monkeypatch)
    data = dovetail.make_data(ball())
    with dovetail.Film(tmp_path / "a.gif", data.model, fps=10, **SMALL) as film:
        film.add(data)
        data.time, data.qpos[2] = 0.3, np.nan
        with pytest.warns(FilmWarning, match="went bad at 0.3 s"):
            film.add(data)
        data.time = 0.6
        film.add(data)  # it is said once
    assert taken.times == [0]
    assert "last good one" in film.note
    assert len(pictures(tmp_path / "a.gif")) == 1


@pytest.mark.parametrize("name", ["a.gif", "a.webp", "a.mp4", "a"])
def test_an_error_leaves_nothing_behind(tmp_path, name: str) -> None:
    if name.endswith("mp4"):
        pytest.importorskip("imageio_ffmpeg")

    def fail(film: dovetail.Film) -> None:
        film.add_picture(np.zeros((24, 32, 3), np.uint8))
        raise RuntimeError("something else")

    with pytest.raises(RuntimeError), dovetail.Film(tmp_path / name, ball(), **SMALL) as film:
        fail(film)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.gif", "a.mp4", "a"])
def test_ctrl_c_keeps_what_there_is(tmp_path, name: str) -> None:
    if name.endswith("mp4"):
        pytest.importorskip("imageio_ffmpeg")

    def interrupt(film: dovetail.Film) -> None:
        film.add_picture(np.zeros((24, 32, 3), np.uint8))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), dovetail.Film(tmp_path / name, ball(), **SMALL) as film:
        interrupt(film)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_full_disk_is_an_error_and_leaves_the_old_film(monkeypatch, tmp_path) -> None:
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    film = dovetail.Film(path, ball(), **SMALL)
    film.add_picture(np.zeros((24, 32, 3), np.uint8))

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", full)
    with pytest.raises(FileError, match="no space is left"):
        film.close()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_ffmpeg_complains_about_is_told(monkeypatch, tmp_path) -> None:
    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setitem(video.ENDINGS, ".mp4", ("-c:v", "no_such_codec", "-f", "mp4"))
    film = dovetail.Film(tmp_path / "a.mp4", ball(), **SMALL)
    film.add_picture(np.zeros((24, 32, 3), np.uint8))
    with pytest.raises(FileError, match=r"ffmpeg could not write it: .*no_such_codec"):
        film.close()
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_a_video_names_the_install(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(video, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"dovetail-physics\[video\]"):
        dovetail.Film(tmp_path / "a.mp4", ball())
    dovetail.Film(tmp_path / "a.gif", ball()).discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "asked", "text"),
    [
        ("a.avi", {}, ".mkv or .webm, or without an ending as a folder"),
        ("a.gif", {"fps": 60}, "at most 50 pictures"),
        ("a.gif", {"fps": 0}, "positive number"),
        ("a.gif", {"fps": float("nan")}, "positive number"),
        ("a.gif", {"fps": "fast"}, "should be a number"),
        ("a.gif", {"speed": -1}, "positive number"),
        ("a.gif", {"width": 0}, "width"),
        ("a.gif", {"camera": "elbow"}, "no camera is named 'elbow'"),
        ("a.gif", {"camera": 7}, "camera number 7"),
        ("no/a.gif", {}, "there is no folder"),
        ("no/a", {}, "there is no folder"),
        (".", {"folder": True}, "no empty folder"),
    ],
)
def test_what_cannot_be_filmed_is_refused_before_anything_is_computed(tmp_path, name, asked, text) -> None:
    (tmp_path / "something").touch()
    with pytest.raises(dovetail.DovetailError, match=text):
        dovetail.Film(tmp_path / name, ball(), **asked)
    assert [path.name for path in tmp_path.iterdir()] == ["something"]


def test_a_closed_film_takes_no_more_and_a_wrong_picture_is_refused(tmp_path) -> None:
    film = dovetail.Film(tmp_path / "a.gif", ball(), **SMALL)
    with pytest.raises(ArgumentError, match=r"shape \(24, 32, 3\), not \(2, 2, 3\)"):
        film.add_picture(np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(dovetail.DovetailError, match="no picture in this film"):
        film.close()
    with pytest.raises(ClosedFilmError, match="closed"):
        film.add_picture(np.zeros((24, 32, 3), np.uint8))
    film.close()
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_data_of_the_model_is_refused(tmp_path) -> None:
    film = dovetail.Film(tmp_path / "a.gif", ball(), **SMALL)
    with pytest.raises(ArgumentError, match=r"nq = 1, and the model of the film 7"):
        film.add(dovetail.make_data(dovetail.loads(SPIN)))
    with pytest.raises(ArgumentError, match="should be a Data"):
        film.add(None)
    film.discard()


def test_a_gif_has_one_palette_for_all_pictures(tmp_path) -> None:
    writer = writers.Gif(tmp_path / "a.gif", 8, 8, 10)
    for colour in ((255, 0, 0), (0, 255, 0), (0, 0, 255)):
        writer.add(np.full((8, 8, 3), colour, np.uint8))
    writer.finish()
    seen = [tuple(picture[0, 0]) for picture in pictures(tmp_path / "a.gif")]
    assert np.argmax(seen, axis=1).tolist() == [0, 1, 2]


# ---- dovetail run


def test_run_makes_a_film(run, tmp_path) -> None:
    words = ("--steps", 100, "--backend", "numpy", "--size", "32x24", "--fps", 20)
    answer = run("run", "pendulum", "--keyframe", "level", *words, "--video", "a.gif")
    assert answer.code == 0
    assert "a.gif: 3 pictures of 32 × 24" in answer.out
    assert len(pictures(tmp_path / "a.gif")) == 3
    report = run("run", "pendulum", *words, "--frames", "b.c", "--json").json
    assert report["film"] == {
        "path": "b.c", "frames": 3, "width": 32, "height": 24, "fps": 20.0, "note": "",
    }  # fmt: skip
    assert len(list((tmp_path / "b.c").iterdir())) == 3


def test_filming_does_not_change_the_run(run) -> None:
    words = ("run", "arm", "--keyframe", "reach", "--steps", 40, "--json")
    plain, filmed = run(*words).json, run(*words, "--frames", "f", "--size", "16x12", "--fps", 33.3).json
    assert plain["final"] == filmed["final"]
    assert filmed["film"]["frames"] == 3


def test_a_run_that_explodes_ends_its_film_and_says_so(run, tmp_path) -> None:
    (tmp_path / "wild.xml").write_text(
        '<mujoco model="wild"><option timestep=".1"><flag contact="disable"/></option><worldbody>'
        '<body><joint axis="0 1 0" stiffness="1e200"/><geom size="0.1" pos="1 0 0"/></body>'
        "</worldbody></mujoco>"
    )
    with np.errstate(all="ignore"):
        answer = run("run", "wild.xml", "--noise", 1, "--steps", 50, "--video", "a.gif", "--size", "16x12")
    assert answer.code == 1
    assert "it ends with the last good state" in answer.out
    assert 0 < len(pictures(tmp_path / "a.gif")) < 50


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--video", "x.avi"], "a film is written as"),
        (["--video", "x"], "has no ending"),
        (["--camera", "0"], "--camera is about a film"),
        (["--video", "x.gif", "--frames", "y"], "not both"),
        (["--video", "x.gif", "--size", "big"], "as 640x480"),
        (["--video", "x.gif", "--world", "1"], "there is no world 1"),
        (["--video", "x.gif", "--camera", "front"], "no camera is named 'front'"),
        (["--video", "no/x.gif"], "there is no folder"),
        (["--video", "x.gif", "--fps", "-3"], "positive number"),
    ],
)
def test_a_film_that_cannot_be_made_is_refused_first(run, tmp_path, words, text) -> None:
    answer = run("run", "pendulum", *words)
    assert answer.code == 2
    assert text in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name != "posix", reason="signals of POSIX")
def test_a_run_that_is_interrupted_keeps_the_film_so_far(tmp_path) -> None:
    words = (
        "run",
        "pendulum",
        "--duration",
        "60",
        "--video",
        "a.gif",
        "--size",
        "16x12",
        "--backend",
        "numpy",
    )
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    _, said = process.communicate()
    assert process.returncode == 130
    assert "interrupted: a.gif has" in said
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]
    assert len(pictures(tmp_path / "a.gif")) >= 1


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests may have it ignored
from dovetail.films.writers import Gif
from dovetail.cli import main
add = Gif._add
def interrupt(self, pixels):
    add(self, pixels)
    if self.count == 2:
        os.kill(os.getpid(), signal.SIGINT)
Gif._add = interrupt
main(sys.argv[1:])
"""
