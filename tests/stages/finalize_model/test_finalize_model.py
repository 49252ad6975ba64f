"""Constants of the model that follow from the dynamics at qpos0 are those MuJoCo's compiler stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from smooth_reference import load, worst_error
from trees import tree_models

from dovetail.plugins.finalize_model.dynamics_numpy import finalize_model

TOLERANCE = 1e-10


def assert_constants_are_mujocos(model: Any) -> None:
    errors = {}
    for name, value in finalize_model(model).items():
        expected = model
        for part in name.split("."):
            expected = getattr(expected, part)
        errors[name] = worst_error(np.asarray(value), np.asarray(expected))
    assert not {name: error for name, error in errors.items() if error > TOLERANCE}


@settings(max_examples=40, deadline=None, derandomize=True)
@given(xml=tree_models())
def test_constants_of_random_trees(xml: str) -> None:
    assert_constants_are_mujocos(load(xml))


BALL = '<geom size=".1" pos="0 .1 .3"/>'

MODELS = {
    "nothing": "",
    "a geom in the world": '<geom size=".3" pos="1 2 3"/>',
    "an infinite plane": '<geom type="plane" size="0 0 1" pos="1 2 3"/>',
    "a plane infinite along y": '<geom type="plane" size="4 0 1" pos="1 2 3"/>',
    "one site": '<site pos="1 1 1"/>',
    "flat along x": '<site/><site pos="0 5 0"/>',
    "flat along y and z": '<site/><site pos="5 0 0"/>',
    "a body without mass": '<body pos="1 1 1"><site/></body>',
    "a mocap body with a pendulum": f'<body mocap="true" pos="3 1 1"><body><joint/>{BALL}</body></body>',
    "an empty body in between": f'<body pos="1 0 0"><body><body><joint axis="0 1 1"/>{BALL}</body></body></body>',
    "a body welded to a moving one": f'<body><joint type="ball"/>{BALL}<body pos="0 0 1">{BALL}</body></body>',
    "a hinge through the centre of mass": '<body><joint/><geom type="box" size=".1 .2 .3"/></body>',
    "a sliding point mass with armature": '<body><joint type="slide" armature="1"/><geom size=".1"/></body>',
    "a free body aligned with its inertia": '<body><freejoint align="true"/><geom size=".1" pos="1 2 3"/></body>',
}


@pytest.mark.parametrize("name", MODELS)
def test_constants_of_unusual_models(name: str) -> None:
    assert_constants_are_mujocos(load(f"<mujoco><worldbody>{MODELS[name]}</worldbody></mujoco>"))


@pytest.mark.parametrize("joint", ['type="hinge" axis="1 1 0"', 'type="ball"', 'type="slide"'])
def test_damping_ratio_becomes_damping(joint: str) -> None:
    xml = f"""<mujoco><worldbody><body><joint name="j" {joint}/>{BALL}</body></worldbody><actuator>
        <position joint="j" kp="7" dampratio=".5" gear="3 0 1"/><position joint="j" kp="7" kv="2"/>
        </actuator></mujoco>"""
    model = load(xml)
    stored = model.actuator_biasprm.copy()
    model.actuator_biasprm[0, 2] = 0.5
    np.testing.assert_allclose(finalize_model(model)["actuator_biasprm"], stored, rtol=1e-12)
