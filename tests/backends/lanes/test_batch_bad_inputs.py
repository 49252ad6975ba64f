"""A NaN, an infinity or a huge number in one world's input is that world's own affair.

Other worlds keep their bits, the world itself fares as if all worlds had the same, and as on the reference; a broken
control is told of as there.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail

XML = """
<mujoco>
  <option timestep="0.01"><flag contact="disable"/></option>
  <worldbody>
    <body name="hand" mocap="true" pos="0 0 3"><geom size="0.1" contype="0" conaffinity="0"/></body>
    <body name="torso" pos="0 0 0.5">
      <joint type="slide" axis="0 0 1"/><geom type="box" size="0.1 0.1 0.1"/>
      <body pos="0.3 0 0.1"><joint name="knee" axis="0 1 0" damping="0.1"/><geom size="0.05"/></body>
    </body>
    <body name="arm" pos="1 0 0.4"><joint type="ball"/><geom size="0.1" pos="0.1 0 0"/></body>
  </worldbody>
  <equality><weld body1="hand" body2="arm" solref="0.1 1"/></equality>
  <actuator>
    <motor name="push" joint="knee"/>
    <motor name="soft" joint="knee" ctrllimited="true" ctrlrange="-1 1"/>
    <general joint="knee" dyntype="integrator"/>
  </actuator>
</mujoco>
"""
WORLDS, BAD = 6, 3
FIELDS = {"xfrc_applied": 7, "qfrc_applied": 1, "ctrl": 0, "qpos": 1, "qvel": 1, "act": 0}
FIELDS |= {"mocap_pos": 1, "mocap_quat": 2, "qacc_warmstart": 3}
STATE = ("qpos", "qvel", "act", "time", "qacc_warmstart")


@pytest.fixture(scope="module")
def sims() -> tuple[dovetail.Simulation, dovetail.Simulation]:
    model = dovetail.loads(XML)
    lanes = dovetail.Simulation(model, WORLDS, backend=LANES)
    return lanes, dovetail.Simulation(model, WORLDS, backend="numpy")


def run(sim: dovetail.Simulation, field: str, value: float, worlds: Any) -> tuple[dict[str, Any], list[str]]:
    """The state after a step with a number of some worlds replaced, and what was warned of."""
    sim.reset()
    sim.data.qvel[:] = 0.01 * np.arange(1, WORLDS + 1)[:, None]
    sim.data.ctrl[:] = 0.1
    sim.step()
    numbers = np.array(sim.data.field(field))
    numbers.reshape(WORLDS, -1)[worlds, FIELDS[field]] = value
    sim.data.field(field)[...] = numbers
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.step()
    told = [str(w.message) for w in caught if "world" in str(w.message)]
    return {name: np.array(sim.data.field(name)) for name in STATE}, told


@pytest.mark.parametrize("value", [np.nan, np.inf, 2e10])
@pytest.mark.parametrize("field", FIELDS)
def test_a_bad_number_stays_in_its_world(
    field: str, value: float, sims: tuple[dovetail.Simulation, dovetail.Simulation]
) -> None:
    lanes, reference = sims
    found, told = run(lanes, field, value, [BAD])
    clean, _ = run(lanes, field, value, [])
    everywhere, _ = run(lanes, field, value, slice(None))
    expected, expected_told = run(reference, field, value, [BAD])
    others = [world for world in range(WORLDS) if world != BAD]
    for name in STATE:
        assert found[name][others].tobytes() == clean[name][others].tobytes(), name
        assert found[name][BAD].tobytes() == everywhere[name][BAD].tobytes(), name
        # Of forces that pull at 2e10 m, few digits are left after their sum.
        near = 0.1 if field == "mocap_pos" and value == 2e10 else 1e-9
        np.testing.assert_allclose(found[name][BAD], expected[name][BAD], err_msg=name, rtol=1e-7, atol=near)
    assert told == expected_told


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("body", [0, 1, 2])
def test_xfrc_applied_is_taken_as_mujoco_takes_it(body: int, jacobian: str) -> None:
    """With dense Jacobians NaN on any body but the world reaches every joint; with sparse ones those above it."""
    mujoco = pytest.importorskip("mujoco")
    xml = XML.replace("<option ", f'<option jacobian="{jacobian}" ')
    theirs_model = mujoco.MjModel.from_xml_string(xml)
    theirs = mujoco.MjData(theirs_model)
    ours_model = dovetail.loads(xml)
    ours = dovetail.make_data(ours_model)
    for data in (theirs, ours):
        data.xfrc_applied[body, 1] = np.nan
    mujoco.mj_forward(theirs_model, theirs)
    dovetail.forward(ours_model, ours)
    assert np.isnan(ours.qfrc_smooth).tolist() == np.isnan(theirs.qfrc_smooth).tolist()


@pytest.mark.parametrize("solver", ["Newton", "CG", "PGS"])
def test_a_weld_to_nowhere_is_a_bad_acceleration(solver: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    xml = XML.replace("<option ", f'<option solver="{solver}" ')
    theirs_model = mujoco.MjModel.from_xml_string(xml)
    theirs = mujoco.MjData(theirs_model)
    sim = dovetail.Simulation(dovetail.loads(xml), backend="numpy")
    mujoco.mj_step(theirs_model, theirs, 2)
    sim.step(2)
    theirs.mocap_pos[0, 0] = sim.data.mocap_pos[0, 0] = np.nan
    mujoco.mj_step(theirs_model, theirs)
    with pytest.warns(dovetail.bad_states.StateWarning, match="qacc"):
        sim.step()
    assert sim.data.time == theirs.time
    np.testing.assert_allclose(sim.data.qpos, theirs.qpos, atol=1e-9)


def test_broken_controls_are_told_world_by_world_once_a_call(
    sims: tuple[dovetail.Simulation, dovetail.Simulation],
) -> None:
    lanes, _ = sims
    lanes.reset()
    lanes.data.ctrl[1, 0] = np.nan
    lanes.data.ctrl[4, 2] = -1e11
    lanes.data.ctrl[5, 1] = np.inf  # is clamped
    with pytest.warns(RuntimeWarning) as caught:
        lanes.step(3)
    texts = [str(w.message) for w in caught]
    assert len(texts) == 2
    assert texts[0].startswith(
        "world 1: ctrl of actuator 'push' is nan at time 0: every control is taken as 0"
    )
    assert texts[0].endswith("and in 2 more of this call")
    assert texts[1].startswith("world 4: ctrl of actuator 2 is -100000000000.0")
