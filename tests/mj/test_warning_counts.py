"""Warnings of broken numbers are counted in `data.warning` as MuJoCo 3.4.0 counts them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from dovetail import mj

mujoco = pytest.importorskip("mujoco")

XML = """
<mujoco>
  <option timestep="0.01"><flag contact="disable" {flag}/></option>
  <worldbody>
    <body name="hand" mocap="true" pos="0 0 1"/>
    <body pos="0 0 1">
      <joint name="swing" axis="0 1 0" damping=".1"/><geom size=".05" pos=".2 0 0"/>
    </body>
    <body name="held" pos="0 1 1"><freejoint/><geom size=".05"/></body>
  </worldbody>
  <equality><weld body1="hand" body2="held" solref=".1 1"/></equality>
  <actuator>
    <motor joint="swing"/>
    <motor joint="swing" ctrllimited="true" ctrlrange="-1 1"/>
    <general joint="swing" dyntype="integrator" forcelimited="true" forcerange="-1 1"/>
  </actuator>
</mujoco>
"""
INPUTS = (
    *(("qpos", 0), ("qvel", 0), ("ctrl", 0), ("ctrl", 1), ("ctrl", 2), ("act", 0)),
    *(("qfrc_applied", 0), ("xfrc_applied", 12), ("mocap_pos", 1)),
)


def counts(module: Any, flag: str, field: str, index: int, value: float) -> list[list[int]]:
    """What was counted after each of some calls, before and after a number was replaced."""
    model = module.MjModel.from_xml_string(XML.format(flag=flag))
    data = module.MjData(model)
    data.ctrl[:] = 0.1
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module.mj_step(model, data, 2)
        getattr(data, field).reshape(-1)[index] = value
        for call in (module.mj_step, module.mj_forward, lambda m, d: module.mj_step(m, d, 3)):
            call(model, data)
            found.append([int(data.warning[kind].number) for kind in range(8)])
    return found


@pytest.mark.parametrize("flag", ["", 'autoreset="disable"'])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_as_many_as_mujoco_counts(flag: str, value: float) -> None:
    for field, index in INPUTS:
        ours, theirs = (counts(module, flag, field, index, value) for module in (mj, mujoco))
        assert ours == theirs, (field, index)


def test_a_reset_forgets_the_warnings_before_it() -> None:
    found = []
    for module in (mj, mujoco):
        model = module.MjModel.from_xml_string(XML.format(flag=""))
        data = module.MjData(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data.ctrl[0] = np.nan
            module.mj_step(model, data, 4)
            before = int(data.warning[7].number)
            data.qvel[0] = np.nan
            module.mj_step(model, data)
        found.append((before, [int(data.warning[kind].number) for kind in range(8)]))
    assert found[0] == found[1]
    assert found[0][0] == 4


def test_the_text_of_a_broken_control_names_it() -> None:
    model = mj.MjModel.from_xml_string(XML.format(flag=""))
    data = mj.MjData(model)
    data.ctrl[1] = np.nan
    with pytest.warns(
        RuntimeWarning, match="ctrl of actuator 1 is nan at time 0: every control is taken as 0"
    ):
        mj.mj_step(model, data)
    assert data.warning[7].lastinfo == 1
