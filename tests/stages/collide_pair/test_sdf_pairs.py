"""Contacts of meshes as signed distance fields: those of MuJoCo 3.4.0, at random poses."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from pair_oracle import CUBE
from sdf_oracle import EXACT, MANY, PARTS, POSES, ROWS, compare, geom, model

from dovetail.plugins.shared.contacts.pair_types import SDF_PAIRS
from dovetail.plugins.shared.geometry.sdf_fields_numpy import mesh_field


@pytest.mark.by_default("sphere-sdf", "capsule-sdf", "mesh-sdf")
@pytest.mark.parametrize("key", SDF_PAIRS)
def test_octree_of_a_mesh(key):
    first = key.split("-")[0]
    pair = model(geom("first", first), geom("second", "sdf", "tetrahedron"))
    assert compare(pair, key, 0.15, EXACT) > 5 * POSES


@pytest.mark.slow
@pytest.mark.parametrize("key", SDF_PAIRS)
def test_octree_of_a_mesh_at_more_poses(key):
    pair = model(geom("first", key.split("-")[0]), geom("second", "sdf", "tetrahedron"))
    assert compare(pair, key, 0.15, EXACT, MANY) > 5 * MANY


def test_more_starting_points_and_fewer_steps():
    option = '<option sdf_initpoints="12" sdf_iterations="3"/>'
    pair = model(geom("first", "capsule"), geom("second", "sdf", "tetrahedron"), option=option)
    assert compare(pair, "capsule-sdf", 0.15, EXACT) > POSES


def test_boxes_apart_have_no_contacts():
    pair = model(geom("first", "sphere"), geom("second", "sdf", "tetrahedron"))
    data = mujoco.MjData(pair)
    data.geom_xpos[:2] = [[0, 0, 0], [1, 0, 0]]
    data.geom_xmat[:2] = np.eye(3).ravel()
    assert not len(ROWS["sphere-sdf"](pair, data, 0, 1, 5.0, PARTS).dist)


def test_a_mesh_without_octree_has_the_distance_to_its_faces():
    plain = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="m" vertex="{CUBE}"/></asset>
        <worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>"""
    )
    field = mesh_field(plain, 0)
    half = plain.geom_size[0]
    points = np.random.default_rng(0).uniform(-0.3, 0.3, (200, 3))
    beyond = np.abs(points) - half
    exact = np.linalg.norm(np.maximum(beyond, 0), axis=1) + np.minimum(beyond.max(axis=1), 0)
    np.testing.assert_allclose(field.distance(points), exact, atol=1e-7)
    assert field.distance(points[:0]).shape == (0,)
    ahead = points + 1e-6 * field.gradient(points)
    np.testing.assert_allclose((field.distance(ahead) - field.distance(points)) / 1e-6, 1.0, atol=1e-4)


def test_height_fields_do_not_collide_and_say_so():
    with pytest.warns(RuntimeWarning, match="do not collide"):
        assert not len(ROWS["hfield-sdf"](None, None, 0, 1, 0.0).dist)
