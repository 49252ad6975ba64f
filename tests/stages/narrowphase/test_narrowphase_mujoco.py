"""Contacts of whole scenes, geometry included, against MuJoCo: the built-in rows through the dispatcher."""

from __future__ import annotations

import numpy as np
import pytest
from contact_reference import PARAMETERS, Scene, assert_contacts_equal, collided, mujoco, mujoco_of

import dovetail

HUMANOID_LIKE = """
<mujoco><worldbody><geom type="plane" size="5 5 1"/>
  <body pos="0 0 0.3"><freejoint/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.06"/>
    <geom size="0.09" pos="0.35 0 0"/>
    <body pos="-0.05 0.08 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -0.3 0 0.05" size="0.05"/>
      <body pos="-0.32 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -0.25 0 -0.1" size="0.04"/></body>
    </body>
    <body pos="-0.05 -0.08 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -0.3 0 0.05" size="0.05"/>
    </body>
  </body>
  <body pos="0.1 0.1 0.2"><freejoint/><geom type="box" size="0.1 0.08 0.06" margin="0.01"/></body>
  <body pos="-0.2 0.1 0.25"><freejoint/><geom size="0.1"/><geom type="box" size="0.05 0.05 0.2" pos="0 0.1 0"/></body>
</worldbody></mujoco>"""
TOLERANCE = 1e-10
"""Metres and direction cosines: box and capsule edges are found in another order of operations."""


def test_contacts_of_a_tangle_of_capsules_spheres_and_boxes() -> None:
    mj_model, mj_data = mujoco_of(HUMANOID_LIKE)
    model = dovetail.loads(HUMANOID_LIKE)
    data = dovetail.make_data(model)
    random = np.random.default_rng(0)
    contacts = 0
    for _ in range(40):
        mujoco.mj_resetData(mj_model, mj_data)
        mj_data.qpos[:] += 0.1 * random.normal(size=mj_model.nq)
        mj_data.qpos[2] -= 0.2
        collided(mj_model, mj_data)
        data.qpos = mj_data.qpos
        dovetail.forward(model, data)
        assert_contacts_equal(data, mj_data, atol=TOLERANCE)
        contacts += data.ncon
    assert contacts > 100


@pytest.mark.parametrize("seed", range(4))
def test_contacts_of_random_scenes_of_every_shape(seed: int) -> None:
    """Distances to 1e-6, MuJoCo's own tolerance for convex pairs; which geoms, and in which order, exactly."""
    xml = Scene(seed, bodies=4).xml()
    mj_model, mj_data = mujoco_of(xml)
    collided(mj_model, mj_data)
    model = dovetail.loads(xml)
    data = dovetail.make_data(model)
    dovetail.forward(model, data)
    assert_contacts_equal(data, mj_data, ("dist",), atol=1e-6)
    assert_contacts_equal(data, mj_data, PARAMETERS, atol=1e-15)
