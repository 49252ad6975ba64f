"""What actuation does with controls it should not use as they are, and how it says so."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from implementations import How, assert_mujocos, implementations
from limb_models import DRIVEN, IN_WATER
from smooth_models import EVERYTHING
from smooth_reference import PARTS, load

from dovetail.plugins.actuation.gain_bias_numpy import actuation
from dovetail.plugins.transmission.moment_arms_numpy import transmission

XML = """<mujoco><option {option}><flag constraint="disable" {flags}/></option><worldbody>
  <body><joint name="j" {joint}/><geom size=".1" pos=".3 0 0"/></body>
  <body><joint type="slide"/><geom size=".1"/><site name="s"/></body></worldbody>
  <actuator>{actuators}</actuator></mujoco>"""


def actuated(
    actuators: str, ctrl: Any, option: str = "", flags: str = "", joint: str = "", parts: Any = PARTS
) -> Any:
    model = load(XML.format(actuators=actuators, option=option, flags=flags, joint=joint))
    data = mujoco.MjData(model)
    data.ctrl[:] = ctrl
    transmission(model, data)
    actuation(model, data, parts)
    return data


@pytest.mark.parametrize(("flags", "force"), [("", 1.0), ('clampctrl="disable"', 5.0)])
def test_control_is_clamped_unless_the_flag_is_off(flags: str, force: float) -> None:
    data = actuated('<motor joint="j" ctrlrange="-1 1"/>', 5.0, flags=flags)
    assert data.actuator_force[0] == force


def test_force_and_joint_force_are_clamped_in_turn() -> None:
    motors = '<motor joint="j" forcerange="-3 3"/><motor joint="j"/>'
    data = actuated(motors, [5.0, 1.0], joint='actuatorfrcrange="-2 2"')
    assert data.actuator_force.tolist() == [3.0, 1.0]
    assert data.qfrc_actuator.tolist() == [2.0, 0.0]


def test_disabled_group_gives_no_force_but_reports_act_dot() -> None:
    actuators = '<general joint="j" group="2" dyntype="integrator"/><motor joint="j"/>'
    data = actuated(actuators, [1.0, 1.0], option='actuatorgroupdisable="2"')
    assert data.act_dot[0] == 1.0
    assert data.actuator_force.tolist() == [0.0, 1.0]


def test_flag_actuation_switches_all_forces_off() -> None:
    data = actuated('<motor joint="j"/>', 1.0, flags='actuation="disable"')
    assert data.actuator_force[0] == 0.0
    assert not data.qfrc_actuator.any()


@pytest.mark.parametrize("broken", [np.nan, np.inf, 1e11])
def test_broken_control_is_named_and_zeroes_all(broken: float) -> None:
    with pytest.warns(RuntimeWarning, match=r"ctrl of actuator 1 is .*: every control is taken as 0"):
        data = actuated('<motor joint="j"/><motor joint="j"/>', [1.0, broken])
    assert not data.actuator_force.any()


def test_missing_law_is_named_with_those_that_exist() -> None:
    muscle = '<general name="calf" joint="j" dyntype="muscle" dynprm=".01 .04"/>'
    rows = {key: row for key, row in PARTS["actuator_dynamics"].items() if key != "muscle"}
    with pytest.raises(KeyError, match=r"'calf' needs actuator_dynamics 'muscle'; there are: filter,"):
        actuated(muscle, 1.0, parts={**PARTS, "actuator_dynamics": rows})


@pytest.mark.parametrize("how", implementations("actuation"))
@pytest.mark.parametrize(
    "text", [EVERYTHING, IN_WATER, *DRIVEN.values()], ids=["joints", "weightless", *DRIVEN]
)
def test_every_implementation_has_mujocos_forces_and_activations(text: str, how: How) -> None:
    assert_mujocos(text, "actuation", how)
