"""Contacts of general convex pairs equal MuJoCo's: number, distance, position and frame, separate to concentric.

Where several contact points are equally right (faces or edges on each other, symmetric overlaps) MuJoCo's choice
follows from the course of its iteration; the reference takes the same course, so positions agree there too.
"""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from pair_oracle import FAMILIES, MESHES, Pair, Pose, poses  # noqa: E402

import dovetail  # noqa: E402
from dovetail.plugins.shared.contacts.pair_types import CONVEX_PAIRS  # noqa: E402

TOLERANCE = 1e-9
"""Metres and, for frames, plain numbers; the coordinates are below two metres."""

CASES = [(key, mesh) for key in CONVEX_PAIRS for mesh in (MESHES if key.endswith("mesh") else ["cube"])]


def worst(pair: Pair, family: str, count: int, seed: int = 1) -> tuple[float, int, int]:
    """The largest difference over poses of a family, how many of them touch and how many contacts there are."""
    largest, touching, contacts = 0.0, 0, 0
    for pose in poses(family, count, seed, reach=0.35):
        largest = max(largest, pair.difference(pose))
        touching += pair.data.ncon > 0
        contacts += pair.data.ncon
    return largest, touching, contacts


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("margin", [0.0, 0.05])
@pytest.mark.parametrize(("key", "mesh"), CASES)
def test_contacts_equal_mujocos(key: str, mesh: str, margin: float, family: str) -> None:
    difference, touching, _ = worst(Pair(key, margin, mesh), family, count=25)
    assert difference < TOLERANCE
    # Between shapes with one centre MuJoCo 3.4 finds no contact.
    assert touching >= 3 or family == "concentric"


@pytest.mark.parametrize("key", CONVEX_PAIRS)
@pytest.mark.parametrize(
    ("iterations", "tolerance"), [(1, 1e-6), (4, 1e-6), (35, 1e-2), (100, 1e-13), (300, 0.0)]
)
def test_iteration_limit_and_tolerance_act_as_in_mujoco(key: str, iterations: int, tolerance: float) -> None:
    pair = Pair(key, 0.01, "round")
    pair.model.opt.ccd_iterations = iterations
    pair.model.opt.ccd_tolerance = tolerance
    assert worst(pair, "scattered", count=8)[0] < TOLERANCE


@pytest.mark.parametrize("mesh", MESHES)
def test_a_mesh_without_hull_graph_collides_by_its_vertices(mesh: str) -> None:
    pair = Pair("box-mesh", 0.0, mesh)
    pair.model.mesh_graphadr[:] = -1
    for family in FAMILIES:
        assert worst(pair, family, count=20)[0] < TOLERANCE


@pytest.mark.parametrize("key", CONVEX_PAIRS)
@pytest.mark.parametrize("scale", [1e-3, 100.0])
def test_contacts_scale_with_the_shapes(key: str, scale: float) -> None:
    pair = Pair(key, 0.02 * scale)
    pair.model.mesh_vert[:] *= scale
    pair.model.geom_rbound[:] *= scale
    for pose in poses("scattered", 12, seed=2):
        scaled = Pose(pose.pos * scale, pose.quat, pose.size * scale)
        assert pair.difference(scaled) < TOLERANCE * scale


def test_meshes_of_our_own_compiler_collide_as_mujocos() -> None:
    """Down to which of several equally far vertices is found first, that is to the order in the hull graph."""
    xml = f"""<mujoco><asset><mesh name="a" vertex="{MESHES["round"]}"/><mesh name="b" vertex="{MESHES["cube"]}"/>
    </asset><worldbody><body><freejoint/><geom type="mesh" mesh="a"/></body>
    <body><freejoint/><geom type="mesh" mesh="b"/></body></worldbody></mujoco>"""
    pair = Pair("mesh-mesh", 0.0)
    theirs = mujoco.MjModel.from_xml_string(xml)
    pair.model, pair.data = theirs, mujoco.MjData(theirs)
    ours = dovetail.loads(xml)
    own_data = dovetail.make_data(ours)
    for family in ("scattered", "aligned", "about_one_axis"):
        for pose in poses(family, 20, seed=3):
            pair.place(pose)
            own_data.geom_xpos[:], own_data.geom_xmat[:] = pair.data.geom_xpos, pair.data.geom_xmat
            expected, found = pair.ours(), pair.collide(ours, own_data, 0, 1, 0.0)
            assert len(found.dist) == len(expected.dist)
            np.testing.assert_allclose(found.dist, expected.dist, atol=TOLERANCE)
            np.testing.assert_allclose(found.normal, expected.normal, atol=TOLERANCE)
            np.testing.assert_allclose(found.pos, expected.pos, atol=TOLERANCE)
