"""Two implementations in one picture."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail.compare.run_specs import RunSpec
from dovetail.errors import SelectionError
from dovetail.viewer.ab import FAR, NEAR, PARTED, SCALE, Pair, divergence_colours
from dovetail.viewer.blame import _answer

ARM = """<mujoco model="arm"><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 1"><joint name="shoulder" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
    <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body></body>
</worldbody><actuator><motor joint="shoulder"/></actuator></mujoco>"""


def pair(a: str = "", b: str = "") -> Pair:
    made = Pair(dovetail.loads(ARM), RunSpec.of(a, "a"), RunSpec.of(b, "b"))
    made.refresh()
    return made


def test_the_same_twice_stays_together() -> None:
    made = pair()
    made.step(30)
    assert made.apart().max() == 0.0
    assert made.parted_at is None
    assert made.time == pytest.approx(0.06)


def test_other_integrators_part_at_once_and_the_state_before_is_kept() -> None:
    made = pair("", "integrate=rk4")
    made.step(5)
    assert made.parted_at is not None
    assert made.apart().max() > PARTED
    assert made.before["time"] == made.parted_at
    made.reset(None)
    made.refresh()
    assert made.parted_at is None
    assert made.apart().max() == 0.0


def test_controls_of_a_hand_reach_both() -> None:
    made = pair()
    front = made.edited(1)
    assert front is not None
    front.ctrl[0] = 0.3
    made.step(10)
    assert made.apart().max() == 0.0
    assert all(side.state()["ctrl"][0] == 0.3 for side in made.sides)


def test_mujoco_stands_beside_us() -> None:
    pytest.importorskip("mujoco")
    made = Pair("pendulum", RunSpec.of("", "a"), RunSpec.of("mujoco", "b"))
    made.refresh()
    made.step(50)
    assert made.apart().max() < 1e-12
    assert made.shown(1).qpos == pytest.approx(made.sides[1].state()["qpos"])


def test_colours_go_from_together_to_apart() -> None:
    colours = divergence_colours(np.array([0.0, NEAR, FAR, 1e9, np.nan]))
    assert colours[:2, :3] == pytest.approx(SCALE[[0, 0]])
    assert colours[2:, :3] == pytest.approx(SCALE[[3, 3, 3]])
    shares = divergence_colours(np.geomspace(NEAR, FAR, 50))
    assert (np.diff(shares[:, 2] - shares[:, 0])[25:] < 1e-9).all(), "ever redder in the upper half"


def test_what_cannot_move_keeps_its_colour() -> None:
    made = pair("", "integrate=rk4")
    made.step(20)
    colours = made.colours().reshape(2, 3, 4)
    assert colours[0, 0, :3] == pytest.approx([0.5, 0.5, 0.5])
    assert not np.allclose(colours[0, 2, :3], [0.5, 0.5, 0.5])


def test_what_cannot_be_stepped_or_compared_is_refused() -> None:
    with pytest.raises(SelectionError, match="cannot be stepped"):
        pair("", "before.npz")
    other = dovetail.loads("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    with pytest.raises(SelectionError, match="3 and 1 geoms"):
        Pair(dovetail.loads(ARM), RunSpec.of("", "a"), RunSpec.of({"model": other}, "b"))


def test_answers_of_diff_are_told_in_a_sentence() -> None:
    first = '{"first": {"stage": "integrate", "field": "qvel", "object": ""}}'
    assert "<b>integrate</b>" in _answer(first, "")
    assert "rounding" in _answer('{"first": null}', "")
    assert "no such" in _answer('{"error": "no such thing"}', "")
    assert "broke" in _answer("", "it broke")
