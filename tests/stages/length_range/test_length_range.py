"""How far an actuator reaches: to the limits of its joint or, where there are none, as far as it can pull."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from implementations import How, implementations

import dovetail

LIMITED = """<mujoco><worldbody><body><joint name="j" axis="0 1 0" range="-40 70" limited="true"/>
  <geom size=".1" pos=".3 0 0"/></body></worldbody><actuator><muscle joint="j" gear="2"/></actuator></mujoco>"""
PULLED = """<mujoco><worldbody><site name="post" pos="0 0 .5"/><body pos="0 0 0">
    <joint name="j" axis="0 1 0" damping="1"/><geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/>
    <site name="end" pos=".4 0 0"/></body></worldbody>
  <tendon><spatial name="t"><site site="post"/><site site="end"/></spatial></tendon>
  <actuator><muscle tendon="t"/></actuator></mujoco>"""


@pytest.mark.parametrize("how", implementations("length_range"))
@pytest.mark.parametrize("text", [LIMITED, PULLED], ids=["limited", "pulled"])
def test_ranges_are_mujocos(text: str, how: How) -> None:
    theirs = mujoco.MjModel.from_xml_string(text)
    ours = dovetail.loads(text, stages={"length_range": how.label})
    np.testing.assert_allclose(ours.actuator_lengthrange, theirs.actuator_lengthrange, atol=1e-9)


@pytest.mark.parametrize("how", implementations("length_range"))
def test_a_limited_joint_gives_its_limits_times_the_gear(how: How) -> None:
    model = dovetail.loads(LIMITED, stages={"length_range": how.label})
    soft = 2e-3  # radians by which the force of the search pushes the limits in
    np.testing.assert_allclose(model.actuator_lengthrange[0], 2 * np.deg2rad([-40, 70]), atol=soft)
