"""Biases of actuators by every law, against MuJoCo at random states; with every law of gains they are tried there."""

from __future__ import annotations

import pytest
from beside_mujoco import Pair
from driven_arm import BIASES, FIELDS, arm, assert_law, laws
from implementations import How


@pytest.mark.parametrize(("key", "how"), laws("actuator_bias"))
def test_every_implementation_has_mujocos_forces(key: str, how: How) -> None:
    actuators = "".join(f'<general joint="a" {law}/>' for law in BIASES.values() if "user" not in law)
    assert_law(arm(actuators), f"actuator_bias:{key}", how)


def test_a_bias_acts_without_control() -> None:
    pair = Pair(arm(f'<general joint="a" {BIASES["affine"]}/>'))
    pair.set(qpos=[0.5, 0.0, 0.0], ctrl=0.0)
    pair.forward()
    pair.check(*FIELDS)
    assert pair.ours.actuator_force[0] == pytest.approx(0.1 - 2 * 0.5)
