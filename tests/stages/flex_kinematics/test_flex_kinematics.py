"""Vertices, boxes, edges and edge Jacobians of flexes are MuJoCo's, to the last bits, in either layout."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from flex_zoo import FLEXES, SKIPPED, comp, evaluated, scene, text_of

import dovetail
from dovetail.compare.errors import written_out
from dovetail.compare.oracle import model_from_mujoco, read
from dovetail.errors import CapacityError
from dovetail.plugins.flex_kinematics.vertices_numpy import flex_kinematics

INPUTS = ("xpos", "xmat", "subtree_com", "cdof")
PLAIN = ("flexvert_xpos", "flexelem_aabb", "flexedge_length", "bvh_aabb_dyn")
ROWS = ("flexedge_J", "flexedge_J_rownnz", "flexedge_J_rowadr", "flexedge_J_colind")
TOLERANCE = 1e-14
"""Absolute, for numbers of the order of 1; the worst measured is 5e-16."""


def spoiled(model: Any, theirs: Any) -> Any:
    """A Data with MuJoCo's bodies and nonsense in all that the stage writes."""
    data = mujoco.MjData(model) if isinstance(model, mujoco.MjModel) else dovetail.make_data(model)
    for name in (*PLAIN, *ROWS):
        getattr(data, name)[...] = 7
    for name in INPUTS:
        getattr(data, name)[...] = read(theirs, name)
    return data


def matrix(data: Any, nv: int) -> Any:
    return written_out("flexedge_J", lambda name: np.asarray(getattr(data, name)), nv)


def assert_mujocos(model: Any, data: Any, theirs: Any) -> None:
    for name in PLAIN:
        np.testing.assert_allclose(
            getattr(data, name), read(theirs, name), atol=TOLERANCE, rtol=0, err_msg=name
        )
    np.testing.assert_allclose(matrix(data, model.nv), matrix(theirs, model.nv), atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("name", FLEXES)
def test_all_of_it_is_mujocos(name: str, jacobian: str) -> None:
    """From dovetail's Model and from MuJoCo's own, whose arrays have other shapes."""
    for seed in range(2):
        m, d = evaluated(text_of(name, jacobian), seed)
        for model in (model_from_mujoco(m), m):
            data = spoiled(model, d)
            flex_kinematics(model, data)
            assert_mujocos(model, data, d)


@pytest.mark.parametrize("name", ["cloth pinned to a limb", "trilinear", "quadratic", "box"])
def test_vertices_and_boxes_are_mujocos_bit_for_bit(name: str) -> None:
    """Which way self-collision sweeps depends on the longest side of a box."""
    m, d = evaluated(text_of(name), 3)
    data = spoiled(m, d)
    flex_kinematics(m, data)
    for field in PLAIN:
        np.testing.assert_array_equal(getattr(data, field), getattr(d, field), err_msg=field)


def test_rows_of_a_flex_without_any_do_not_disturb_those_of_others() -> None:
    """Sparse rows are the dense ones, which in MuJoCo 3.4.0 they are not."""
    dense, d = evaluated(scene(SKIPPED, "dense"), 0)
    sparse, s = evaluated(scene(SKIPPED, "sparse"), 0)
    assert np.abs(matrix(s, sparse.nv) - matrix(d, dense.nv)).max() > 0.1
    model = model_from_mujoco(sparse)
    data = spoiled(model, d)
    flex_kinematics(model, data)
    np.testing.assert_allclose(matrix(data, model.nv), matrix(d, dense.nv), atol=TOLERANCE)
    skipped = slice(int(model.flex_edgeadr[1]), int(model.flex_edgeadr[2]))
    assert not data.flexedge_J_rownnz[skipped].any()
    assert not data.flexedge_J_rowadr[skipped].any()


def test_room_for_sparse_rows_is_linear_in_edges() -> None:
    model = dovetail.loads(scene(comp("12 12 1", 2)))
    assert model.nv == 432
    data = dovetail.make_data(model)
    assert data.flexedge_J.shape == data.flexedge_J_colind.shape == (6 * model.nflexedge,)


def test_full_rows_without_room_are_an_error() -> None:
    m, d = evaluated(scene(comp("6 6 1", 2, '<edge damping="1"/>'), "sparse"), 0)
    model = model_from_mujoco(m)
    data = spoiled(model, d)
    model.opt.jacobian = 0
    with pytest.raises(
        CapacityError, match=r'opt.jacobian was sparse .* load the model with jacobian="dense"'
    ):
        flex_kinematics(model, data)


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_edits_of_the_model_are_seen(jacobian: str) -> None:
    """Damping brings rows, none takes them away; an edge may be given other ends, a joint another type."""
    m, _ = evaluated(text_of("bodies of others", jacobian), 0)
    model, edited = model_from_mujoco(m), m
    edits: list[tuple[str, Any, Any]] = [
        ("flex_edgedamping", 0, 0.0),
        ("flex_damping", 0, 0.3),
        ("flex_edge", (0, 1), 4),
        ("flex_vertbodyid", 0, 3),
        ("flex_centered", 1, 1),
        ("flex_radius", 0, 0.2),
    ]
    for field, index, value in edits:
        for each in (model, edited):
            getattr(each, field)[index] = value
        d = mujoco.MjData(edited)
        mujoco.mj_forward(edited, d)
        data = spoiled(model, d)
        flex_kinematics(model, data)
        assert_mujocos(model, data, d)


def test_boxes_of_trees_are_zero_without_midphase() -> None:
    m, d = evaluated(text_of("box", flags='midphase="disable"'), 0)
    data = spoiled(m, d)
    flex_kinematics(m, data)
    assert not data.bvh_aabb_dyn.any()
    np.testing.assert_array_equal(data.flexelem_aabb, d.flexelem_aabb)


def test_an_edge_without_length_points_along_x() -> None:
    m, d = evaluated(scene(comp("3 1 1", 1, '<edge stiffness="1"/>'), "dense"), 0)
    d.qpos[:] = 0.0
    d.qpos[0:9:3] = 0.2, 0.1, 0.0  # all three where the last one is
    mujoco.mj_forward(m, d)
    data = spoiled(m, d)
    flex_kinematics(m, data)
    np.testing.assert_allclose(data.flexedge_length, 0.0, atol=1e-15)
    np.testing.assert_array_equal(data.flexedge_J[:, 0::3], [[-1, 1, 0], [0, -1, 1]])
    np.testing.assert_array_equal(data.flexedge_J, d.flexedge_J)
