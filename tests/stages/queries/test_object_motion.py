"""Velocities and accelerations of objects against MuJoCo, in world axes and in their own."""

from __future__ import annotations

from typing import Any

import pytest

mujoco = pytest.importorskip("mujoco")

import numpy as np  # noqa: E402
from sensor_reference import filled, forward  # noqa: E402

from dovetail.compare.oracle import model_from_mujoco  # noqa: E402
from dovetail.contracts.enums import ObjType  # noqa: E402
from dovetail.plugins.shared.motion_numpy import object_acceleration, object_velocity  # noqa: E402

TOLERANCE = 1e-12
"""Relative to the largest component: rounding of different orders of summation."""

XML = """
<mujoco>
  <worldbody>
    <site name="w" pos="1 2 3"/>
    <geom name="gw" size=".1" pos="3 0 0" contype="0" conaffinity="0"/>
    <camera name="track" mode="trackcom" pos="0 -1 1"/>
    <body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 .2 0" euler="10 20 30"/>
      <site pos=".3 .1 0" euler="5 6 7"/>
      <body pos=".5 0 .1" euler="0 40 0"><joint type="ball" pos=".1 0 0"/><geom size=".1 .2" type="capsule"/>
        <camera pos=".1 .1 .1" euler="10 0 50"/>
        <body pos=".2 .1 0"><joint axis="1 2 3"/><joint type="slide" axis="0 1 1"/><geom size=".1" pos="0 .1 .1"/>
          <site pos=".1 0 0"/></body></body></body>
    <body pos="2 0 0"><geom size=".1"/><body><joint/><geom size=".1" pos=".3 0 0"/></body></body>
  </worldbody>
</mujoco>
"""
KINDS = {"body": "nbody", "xbody": "nbody", "geom": "ngeom", "site": "nsite", "camera": "ncam"}


def results(mj_model: Any, mj_data: Any, kind: str, obj: int, local: bool) -> tuple[Any, Any]:
    velocity, acceleration = np.zeros(6), np.zeros(6)
    code = int(ObjType.from_keyword(kind))
    mujoco.mj_objectVelocity(mj_model, mj_data, code, obj, velocity, int(local))
    mujoco.mj_objectAcceleration(mj_model, mj_data, code, obj, acceleration, int(local))
    return velocity, acceleration


@pytest.mark.parametrize("local", [False, True], ids=["world", "local"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_object_at_random_states(kind: str, local: bool) -> None:
    for seed in range(5):
        mj_model, mj_data = forward(XML, seed)
        mujoco.mj_rnePostConstraint(mj_model, mj_data)
        model = model_from_mujoco(mj_model)
        data = filled(model, mj_data)
        for obj in range(getattr(mj_model, KINDS[kind])):
            velocity, acceleration = results(mj_model, mj_data, kind, obj, local)
            for ours, theirs in (
                (object_velocity(model, data, kind, obj, local), velocity),
                (object_acceleration(model, data, kind, obj, local), acceleration),
            ):
                np.testing.assert_allclose(
                    ours, theirs, rtol=0, atol=TOLERANCE * max(1, np.abs(theirs).max())
                )


def test_the_kind_may_be_a_number_of_mujoco() -> None:
    mj_model, mj_data = forward(XML, 0)
    code = int(mujoco.mjtObj.mjOBJ_SITE)
    np.testing.assert_array_equal(
        object_velocity(mj_model, mj_data, code, 1), object_velocity(mj_model, mj_data, "site", 1)
    )


def test_a_kind_without_pose_is_refused_with_those_that_have_one() -> None:
    mj_model, mj_data = forward(XML, 0)
    with pytest.raises(ValueError, match=r"joint has no pose.*body, xbody, geom, site, camera"):
        object_velocity(mj_model, mj_data, ObjType.JOINT, 0)
