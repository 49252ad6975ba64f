"""Shortcuts, limits, groups and flags of actuators against MuJoCo at random states; and rows that return nonsense."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from beside_mujoco import Pair
from driven_arm import FIELDS, LIMITED, arm

import dovetail
from dovetail.errors import RowResultError
from dovetail.plugins.actuation import rows_numpy

SHORTCUTS = """<motor joint="a" ctrlrange="-.5 .5"/><position joint="b" kp="30" kv="2" forcerange="-4 5"/><velocity joint="c" kv="3"/>
<intvelocity joint="b" kp="10" actrange="-.3 .3"/><damper joint="a" kv="4" ctrlrange="0 1"/><cylinder joint="c" diameter=".2" timeconst=".1" bias=".1 -.2 .3"/>
<position joint="a" kp="30" dampratio="1" timeconst=".05"/><muscle tendon="t" lengthrange=".2 1"/><muscle tendon="t" lengthrange=".2 1" tausmooth=".4" timeconst=".02 .05" force="7"/>"""


@pytest.mark.parametrize("flags", ["", 'clampctrl="disable"', 'actuation="disable"', 'gravity="disable"'])
def test_shortcuts_of_mjcf_are_mujocos(flags: str) -> None:
    pair = Pair(arm(SHORTCUTS, flags=flags))
    pair.compare(*FIELDS)
    pair.step(3)
    pair.check("act", "qvel")


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_trajectories_are_mujocos(integrator: str) -> None:
    pair = Pair(arm(SHORTCUTS, option=f'integrator="{integrator}"'))
    pair.set(ctrl=np.linspace(-1.0, 1.0, 9))
    pair.step(100)
    pair.check("act", "qpos", "qvel", tolerance=1e-8)


@pytest.mark.parametrize(
    "case",
    [
        {"joint": 'actuatorfrcrange="-.1 .2"'},
        {"tendon": LIMITED},
        {"tendon": LIMITED, "option": 'actuatorgroupdisable="1"'},
        {"tendon": LIMITED, "option": 'actuatorgroupdisable="1 2 3"'},
        {"option": 'actuatorgroupdisable="2"', "flags": 'clampctrl="disable"'},
    ],
    ids=str,
)
def test_limits_and_groups_are_mujocos(case: dict[str, str]) -> None:
    actuators = """<general joint="a" dyntype="integrator" group="2" actrange="-.1 .1"/><motor joint="a" forcerange="-1 .5" ctrlrange="-.1 .3" group="3"/>
    <motor tendon="t" group="1"/><motor tendon="t" gear="3" forcerange="-.2 .2"/><motor tendon="f" group="2"/><motor tendon="f" group="31"/>
    <general joint="b" dyntype="filterexact" dynprm=".1" actearly="true" group="1"/><motor joint="b" gear="5" group="-1" forcerange=".1 .2"/>"""
    pair = Pair(arm(actuators, **case))
    pair.compare(*FIELDS)
    pair.step(3)
    pair.check("act", "qvel")


# ---- the engine plugin pid


# ---- controls that are no numbers, rows that return nonsense


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("broken", [np.nan, np.inf, -2e10])
@pytest.mark.parametrize("limited", ["", 'ctrlrange="-1 1"'])
def test_a_broken_control_zeroes_all_as_in_mujoco(broken: float, limited: str) -> None:
    pair = Pair(
        arm(
            f'<motor joint="a"/><general joint="b" dyntype="filter" dynprm=".1"/><motor name="bad" joint="c" {limited}/>'
        )
    )
    pair.randomise()
    pair.set(ctrl=[1.0, 2.0, broken])
    pair.forward()
    pair.check(*FIELDS)


def test_the_warning_names_actuator_and_time() -> None:
    model = dovetail.loads(arm('<motor joint="a"/><motor name="elbow" joint="b"/>'))
    data = dovetail.make_data(model)
    data.ctrl, data.time = [0.0, np.nan], 1.25
    with pytest.warns(RuntimeWarning, match=r"ctrl of actuator 'elbow' is nan at time 1\.25"):
        dovetail.forward(model, data)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.zeros(3), r"actuator_gain:user \(acme\.laws:stiff\) returned shape \(3,\), expected \(2,\)"),
        (1.0, r"returned shape \(\), expected \(2,\)"),
        (np.zeros((2, 1)), r"returned shape \(2, 1\), expected \(2,\)"),
        (None, r"returned None, which is not numbers"),
        (["a", "b"], r"returned \['a', 'b'\], which is not numbers"),
        (np.zeros(2, complex), "which is not numbers"),
        ([[1.0], [1.0, 2.0]], "inhomogeneous"),
    ],
)
def test_a_row_that_returns_nonsense_is_named(result: Any, message: str) -> None:
    def stiff(model: Any, data: Any, ids: Any) -> Any:
        return result

    stiff.__module__, stiff.__qualname__ = "acme.laws", "stiff"
    with pytest.raises(RowResultError, match=message):
        rows_numpy.checked(stiff(None, None, None), (2,), "actuator_gain:user", stiff)
