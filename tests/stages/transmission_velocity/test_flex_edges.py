"""Velocities of flex edges are MuJoCo's, in models with nothing else whose velocity is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from flex_zoo import FLEXES, evaluated, text_of

from dovetail.compare.oracle import model_from_mujoco
from dovetail.config import Config
from dovetail.planning.planner import compile_plan
from dovetail.plugins.transmission_velocity.moment_product_numpy import transmission_velocity


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("name", FLEXES)
def test_they_are_mujocos(name: str, jacobian: str) -> None:
    m, d = evaluated(text_of(name, jacobian), 1)
    expected = d.flexedge_velocity.copy()
    d.flexedge_velocity[:] = 7.0
    transmission_velocity(m, d)
    np.testing.assert_allclose(d.flexedge_velocity, expected, atol=1e-13, rtol=0)


def test_flexes_need_them_without_tendons_and_actuators() -> None:
    m, d = evaluated(text_of("cloth with edges damped, on a limb"), 0)
    plan = compile_plan(model_from_mujoco(m), Config.of_call(backend="numpy"))
    assert "transmission_velocity" in [slot.label for slot in plan.slots]
    data = plan.make_data()
    for name in ("qpos", "qvel"):
        data.field(name)[...] = getattr(d, name)
    plan.forward(data)
    assert np.abs(d.flexedge_velocity).max() > 0.1
    np.testing.assert_allclose(data.flexedge_velocity, d.flexedge_velocity, atol=1e-13)
