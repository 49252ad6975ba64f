"""Pulling at bodies, beside mujoco's own perturbation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.loading import MODELS
from dovetail.viewer.perturb import apply_force, apply_pose, drag_to, grab, held_point, release
from dovetail.visual import PerturbBit

mujoco = pytest.importorskip("mujoco")

MOCAP = """<mujoco><worldbody>
  <body name="hand" mocap="true" pos="0 0 1"><geom size=".1" pos=".05 0 0"/></body>
  <body name="ball"><freejoint/><geom size=".1" pos="0 .02 0"/></body>
</worldbody></mujoco>"""


def both(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    path = str(MODELS / "humanoid.xml")
    theirs = mujoco.MjModel.from_xml_path(path)
    there = mujoco.MjData(theirs)
    there.qvel[:] = np.random.default_rng(seed).normal(size=theirs.nv)
    mujoco.mj_step(theirs, there, 20)
    mujoco.mj_forward(theirs, there)
    ours = dovetail.load("humanoid")
    sim = dovetail.Simulation(ours, backend="numpy")
    sim.data.qpos[:], sim.data.qvel[:] = there.qpos, there.qvel
    sim.forward()
    return theirs, there, ours, sim.data


def mujocos_hand(theirs: Any, there: Any, body: int, point: Any) -> Any:
    scene = mujoco.MjvScene(theirs, 500)
    hand = mujoco.MjvPerturb()
    hand.select = body
    hand.localpos[:] = there.xmat[body].reshape(3, 3).T @ (point - there.xpos[body])
    mujoco.mjv_updateScene(theirs, there, mujoco.MjvOption(), hand, mujoco.MjvCamera(), 7, scene)
    mujoco.mjv_initPerturb(theirs, there, scene, hand)
    return hand


@pytest.mark.parametrize("active", [1, 2, 3])
def test_the_spring_is_mujocos(active: int) -> None:
    theirs, there, ours, here = both(active)
    body = 5
    point = there.xpos[body] + [0.03, -0.02, 0.05]
    hand, own = mujocos_hand(theirs, there, body, point), grab(ours, here, body, point)
    assert own.localmass == pytest.approx(hand.localmass)
    assert own.refpos == pytest.approx(hand.refpos)
    assert own.refquat == pytest.approx(hand.refquat)
    wanted = np.array([0.9, 0.1, 0.3, -0.2]) / np.linalg.norm([0.9, 0.1, 0.3, -0.2])
    for one in (hand, own):
        one.active = active
        one.refselpos[:] = np.add(point, (0.1, 0.2, 0.3))
        one.refquat[:] = wanted
    mujoco.mjv_applyPerturbForce(theirs, there, hand)
    apply_force(ours, here, own)
    assert np.abs(there.xfrc_applied[body]).max() > 1
    assert here.xfrc_applied == pytest.approx(there.xfrc_applied, rel=1e-9, abs=1e-9)
    release(own, here)
    assert not here.xfrc_applied.any()


def test_the_pose_of_what_floats_is_moved_as_mujoco_does_while_paused() -> None:
    theirs, there, ours, here = both()
    hand, own = mujocos_hand(theirs, there, 4, there.xpos[4]), grab(ours, here, 4, there.xpos[4])
    for one in (hand, own):
        one.active = 3
        one.refpos[:] = [1.0, 2.0, 3.0]
        one.refquat[:] = [0.5, 0.5, -0.5, 0.5]
    mujoco.mjv_applyPerturbPose(theirs, there, hand, 1)
    assert apply_pose(ours, here, own, paused=True)
    assert here.qpos[:7] == pytest.approx(there.qpos[:7])
    before = np.array(here.qpos)
    own.refpos[:] = 0
    assert not apply_pose(ours, here, own, paused=False), "what runs is pulled, not moved"
    assert (here.qpos == before).all()


def test_a_mocap_body_is_moved_in_any_case_and_never_pulled() -> None:
    model = dovetail.loads(MOCAP)
    sim = dovetail.Simulation(model, backend="numpy")
    sim.forward()
    hand = grab(model, sim.data, 1, sim.data.xpos[1])
    drag_to(hand, sim.data, np.array([1.0, 0.0, 2.0]))
    assert apply_pose(model, sim.data, hand, paused=False)
    assert sim.data.mocap_pos[0] == pytest.approx([1.0, 0.0, 2.0])
    apply_force(model, sim.data, hand)
    assert not sim.data.xfrc_applied.any()


def test_a_pulled_body_comes_to_the_pointer() -> None:
    model = dovetail.loads(
        MOCAP.replace("<worldbody>", '<option gravity="0 0 0" timestep=".01"/><worldbody>')
    )
    sim = dovetail.Simulation(model, backend="numpy")
    sim.forward()
    hand = grab(model, sim.data, 2, sim.data.xipos[2])
    hand.active = int(PerturbBit.TRANSLATE)
    hand.refselpos = np.array([0.3, 0.1, 0.2])
    for _ in range(300):
        apply_force(model, sim.data, hand)
        sim.step()
    sim.forward()
    assert held_point(sim.data, hand) == pytest.approx([0.3, 0.1, 0.2], abs=0.01)


def test_the_world_cannot_be_pulled() -> None:
    model = dovetail.loads(MOCAP)
    sim = dovetail.Simulation(model, backend="numpy")
    sim.forward()
    hand = grab(model, sim.data, 0, [0, 0, 0])
    hand.active = 3
    apply_force(model, sim.data, hand)
    assert not apply_pose(model, sim.data, hand, paused=True)
    assert not sim.data.xfrc_applied.any()
