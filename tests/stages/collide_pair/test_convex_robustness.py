"""Convex contacts that geometry alone decides, poses that are no poses, and shapes that nearly are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.plugins.collide_pair.convex_numpy import convex
from dovetail.plugins.shared.contacts.pair_types import CONVEX_PAIRS
from dovetail.plugins.shared.geometry.distance_numpy import geom_distance
from dovetail.plugins.shared.geometry.gjk_numpy import segment_weights, tetrahedron_weights, triangle_weights
from dovetail.plugins.shared.geometry.support_numpy import geom_shape
from dovetail.registry import default_registry

CUBE = " ".join(f"{x} {y} {z}" for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1))
SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".1 .1"',
    "ellipsoid": 'type="ellipsoid" size=".1 .1 .1"',
    "cylinder": 'type="cylinder" size=".1 .1"',
    "box": 'type="box" size=".1 .1 .1"',
    "mesh": 'type="mesh" mesh="cube"',
}


def scene(key: str, flags: str = "") -> tuple[Any, Any]:
    """Two geoms at the origin, upright, each 0.1 to all sides (0.2 along z for the capsule)."""
    first, second = key.split("-")
    model = dovetail.loads(
        f"""<mujoco><option><flag {flags}/></option><asset><mesh name="cube" vertex="{CUBE}"/></asset><worldbody>
        <body><freejoint/><geom {SHAPES[first]}/></body><body><freejoint/><geom {SHAPES[second]}/></body>
        </worldbody></mujoco>"""
    )
    data = dovetail.make_data(model)
    data.geom_xpos[:] = 0.0
    data.geom_xmat[:] = np.eye(3).ravel()
    return model, data


@pytest.mark.parametrize("key", CONVEX_PAIRS)
@pytest.mark.parametrize("gap", [-0.02, 0.02])
def test_side_by_side_along_x_the_distance_is_the_gap(key: str, gap: float) -> None:
    model, data = scene(key)
    data.geom_xpos[1, 0] = 0.2 + gap
    contacts = convex(model, data, 0, 1, 0.05)
    # Two balls are the hardest for a polytope: 35 rounds leave it with facets of a few degrees.
    near = 2e-6 if key in ("box-mesh", "mesh-mesh") else 2e-4
    np.testing.assert_allclose(contacts.dist, [gap], atol=near)
    np.testing.assert_allclose(contacts.normal, [[1.0, 0.0, 0.0]], atol=200 * near)
    np.testing.assert_allclose(contacts.pos[:, 0], [0.1 + gap / 2], atol=near)
    assert geom_distance(model, data, 0, 1, 1.0)[0] == pytest.approx(gap, abs=near)


@pytest.mark.parametrize("key", CONVEX_PAIRS)
def test_farther_apart_than_the_margin_there_is_no_contact(key: str) -> None:
    model, data = scene(key)
    data.geom_xpos[1, 0] = 0.26
    assert not len(convex(model, data, 0, 1, 0.05).dist)


def test_two_cubes_on_each_other_touch_at_the_four_corners_of_the_overlap() -> None:
    model, data = scene("box-mesh", 'multiccd="enable"')
    data.geom_xpos[1] = [0.05, 0.03, 0.19]
    contacts = convex(model, data, 0, 1, 0.0)
    np.testing.assert_allclose(contacts.dist, [-0.01] * 4, atol=1e-8)
    np.testing.assert_allclose(contacts.normal, [[0.0, 0.0, 1.0]] * 4, atol=1e-8)
    corners = {(round(x, 6), round(y, 6), round(z, 6)) for x, y, z in contacts.pos}
    assert corners == {(x, y, 0.095) for x in (-0.05, 0.1) for y in (-0.07, 0.1)}


@pytest.mark.parametrize("key", CONVEX_PAIRS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("field", ["geom_xpos", "geom_xmat"])
def test_a_pose_that_is_no_pose_ends_without_error(key: str, value: float, field: str) -> None:
    for flags in ("", 'multiccd="enable"'):
        model, data = scene(key, flags)
        data.geom_xpos[1] = [0.05, 0.02, 0.01]
        getattr(data, field)[1, 0] = value
        contacts = convex(model, data, 0, 1, 0.01)
        if np.isnan(value):
            assert not len(contacts.dist)
        geom_distance(model, data, 0, 1, 1.0)


@pytest.mark.parametrize("key", CONVEX_PAIRS)
@pytest.mark.parametrize("iterations", [0, 1, 1000])
def test_shapes_flat_as_paper_or_thin_as_hair_terminate(key: str, iterations: int) -> None:
    model, data = scene(key)
    model.opt.ccd_iterations = iterations
    rng = np.random.default_rng(7)
    for _ in range(10):
        model.geom_size[:] = rng.choice([0.0, 1e-9, 1e-3, 1.0], size=(2, 3))
        model.mesh_vert[:, 2] *= rng.choice([1e-6, 1.0])
        data.geom_xpos[1] = rng.normal(size=3) * 0.05
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        data.geom_xmat[1] = (turn * np.linalg.det(turn)).ravel()
        contacts = convex(model, data, 0, 1, 0.0)
        assert len(contacts.dist) <= 1


@pytest.mark.parametrize("weigh", [segment_weights, triangle_weights, tetrahedron_weights])
def test_the_nearest_point_inside_a_simplex_is_the_foot_of_the_perpendicular(weigh: Any) -> None:
    rng = np.random.default_rng(8)
    count = {segment_weights: 2, triangle_weights: 3, tetrahedron_weights: 4}[weigh]
    inside = 0
    for _ in range(300):
        points = rng.normal(size=(count, 3)) + 0.3 * rng.normal(size=3)
        weights = np.array(weigh(*map(tuple, points.tolist())))
        assert weights.min() >= 0.0
        if weights.min() > 0.0 and weights.sum() == pytest.approx(1.0):
            inside += 1
            np.testing.assert_allclose((points[1:] - points[0]) @ (weights @ points), 0.0, atol=1e-9)
    assert inside > 10


@pytest.mark.parametrize("key", CONVEX_PAIRS)
def test_the_plane_between_the_nearest_points_separates_the_shapes(key: str) -> None:
    """What proves a distance right: nothing of either shape reaches into the slab between the two points."""
    model, data = scene(key)
    rng = np.random.default_rng(9)
    apart = 0
    for _ in range(40):
        direction = rng.normal(size=3)
        data.geom_xpos[1] = direction / np.linalg.norm(direction) * rng.uniform(0.3, 0.6)
        for geom in range(2):
            turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            data.geom_xmat[geom] = (turn * np.linalg.det(turn)).ravel()
        dist, fromto = geom_distance(model, data, 0, 1, 10.0)
        if dist <= 0.0:
            continue
        apart += 1
        normal = (fromto[3:] - fromto[:3]) / dist
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-9)
        n = (float(normal[0]), float(normal[1]), float(normal[2]))
        reach = np.dot(normal, geom_shape(model, data, 0, 0.0).farthest(n)[0])
        other = np.dot(normal, geom_shape(model, data, 1, 0.0).farthest((-n[0], -n[1], -n[2]))[0])
        assert other - reach == pytest.approx(dist, abs=1e-5)
    assert apart >= 25


def test_every_pair_has_one_row_and_the_row_loads() -> None:
    records = [
        r
        for r in default_registry().implementations
        if r.stage == "collide_pair" and r.label == "convex@numpy"
    ]
    assert len({record.key for record in records}) == len(records) == 20
    for record in records:
        assert callable(record.load())
