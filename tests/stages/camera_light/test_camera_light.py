"""Cameras and lights in every tracking mode have the poses MuJoCo gives them."""

from __future__ import annotations

import numpy as np
import pytest
from implementations import How, assert_mujocos, implementations
from limb_models import SENSORS

import dovetail

mujoco = pytest.importorskip("mujoco")

MODES = ("fixed", "track", "trackcom", "targetbody", "targetbodycom")


def scene(mode: str) -> str:
    target = 'target="b"' if mode.startswith("target") else ""
    return f"""
    <mujoco>
      <option><flag constraint="disable"/></option>
      <worldbody>
        <light name="world" mode="{mode}" {target} pos="1 2 3" dir="0.2 0.1 -1"/>
        <camera name="world" mode="{mode}" {target} pos="-1 2 1" euler="10 20 30"/>
        <body name="a" pos="0.3 0 1" euler="15 0 40">
          <freejoint/>
          <geom type="box" size="0.1 0.2 0.3"/>
          <camera name="a" mode="{mode}" {target} pos="0.5 0.1 0.2" zaxis="1 1 0.3"/>
          <light name="a" mode="{mode}" {target} pos="0 0 1" dir="0 1 -1"/>
          <body name="b" pos="0.5 0.2 0">
            <joint type="hinge" axis="0 1 1"/>
            <geom type="capsule" size="0.05 0.3" pos="0.2 0 0"/>
            <camera name="b" mode="{mode}" {target.replace('"b"', '"a"')} pos="0 0.3 0"/>
            <light name="b" mode="{mode}" {target.replace('"b"', '"a"')} pos="0 0.3 0"/>
          </body>
        </body>
      </worldbody>
    </mujoco>"""


@pytest.mark.parametrize("mode", MODES)
def test_poses_agree_with_mujoco(mode: str) -> None:
    xml = scene(mode)
    mj_model = mujoco.MjModel.from_xml_string(xml)
    mj_data = mujoco.MjData(mj_model)
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    rng = np.random.default_rng(3)
    for _ in range(5):
        mj_data.qpos[:] = rng.normal(size=model.nq)
        data.qpos = mj_data.qpos
        mujoco.mj_forward(mj_model, mj_data)
        dovetail.forward(model, data)
        for field in ("cam_xpos", "cam_xmat", "light_xpos", "light_xdir"):
            np.testing.assert_allclose(data.field(field), getattr(mj_data, field), rtol=0, atol=1e-12)


def test_a_camera_above_its_target_has_a_finite_orientation() -> None:
    xml = """<mujoco><option><flag constraint="disable"/></option><worldbody>
      <camera mode="targetbody" target="b" pos="0 0 2"/>
      <body name="b"><geom size="0.1"/></body></worldbody></mujoco>"""
    mj_model = mujoco.MjModel.from_xml_string(xml)
    mj_data = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, mj_data)
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    np.testing.assert_allclose(data.cam_xmat, mj_data.cam_xmat, atol=1e-12)


ODD = """<mujoco><option><flag constraint="disable"/></option><worldbody>
<body name="m" mocap="true" pos="1 2 3" euler="10 20 30">
  <geom size=".1"/><camera mode="track"/><light mode="trackcom"/>
  <camera mode="targetbody" target="a" pos=".1 0 0"/><light mode="targetbodycom" target="a" pos=".1 0 0"/>
  <body pos=".1 .2 .3"><geom size=".1"/><camera mode="trackcom" pos=".1 .2 .3"/><light mode="track"/></body></body>
<body name="a" pos=".3 0 1"><freejoint/><geom size=".1" pos=".1 0 0"/>
  <camera mode="targetbody" target="a"/><light mode="targetbody" target="a"/>
  <camera mode="targetbodycom" target="a" pos=".1 0 0"/><light mode="targetbodycom" target="a" pos=".1 0 0"/>
  <camera mode="targetbody" target="m" pos=".1 0 0"/><light mode="track" dir="0 3 4" pos="1 1 1"/>
  <camera mode="targetbody"/><light mode="targetbody"/>
  <camera mode="targetbody" target="world"/><light mode="targetbodycom" target="world"/></body>
</worldbody></mujoco>"""
"""On and at mocap bodies, at themselves, at the world, at nothing."""


def test_odd_targets_and_mocap_bodies_agree_with_mujoco() -> None:
    mj_model = mujoco.MjModel.from_xml_string(ODD)
    mj_data = mujoco.MjData(mj_model)
    model = dovetail.loads(ODD)
    data = dovetail.make_data(model)
    rng = np.random.default_rng(5)
    for _ in range(10):
        for field in ("qpos", "mocap_pos", "mocap_quat"):
            value = getattr(mj_data, field)
            value[:] = rng.normal(size=value.shape)
            setattr(data, field, value)
        mujoco.mj_forward(mj_model, mj_data)
        dovetail.forward(model, data)
        for field in ("cam_xpos", "cam_xmat", "light_xpos", "light_xdir", "xpos", "xquat", "subtree_com"):
            np.testing.assert_allclose(data.field(field), getattr(mj_data, field), rtol=0, atol=1e-12)


@pytest.mark.parametrize("how", implementations("camera_light"))
def test_every_implementation_has_mujocos_poses(how: How) -> None:
    assert_mujocos(SENSORS, "camera_light", how)
