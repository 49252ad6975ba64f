"""With the flag nativeccd off convex shapes touch where MuJoCo's portal refinement says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from pair_oracle import MESHES, Pair, Pose, poses  # noqa: E402
from test_hfield_pairs import SHAPES, document, rotation, terrain  # noqa: E402

from dovetail.plugins.collide_pair.hfield_numpy import height_field  # noqa: E402
from dovetail.plugins.shared.contacts.pair_types import CONVEX_PAIRS  # noqa: E402
from dovetail.plugins.shared.geometry.portal_numpy import nearest_on_triangle  # noqa: E402

TOLERANCE = 1e-9
PORTAL = int(mujoco.mjtDisableBit.mjDSBL_NATIVECCD)
MULTICCD = int(mujoco.mjtEnableBit.mjENBL_MULTICCD)
CASES = [(key, mesh) for key in CONVEX_PAIRS for mesh in (MESHES if key.endswith("mesh") else ["cube"])]


def portal_pair(key: str, margin: float, mesh: str, multiccd: bool) -> Pair:
    pair = Pair(key, margin, mesh)
    pair.model.opt.disableflags |= PORTAL
    pair.model.opt.enableflags |= MULTICCD * multiccd
    pair.model.geom_rbound[:] = 0.4
    return pair


@pytest.mark.covering(2)
@pytest.mark.parametrize("multiccd", [False, True])
@pytest.mark.parametrize("margin", [0.0, 0.05])
@pytest.mark.parametrize(("key", "mesh"), CASES)
def test_contacts_equal_mujocos(key: str, mesh: str, margin: float, multiccd: bool) -> None:
    """Where the flat end of a cylinder is met, the last bits of its axis decide which point of the rim comes first:
    there the answer is one that MuJoCo gives within rounding of the pose."""
    pair = portal_pair(key, margin, mesh, multiccd)
    touching = 0
    for pose in poses("scattered", 30, seed=7, reach=0.4):
        difference = pair.difference(pose)
        touching += pair.data.ncon > 0
        if difference > TOLERANCE and "cylinder" in key:
            ours = pair.ours().dist[0]
            difference = min(abs(ours - theirs) for theirs in rounded_answers(pair, pose))
        assert difference < TOLERANCE
    assert touching > 10


def rounded_answers(pair: Pair, pose: Pose) -> Iterator[float]:
    """MuJoCo's distances at poses that differ in the last bits."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        pos, quat = (x + 1e-16 * rng.normal(size=x.shape) for x in (pose.pos, pose.quat))
        pair.place(pose._replace(pos=pos, quat=quat))
        yield float(pair.theirs().dist[0])


@pytest.mark.parametrize("margin", [0.0, 0.02])
@pytest.mark.parametrize("shape", SHAPES)
def test_contacts_with_a_height_field_equal_mujocos(shape: str, margin: float) -> None:
    model = mujoco.MjModel.from_xml_string(document(shape, margin))
    model.opt.disableflags |= PORTAL
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    touching = 0
    for case in range(12):
        model.hfield_data[:] = terrain(1 + case % 2, rng)
        data.geom_xpos[0], data.geom_xpos[1] = 0.0, rng.uniform([-0.4, -0.3, 0.1], [0.4, 0.3, 0.3])
        data.geom_xmat[0], data.geom_xmat[1] = np.eye(3).ravel(), rotation(rng).ravel()
        mujoco.mj_collision(model, data)
        ours = height_field(model, data, 0, 1, margin)
        assert len(ours.dist) == data.ncon
        touching += data.ncon
        # As above, rounding decides between the points of a cylinder's rim.
        dist, rest = (1e-3, 0.3) if shape == "cylinder" else (TOLERANCE, TOLERANCE)
        if data.ncon:
            np.testing.assert_allclose(ours.dist, data.contact.dist, atol=dist)
            np.testing.assert_allclose(ours.pos, data.contact.pos, atol=rest)
            np.testing.assert_allclose(ours.normal, data.contact.frame[:, :3], atol=rest)
    assert touching > 5


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_point_of_a_triangle(seed: int) -> None:
    """No point of a grid over the triangle is nearer."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, 3)) + rng.normal(size=3)
    best = np.linalg.norm(nearest_on_triangle(tuple(a), tuple(b), tuple(c)))
    s, t = (np.array(x).ravel() for x in np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60)))
    inside = s + t <= 1.0
    grid = a + s[inside, None] * (b - a) + t[inside, None] * (c - a)
    nearest = np.linalg.norm(grid, axis=1).min()
    assert best <= nearest + 1e-12
    assert best == pytest.approx(nearest, abs=0.1)
