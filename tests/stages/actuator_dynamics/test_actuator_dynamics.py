"""Rates of activations by every law, against MuJoCo at random states with random controls."""

from __future__ import annotations

import numpy as np
import pytest
from beside_mujoco import Pair
from driven_arm import FIELDS, arm, assert_law, laws
from implementations import How

from dovetail.plugins.actuator_dynamics.muscle_numpy import rising_share, smooth_step

DYNAMICS = {
    "none": "",
    "integrator": 'dyntype="integrator"',
    "filter": 'dyntype="filter" dynprm=".05"',
    "filter without tau": 'dyntype="filter" dynprm="0"',
    "filterexact": 'dyntype="filterexact" dynprm=".02"',
    "muscle": 'dyntype="muscle" dynprm=".01 .04"',
    "muscle, smooth": 'dyntype="muscle" dynprm=".01 .04 .3"',
    "user": 'dyntype="user"',
    "user with three activations": 'dyntype="user" actdim="3"',
}


@pytest.mark.parametrize("dynamics", DYNAMICS)
@pytest.mark.parametrize("early", [False, True])
def test_rates_and_activations_are_mujocos(dynamics: str, early: bool) -> None:
    text = DYNAMICS[dynamics]
    extra = 'actearly="true" actlimited="true" actrange="-.2 .4"' if early and text else ""
    pair = Pair(arm(f'<general joint="a" {text} gainprm="2"/><general joint="b" {text} {extra}/>'))
    pair.compare(*FIELDS)
    if "without tau" not in dynamics:  # that one diverges at once
        pair.step(3)
        pair.check("act", "qvel")


def test_blended_time_constants_meet_the_hard_ones() -> None:
    assert smooth_step(np.array([0.0, 0.5, 1.0])).tolist() == [0.0, 0.5, 1.0]
    towards = np.array([-0.2, -0.01, 0.01, 0.2])
    hard, soft = rising_share(towards, np.zeros(4)), rising_share(towards, np.full(4, 0.1))
    assert hard.tolist() == [0.0, 0.0, 1.0, 1.0]
    assert soft[0] == 0.0 < soft[1] < 0.5 < soft[2] < soft[3] == 1.0


@pytest.mark.parametrize(("key", "how"), laws("actuator_dynamics"))
def test_every_implementation_has_mujocos_rates(key: str, how: How) -> None:
    """All laws at once, so that each must leave the others' activations alone."""
    actuators = "".join(f'<general joint="a" {law}/>' for law in DYNAMICS.values() if "user" not in law)
    assert_law(arm(actuators), f"actuator_dynamics:{key}", how)
