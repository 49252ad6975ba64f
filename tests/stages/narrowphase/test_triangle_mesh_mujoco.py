"""On convex meshes triangles and MuJoCo's hulls must agree on what overlaps, and by how much where that is unique."""

from __future__ import annotations

import numpy as np
import pytest
from contact_reference import collided, mujoco_of
from triangle_models import text

import dovetail
from dovetail.plugins.narrowphase.triangle_numpy import TRIANGLE_ROWS

SHAPES = {
    "sphere": 'size=".2"',
    "capsule": 'type="capsule" size=".1 .2"',
    "box": 'type="box" size=".2 .1 .15"',
    "mesh": 'type="mesh" mesh="stone"',
}


def stone() -> str:
    points = np.random.default_rng(0).normal(size=(30, 3))
    return text(0.3 * points / np.linalg.norm(points, axis=1, keepdims=True))


@pytest.mark.parametrize("kind", SHAPES)
def test_what_overlaps_a_stone(kind: str) -> None:
    xml = f"""<mujoco><asset><mesh name="stone" vertex="{stone()}"/></asset><worldbody>
      <body><freejoint/><geom {SHAPES[kind]}/></body><body><freejoint/><geom type="mesh" mesh="stone"/></body>
    </worldbody></mujoco>"""
    model = dovetail.loads(xml)
    mj_model, mj_data = mujoco_of(xml)
    data = dovetail.make_data(model)
    random = np.random.default_rng(1)
    overlaps = 0
    for _ in range(80):
        pose = random.normal(size=(2, 7))
        pose[:, :3] = 0.0
        away = random.normal(size=3)
        pose[1, :3] = random.uniform(0.3, 0.6) * away / np.linalg.norm(away)
        mj_data.qpos[:] = pose.ravel()
        collided(mj_model, mj_data)
        data.geom_xpos, data.geom_xmat = mj_data.geom_xpos, mj_data.geom_xmat
        found = TRIANGLE_ROWS[f"{kind}-mesh"](model, data, 0, 1, 0.0)
        assert bool(len(found.dist)) == bool(mj_data.ncon)
        overlaps += bool(mj_data.ncon)
        if kind == "sphere" and mj_data.ncon:
            np.testing.assert_allclose(found.dist.min(), mj_data.contact.dist[0], atol=1e-9)
            np.testing.assert_allclose(
                found.normal[np.argmin(found.dist)], mj_data.contact.frame[0, :3], atol=1e-6
            )
    assert overlaps > 20
