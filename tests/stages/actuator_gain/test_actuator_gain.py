"""Gains of actuators by every law, with every law of biases, against MuJoCo at random states with random controls."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from beside_mujoco import Pair
from driven_arm import BIASES, FIELDS, GAINS, arm, assert_law, laws
from implementations import How

import dovetail
from dovetail.config import Config
from dovetail.errors import RowResultError
from dovetail.plugin import Implementation
from dovetail.plugins.shared.muscle_numpy import force_by_length, force_by_velocity
from dovetail.registry import build_registry


@pytest.mark.parametrize(("gain", "bias"), [*product(GAINS, BIASES)])
def test_forces_are_mujocos(gain: str, bias: str) -> None:
    law = f"{GAINS[gain]} {BIASES[bias]}"
    if law.count("lengthrange") > 1:
        law = law.replace('lengthrange="-.5 1.5"', "", 1)
    targets = (
        'joint="a"',
        'joint="c" gear="-2"',
        'tendon="t"',
        'tendon="f" gear=".3"',
        'site="s" refsite="w"',
    )
    Pair(arm("".join(f"<general {target} {law}/>" for target in targets))).compare(*FIELDS)


def own_gain(model: Any, data: Any, ids: Any) -> Any:
    """A row of a user's own; it is right only for models with two such actuators."""
    return np.array([5.0, 7.0])


def with_own_gain(actuators: str) -> Any:
    registry = build_registry(third_party=False)
    registry.add(
        Implementation(
            stage="actuator_gain",
            key="user",
            name="own",
            backend="numpy",
            target="test_actuator_gain:own_gain",
        )
    )
    model = dovetail.loads(arm(actuators))
    plan = dovetail.compile_plan(
        model, Config.of_call(stages={"actuator_gain:user": "own"}), registry=registry
    )
    data = plan.make_data()
    data.ctrl = 1.0
    plan.forward(data)
    return data


def test_a_row_of_a_users_own_takes_the_place_of_the_built_in_one() -> None:
    user = '<general joint="a" gaintype="user"/>'
    assert with_own_gain(user + '<motor joint="b"/>' + user).actuator_force.tolist() == [5.0, 1.0, 7.0]
    with pytest.raises(
        RowResultError, match=r"actuator_gain:user \(test_actuator_gain:own_gain\) .* \(2,\), expected \(1,\)"
    ):
        with_own_gain(user)


def test_muscles_are_strongest_at_rest_and_lengthening() -> None:
    lmin, lmax, fvmax = np.array([0.5]), np.array([1.6]), np.array([1.3])
    length = [force_by_length(np.array([x]), lmin, lmax)[0] for x in (0.4, 0.5, 0.75, 1.0, 1.3, 1.6, 1.7)]
    np.testing.assert_allclose(length, [0.0, 0.0, 0.5, 1.0, 0.5, 0.0, 0.0], atol=1e-15)
    velocity = [force_by_velocity(np.array([v]), fvmax)[0] for v in (-2.0, -1.0, 0.0, 0.3, 2.0)]
    np.testing.assert_allclose(velocity, [0.0, 0.0, 1.0, 1.3, 1.3], atol=1e-15)


@pytest.mark.parametrize(("key", "how"), laws("actuator_gain"))
def test_every_implementation_has_mujocos_forces(key: str, how: How) -> None:
    actuators = "".join(f'<general joint="a" {law}/>' for law in GAINS.values() if "user" not in law)
    assert_law(arm(actuators), f"actuator_gain:{key}", how)
