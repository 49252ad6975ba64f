"""Rules of kinematics that a random model would not show."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from implementations import How, assert_mujocos, implementations
from smooth_models import EVERYTHING
from smooth_reference import load

from dovetail.plugins.kinematics.tree_numpy import kinematics


def test_frames_closer_than_a_micrometre_are_taken_as_the_same() -> None:
    model = load(
        """<mujoco><worldbody><body pos="1 2 3" euler="10 20 30"><freejoint/>
        <geom size=".1" pos="3e-7 0 0"/><geom type="box" size=".1 .2 .3" pos="0 0 1" quat="1 4e-7 0 0"/>
        <site pos="4e-7 0 0" quat="1 1 0 0"/><site pos="2e-6 0 0"/>
        <inertial pos="0 0 2e-7" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
    )
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    mujoco.mj_kinematics(model, theirs)
    kinematics(model, ours)
    for name in ("xipos", "ximat", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(ours.geom_xpos[0], ours.xpos[1])


def test_anchor_and_axis_are_those_before_the_joint_moves_the_body() -> None:
    model = load(
        """<mujoco><worldbody><body><joint axis="0 0 1"/><joint axis="1 0 0" pos="0 1 0"/>
        <geom size=".1"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qpos[:] = np.pi / 2, 0.7
    kinematics(model, data)
    np.testing.assert_allclose(data.xaxis, [[0, 0, 1], [0, 1, 0]], atol=1e-15)
    np.testing.assert_allclose(data.xanchor, [[0, 0, 0], [-1, 0, 0]], atol=1e-15)


def test_zero_quaternion_means_no_rotation() -> None:
    model = load("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    data = mujoco.MjData(model)
    data.qpos[3:] = 0.0
    kinematics(model, data)
    np.testing.assert_array_equal(data.xquat[1], [1, 0, 0, 0])


@pytest.mark.parametrize("how", implementations("kinematics"))
def test_poses_are_mujocos(how: How) -> None:
    assert_mujocos(EVERYTHING, "kinematics", how)


REFERENCES = """
<mujoco>
  <worldbody>
    <body pos="1 0 2" euler="20 0 10">
      <joint type="slide" axis="1 .2 0" ref=".7"/>
      <geom size=".1" pos="0 .1 0"/>
      <body pos="0 .3 .1"><joint axis="0 1 .5" pos=".05 0 0" ref="50"/><geom size=".1" pos=".2 0 0"/></body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("how", implementations("kinematics"))
def test_slides_and_hinges_move_from_their_reference_positions(how: How) -> None:
    assert_mujocos(REFERENCES, "kinematics", how)
