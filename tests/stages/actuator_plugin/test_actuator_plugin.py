"""Actuators of the engine plugin mujoco.pid, against MuJoCo at random states and along trajectories."""

from __future__ import annotations

import numpy as np
import pytest
from beside_mujoco import Pair
from driven_arm import CONFIGS, FIELDS, LIMITED, arm, servo
from lane_backend import LANES

import dovetail
from dovetail.config import Config
from dovetail.errors import RowResultError
from dovetail.plugins.actuation import rows_numpy


@pytest.mark.parametrize("dyntype", ["none", "integrator", "filter", "filterexact"])
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_rates_and_forces_of_pid_are_mujocos(config: dict[str, str], dyntype: str) -> None:
    early = 'actearly="true" actlimited="true" actrange="-.2 .3"' if dyntype != "none" else ""
    actuators = (
        '<motor joint="b"/>'
        + servo(dyntype=dyntype, more='ctrlrange="-.4 .6"', **config)
        + servo('joint="c" gear="2"', dyntype, early, **config)
        + servo('tendon="t"', dyntype, 'forcerange="-1 1"', **config)
    )
    pair = Pair(arm(actuators))
    pair.compare(*FIELDS)
    pair.step(5)
    pair.check("act", "qvel", "actuator_force")


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_trajectories_under_pid_are_mujocos(integrator: str) -> None:
    config = CONFIGS[-1]
    actuators = servo(**config) + servo('joint="b"', "filter", **config) + servo('joint="c"', **CONFIGS[3])
    pair = Pair(arm(actuators, option=f'integrator="{integrator}"'))
    pair.set(ctrl=[0.5, -0.7, 0.1])
    pair.step(200)
    pair.check("act", "qpos", "qvel", tolerance=1e-8)


@pytest.mark.parametrize(
    "case",
    [
        {"option": 'actuatorgroupdisable="0"'},
        {"flags": 'clampctrl="disable"'},
        {"flags": 'actuation="disable"'},
        {"tendon": LIMITED},
        {"tendon": LIMITED, "option": 'actuatorgroupdisable="1"'},
        {"joint": 'actuatorfrcrange="-.1 .2"'},
    ],
    ids=str,
)
def test_pid_is_mujocos_under_limits_and_groups(case: dict[str, str]) -> None:
    actuators = servo('tendon="t" group="0"', more='ctrlrange="-.1 .1"', **CONFIGS[-1])
    actuators += '<motor tendon="t" group="1"/>' + servo(more='group="0"', **CONFIGS[1])
    pair = Pair(arm(actuators, **case))
    pair.compare(*FIELDS)
    pair.step(2)
    pair.check("act", "qvel")


def test_one_pid_instance_can_drive_several_actuators() -> None:
    xml = arm(
        '<plugin joint="a" instance="x" actdim="1"/><motor joint="c"/><plugin joint="b" instance="x" actdim="1"/>'
    )
    instance = '<instance name="x"><config key="kp" value="4"/><config key="ki" value="2"/></instance>'
    Pair(
        xml.replace('<plugin plugin="mujoco.pid"/>', f'<plugin plugin="mujoco.pid">{instance}</plugin>')
    ).compare(*FIELDS)


def test_pid_falls_back_to_the_reference_where_taichi_is_wished() -> None:
    model = dovetail.loads(arm(servo(**CONFIGS[-1])))
    plan = dovetail.compile_plan(model, Config.of_call(backend=LANES))
    assert plan.choices["actuation"].record.backend == "numpy"


def test_a_plugin_row_returns_rates_and_force() -> None:
    model = dovetail.loads(arm(servo(**CONFIGS[2])))
    data = dovetail.make_data(model)
    for result, message in (
        (1.0, r"should return \(rates, force\)"),
        ((np.zeros(2), 1.0), r"actuator_plugin:mujoco\.pid .* returned shape \(2,\), expected \(1,\)"),
        ((np.zeros(1), np.zeros(1)), r"returned shape \(1,\), expected \(\)"),
    ):
        parts = {"actuator_plugin": {"mujoco.pid": lambda *_, result=result: result}}
        with pytest.raises(RowResultError, match=message):
            rows_numpy.of_plugin(model, data, parts, 0)
