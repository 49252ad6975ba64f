"""With the flag multiccd, shapes that lie on each other touch at the same several points as in MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from pair_oracle import FAMILIES, MESHES, Pair, Pose, poses, turned  # noqa: E402

from dovetail.plugins.shared.contacts.pair_types import CONVEX_PAIRS  # noqa: E402

TOLERANCE = 1e-9
MULTICCD = int(mujoco.mjtEnableBit.mjENBL_MULTICCD)
CASES = [(key, mesh) for key in CONVEX_PAIRS for mesh in (MESHES if key.endswith("mesh") else ["cube"])]
ROUND = ("sphere", "ellipsoid")


def multiccd(key: str, margin: float, mesh: str) -> Pair:
    """A pair with the flag on."""
    pair = Pair(key, margin, mesh)
    pair.model.opt.enableflags |= MULTICCD
    # The spacing of contacts depends on the bounding radius, which the pair's maker has made huge.
    pair.model.geom_rbound[:] = 0.4
    return pair


@pytest.mark.covering(2)
@pytest.mark.parametrize("margin", [0.0, 0.05])
@pytest.mark.parametrize(("key", "mesh"), CASES)
def test_several_contacts_equal_mujocos(key: str, mesh: str, margin: float) -> None:
    pair = multiccd(key, margin, mesh)
    most = 0
    for family in FAMILIES:
        for pose in poses(family, 10, seed=4, reach=0.35):
            assert pair.difference(pose) < TOLERANCE
            most = max(most, pair.data.ncon)
    if any(kind in key for kind in ROUND):
        assert most == 1
    # The slanted faces of the other meshes hardly ever lie on anything.
    elif mesh == "cube":
        assert most >= 3


@pytest.mark.parametrize("key", ["box-mesh", "mesh-mesh"])
def test_edges_and_faces_within_the_angle_tolerance_lie_on_each_other(key: str) -> None:
    """Tilts of up to 1.6 mrad still count as parallel: face on face, edge on face, face on edge."""
    rng = np.random.default_rng(5)
    pair = multiccd(key, 0.0, "cube")
    counts = set()
    for i in range(150):
        on_edge = turned(np.array([1.0, 0, 0, 0]), np.eye(3)[i % 3], np.pi / 4 * (i % 2))
        tilted = turned(on_edge, rng.normal(size=3), rng.uniform(0, 2.5e-3))
        quats = np.array([[1.0, 0, 0, 0], tilted])[:: rng.choice([1, -1])]
        offset = rng.normal(size=3) * [0.05, 0.05, 0.02] + np.eye(3)[rng.integers(3)] * rng.uniform(0.2, 0.45)
        assert (
            pair.difference(Pose(np.array([np.zeros(3), offset]), quats, np.full((2, 3), 0.15))) < TOLERANCE
        )
        counts.add(pair.data.ncon)
    assert {1, 2, 4} <= counts


def test_a_patch_of_many_corners_is_reduced_to_four() -> None:
    """Two sixteen-sided drums on each other: the overlap has more than four corners."""
    rim = [(0.1 * np.cos(t), 0.1 * np.sin(t), z) for t in np.arange(16) * np.pi / 8 for z in (-0.1, 0.1)]
    drum = " ".join(f"{value:.6f}" for point in rim for value in point)
    pair = multiccd("mesh-mesh", 0.0, "cube")
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option><flag multiccd="enable"/></option><asset><mesh name="drum" vertex="{drum}"/></asset>
        <worldbody><body><freejoint/><geom name="a" type="mesh" mesh="drum"/></body>
        <body><freejoint/><geom name="b" type="mesh" mesh="drum"/></body></worldbody>
        <contact><pair geom1="a" geom2="b"/></contact></mujoco>"""
    )
    pair.model, pair.data = model, mujoco.MjData(model)
    rng = np.random.default_rng(6)
    # The compiler turns the mesh to its principal axes; turn it back so that the drums stand.
    stand = model.mesh_quat[0] * [1, -1, -1, -1]
    fours = 0
    for _ in range(40):
        offset = np.array([*rng.normal(size=2) * 0.03, rng.choice([-1, 1]) * rng.uniform(0.17, 0.199)])
        quats = np.array([stand, turned(stand, np.array([0, 0, 1.0]), rng.uniform(0, 3))])
        assert pair.difference(Pose(np.array([np.zeros(3), offset]), quats, np.ones((2, 3)))) < TOLERANCE
        fours += pair.data.ncon == 4
    assert fours >= 10
