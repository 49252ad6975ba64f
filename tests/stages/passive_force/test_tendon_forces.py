"""Springs, dampers and energy of tendons are MuJoCo's; what a backend does not handle it leaves to the reference."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail

mujoco = pytest.importorskip("mujoco")

XML = """
<mujoco>
  <option timestep="0.001"><flag constraint="disable" energy="enable"/></option>
  <worldbody>
    <site name="post" pos="0 0 1.2"/>
    <body pos="0 0 1">
      <joint name="a" axis="0 1 0"/><geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0"/>
      <site name="end" pos="0.4 0 0"/>
      <body pos="0.4 0 0">
        <joint name="b" axis="0 1 0.2"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0.1 0"/>
        <site name="tip" pos="0.3 0.1 0"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="cord" stiffness="40" damping="0.7" springlength="0.3 0.35" {extra}>
      <site site="post"/><site site="end"/><site site="tip"/>
    </spatial>
    <fixed name="mix" stiffness="5" damping="0.2"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed>
  </tendon>
</mujoco>"""


@pytest.mark.parametrize("disable", ["", "spring", "damper"])
def test_forces_energy_and_trajectory_agree_with_mujoco(disable: str) -> None:
    xml = XML.format(extra="")
    if disable:
        xml = xml.replace("<flag ", f'<flag {disable}="disable" ')
    mj_model = mujoco.MjModel.from_xml_string(xml)
    mj_data = mujoco.MjData(mj_model)
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    mj_data.qvel[:] = data.qvel[:] = [1.5, -2.0]
    for _ in range(200):
        mujoco.mj_step(mj_model, mj_data)
        dovetail.step(model, data)
        for field in ("qfrc_spring", "qfrc_damper", "qfrc_passive", "energy", "qpos", "qvel", "ten_velocity"):
            np.testing.assert_allclose(data.field(field), getattr(mj_data, field), rtol=1e-9, atol=1e-10)


def test_a_slack_tendon_inside_its_dead_band_does_not_pull() -> None:
    model = dovetail.loads(XML.format(extra=""))
    model.tendon_lengthspring[:, 0], model.tendon_lengthspring[:, 1] = -10.0, 10.0
    model.opt.gravity = 0.0
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    assert not data.qfrc_passive.any()
