"""Play, pause, step, reset; a state that goes bad; what is watched: one world, a batch, somebody else's Data."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail.errors import BadStateError
from dovetail.viewer.run import Runner
from dovetail.viewer.status import problem_text, status_line
from dovetail.viewer.watched import Live, Passive

PENDULUM = """
<mujoco model="swing">
  <option timestep="0.01"/>
  <worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/></body></worldbody>
  <actuator><motor joint="hinge"/></actuator>
  <keyframe><key name="up" qpos="1.5"/></keyframe>
</mujoco>
"""


class Clock:
    """A clock that goes when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def made(nworld: int | None = None) -> tuple[Runner, Clock]:
    keep = "all" if nworld is None else ("geom_xpos", "geom_xmat")
    sim = dovetail.Simulation(
        dovetail.loads(PENDULUM), nworld=nworld, keep=keep, backend="numpy", on_nan="raise"
    )
    clock = Clock()
    return Runner(Live(sim, backend="numpy"), clock=clock), clock


def test_a_runner_goes_in_real_time_and_says_so() -> None:
    runner, clock = made()
    for frame in range(121):
        clock.now = frame / 60
        runner.frame()
    assert runner.watched.time == pytest.approx(2.0, abs=0.011)
    assert runner.meter.factor == pytest.approx(1.0, abs=0.02)
    assert "1.0" in status_line(runner)


def test_pause_stops_the_time_and_steps_are_taken_one_by_one() -> None:
    runner, clock = made()
    runner.pause()
    runner.frame()
    clock.now = 5.0
    assert runner.frame() is False
    assert runner.watched.time == 0.0
    runner.ask(lambda: runner.step_once(3))
    assert runner.frame() is True
    assert runner.watched.time == pytest.approx(0.03)
    runner.play()
    runner.frame()
    clock.now = 5.1
    runner.frame()
    assert runner.watched.time == pytest.approx(0.13)  # time that passed while paused does not count


def test_looking_at_a_paused_simulation_does_not_touch_its_state() -> None:
    runner, _ = made()
    runner.step_once(5)
    runner.frame()
    before = {name: np.array(runner.watched.sim.data.field(name)) for name in runner.watched.sim.data.state}
    runner.ask(lambda: None)
    runner.frame()
    assert all((np.asarray(runner.watched.sim.data.field(n)) == v).all() for n, v in before.items())


def test_reset_and_keyframes() -> None:
    runner, _ = made()
    runner.step_once(50)
    runner.frame()
    runner.ask(lambda: runner.reset(0))
    runner.frame()
    assert runner.watched.sim.data.qpos[0] == 1.5
    assert runner.watched.sim.data.xpos.shape == (2, 3)
    runner.reset()
    assert runner.watched.time == 0.0


def test_a_state_that_goes_bad_pauses_with_the_reason_and_reset_goes_on() -> None:
    runner, clock = made()
    runner.frame()
    runner.ask(lambda: runner.watched.sim.data.qvel.__setitem__(0, 1e12), edits=True)
    clock.now = 0.1
    runner.frame()
    assert runner.paused
    assert "qvel" in runner.problem
    assert "Reset" in problem_text(runner.problem)
    runner.play()
    assert runner.paused, "a bad state cannot be played"
    runner.reset()
    runner.play()
    runner.frame()
    clock.now = 0.2
    runner.frame()
    assert runner.problem == ""
    assert runner.watched.time > 0


def test_an_error_of_a_request_is_told_and_stops_nothing() -> None:
    runner, clock = made()

    def job() -> None:
        raise BadStateError("no such thing")

    runner.frame()
    runner.ask(job)
    clock.now = 0.1
    runner.frame()
    assert runner.notices == ["no such thing"]
    assert not runner.paused


def test_a_slow_simulation_leaves_time_to_draw() -> None:
    runner, clock = made()
    slow = runner.watched.step

    def step(count: int) -> None:
        slow(count)
        clock.now += 0.02 * count  # each step takes twice as long as it simulates

    runner.watched.step = step  # type: ignore[method-assign]
    runner.frame()
    for _ in range(50):
        clock.now += 0.001
        began = clock.now
        runner.frame()
        assert clock.now - began <= 0.05
    assert 0.3 < runner.meter.factor < 0.6


def test_a_batch_is_drawn_from_its_poses_and_one_world_is_shown_in_full() -> None:
    runner, _ = made(3)
    live = runner.watched
    live.sim.data.qpos[2] = 0.7
    live.refresh()
    pos, mat = live.poses()
    assert pos.shape == (3, 1, 3)
    assert mat.shape == (3, 1, 9)
    assert not np.allclose(pos[0], pos[2])
    assert live.shown(2).geom_xpos == pytest.approx(pos[2])
    assert live.shown(2).qpos[0] == 0.7
    assert live.shown(0).qpos[0] == 0.0, "another world is looked at anew"
    edited = live.edited(1)
    assert edited is not None
    edited.ctrl[0] = 0.5
    assert np.asarray(live.sim.data.ctrl)[:, 0].tolist() == [0.0, 0.5, 0.0]


def test_a_data_that_lacks_what_is_drawn_is_completed_beside_it() -> None:
    model = dovetail.loads(PENDULUM)
    whole = dovetail.Simulation(model, backend="numpy")
    batch = dovetail.Simulation(model, nworld=2, keep="state")
    for sim in (whole, batch):
        sim.data.qpos = sim.data.qpos + 0.4
        sim.forward()
    pos, _ = Passive(model, batch.data).poses()
    assert pos[1] == pytest.approx(np.asarray(whole.data.geom_xpos))
    assert Passive(model, batch.data).shown(1).xpos == pytest.approx(np.asarray(whole.data.xpos))
    assert Passive(model, whole.data).shown(0) is whole.data
