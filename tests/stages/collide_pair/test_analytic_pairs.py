"""Contacts of primitive shapes equal MuJoCo's, in number, order, distance, position and frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from pair_oracle import FAMILIES, MESHES, Pair, Pose, poses  # noqa: E402

import dovetail  # noqa: E402
from dovetail.plugins.shared.contacts.pair_types import FORMULAS  # noqa: E402
from dovetail.registry import default_registry  # noqa: E402

KEYS = [key for pairs in FORMULAS.values() for key in pairs if key != "plane-sdf"]
TOLERANCE = 1e-12
"""Metres and, for frames, plain numbers; the coordinates are below one metre."""
TOUCHING = 15
"""How many of the poses of a test must touch for it to say something."""
IDENTITY = np.array([[1.0, 0, 0, 0]] * 2)


def worst(pair: Pair, family: str, count: int, scale: float = 1.0, shift: float = 0.0) -> tuple[float, int]:
    """The largest difference over poses of a family, and how many of them touch."""
    largest, touching = 0.0, 0
    for pose in poses(family, count, seed=1):
        pose = pose._replace(pos=pose.pos * scale + shift, size=pose.size * scale)
        largest = max(largest, pair.difference(pose))
        touching += pair.data.ncon > 0
    return largest, touching


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("margin", [0.0, 0.05])
@pytest.mark.parametrize("key", [key for key in KEYS if key != "plane-mesh"])
def test_contacts_equal_mujocos(key: str, margin: float, family: str) -> None:
    difference, touching = worst(Pair(key, margin), family, count=80)
    assert difference < TOLERANCE
    assert touching >= TOUCHING


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("graph", [True, False], ids=["hull", "vertices"])
@pytest.mark.parametrize("kind", [mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_SDF], ids=["mesh", "sdf"])
def test_a_mesh_touches_a_plane_where_mujocos_does(kind: Any, graph: bool, mesh: str, family: str) -> None:
    pair = Pair("plane-mesh", 0.03, mesh)
    pair.model.geom_type[1] = kind
    if not graph:
        pair.model.mesh_graphadr[:] = -1
    difference, touching = worst(pair, family, count=50)
    assert difference < TOLERANCE
    assert touching >= TOUCHING


@pytest.mark.parametrize("key", [key for key in KEYS if key != "plane-mesh"])
@pytest.mark.parametrize(("scale", "shift"), [(30.0, 0.0), (1e-3, 0.0), (1.0, 100.0)])
def test_contacts_equal_mujocos_at_other_scales(key: str, scale: float, shift: float) -> None:
    pair = Pair(key, 0.02 * scale)
    for family in ("scattered", "nearly_aligned"):
        difference, touching = worst(pair, family, 20, scale, shift)
        assert difference < TOLERANCE * (1 + abs(shift) + scale)
        assert touching >= 4


@pytest.mark.parametrize("key", ["sphere-sphere", "plane-sphere", "sphere-capsule", "sphere-box", "box-box"])
def test_a_contact_appears_at_the_margin(key: str) -> None:
    pair = Pair(key, 0.25)
    sizes = np.full((2, 3), 0.5)
    # the surfaces along z, in binary fractions so that sums are exact
    extent = {"plane": 0.0, "sphere": 0.5, "capsule": 1.0, "box": 0.5}
    height = sum(extent[kind] for kind in key.split("-")) + 0.25
    for above, touches in ((0.0, True), (1e-9, False)):
        pose = Pose(np.array([[0.0, 0, 0], [0.0, 0, height + above]]), IDENTITY, sizes)
        assert pair.difference(pose) == 0.0
        assert bool(len(pair.ours().dist)) == touches


def test_concentric_spheres_part_perpendicular_to_both_axes() -> None:
    pair = Pair("sphere-sphere", 0.0)
    quarter = np.array([[1.0, 0, 0, 0], [np.sqrt(0.5), np.sqrt(0.5), 0, 0]])
    for quat, normal in (
        (IDENTITY, [1.0, 0, 0]),
        (quarter, [1.0, 0, 0]),
        (quarter[:, [0, 2, 1, 3]], [0, 1, 0]),
    ):
        assert pair.difference(Pose(np.zeros((2, 3)), quat, np.full((2, 3), 0.1))) == 0.0
        np.testing.assert_allclose(pair.ours().normal, [normal], atol=1e-15)


def test_a_wide_capsule_misses_a_small_box_as_in_mujoco() -> None:
    pair = Pair("capsule-box", 0.0)
    sizes = np.array([[10.0, 1.0, 0.0], [0.1, 0.1, 0.1]])
    for height, touches in ((9.0, False), (4.0, True)):
        assert pair.difference(Pose(np.array([[0.0, 0, 0], [height, 0, 0]]), IDENTITY, sizes)) < TOLERANCE
        assert bool(len(pair.ours().dist)) == touches


@pytest.mark.parametrize("share", [0.45, 0.495, 0.505, 0.55])
def test_a_capsule_at_a_corner_lies_along_the_edge_or_over_the_face(share: float) -> None:
    """Which of the two depends on whether the axis has more than half of its square along the edge."""
    pair, rng = Pair("capsule-box", 0.2), np.random.default_rng(3)
    twice = 0
    for _ in range(60):
        along_edge, across = np.sqrt(share), np.sqrt((1 - share) * np.array([0.5, 0.5]))
        direction = rng.permutation([along_edge, *across]) * rng.choice([-1, 1], 3)
        quat = np.zeros(4)
        mujoco.mju_quatZ2Vec(quat, direction)
        size = np.array([[0.2, 0.3, 0.0], [0.1, 0.2, 0.15]])
        centre = (
            size[1] * rng.choice([-1, 1], 3) + direction * rng.uniform(-0.3, 0.3) + rng.normal(size=3) * 0.03
        )
        assert (
            pair.difference(Pose(np.array([centre, np.zeros(3)]), np.array([quat, IDENTITY[0]]), size))
            < TOLERANCE
        )
        twice += pair.data.ncon == 2
    assert twice >= 5


def test_a_capsules_first_tangent_lies_along_it() -> None:
    pair = Pair("plane-capsule", 0.0)
    lying = np.array([[1.0, 0, 0, 0], [np.sqrt(0.5), 0, np.sqrt(0.5), 0]])
    assert (
        pair.difference(Pose(np.array([[0.0, 0, 0], [0, 0, 0.05]]), lying, np.full((2, 3), 0.1))) < TOLERANCE
    )
    np.testing.assert_allclose(pair.ours().tangent, [[1.0, 0, 0]] * 2, atol=1e-15)


@pytest.mark.parametrize("key", KEYS)
def test_a_pose_that_is_not_a_number_ends(key: str) -> None:
    pair = Pair(key, 0.0)
    pair.place(Pose(np.full((2, 3), np.nan), np.full((2, 4), np.nan), np.full((2, 3), 0.1)))
    contacts = pair.ours()
    assert len(contacts.pos) == len(contacts.dist) == len(contacts.normal) == len(contacts.tangent)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"])
def test_rows_take_dovetails_model_and_data(kind: str) -> None:
    shape = 'mesh="mesh"' if kind == "mesh" else 'size=".1 .12 .15"'
    model = dovetail.loads(
        f"""<mujoco><asset><mesh name="mesh" vertex="{MESHES["cube"]}"/></asset><worldbody>
        <geom type="plane" size="1 1 1"/>
        <body><freejoint/><geom type="{kind}" {shape}/></body></worldbody></mujoco>"""
    )
    data = dovetail.make_data(model)
    data.geom_xpos[1] = [0.3, 0.2, 0.05]
    data.geom_xmat[:] = np.eye(3).reshape(9)
    record = default_registry().get(f"collide_pair:plane-{kind}", "analytic@numpy")
    contacts = record.load()(model, data, 0, 1, 0.0)
    assert len(contacts.dist)
    np.testing.assert_allclose(contacts.pos[:, 2], 0.5 * contacts.dist)
    np.testing.assert_array_equal(contacts.normal, [[0.0, 0, 1]] * len(contacts.dist))
