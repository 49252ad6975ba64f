"""Quaternions and spatial vectors obey the algebra they stand for."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from numpy.typing import NDArray

from dovetail.plugins.shared import quaternions_numpy as sp
from dovetail.plugins.shared.quaternions_numpy import quat_matrix_rows
from dovetail.plugins.shared.spatial_numpy import cross_motion_matrix, inertia_matrix
from dovetail.plugins.shared.tree_numpy import add_from_parents, add_to_parents
from dovetail.plugins.shared.vectors_numpy import apply_rows, cross_rows

RNG = np.random.default_rng(7)
QUATS = RNG.normal(size=(20, 4))
QUATS /= np.linalg.norm(QUATS, axis=1, keepdims=True)
VECTORS = RNG.normal(size=(20, 3))
ROUNDING = 1e-14


def test_matrix_rotates_like_the_quaternion() -> None:
    turned = np.array([sp.quat_rotate(q, v) for q, v in zip(QUATS.tolist(), VECTORS.tolist(), strict=True)])
    np.testing.assert_allclose(apply_rows(quat_matrix_rows(QUATS), VECTORS), turned, atol=ROUNDING)


def test_product_of_quaternions_is_product_of_matrices() -> None:
    a, b = quat_matrix_rows(QUATS[:10]), quat_matrix_rows(QUATS[10:])
    product = np.array([sp.quat_multiply(p, q) for p, q in zip(QUATS[:10], QUATS[10:], strict=True)])
    np.testing.assert_allclose(quat_matrix_rows(product), a @ b, atol=ROUNDING)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5, 3.0, -3.0])
def test_rotation_vector_undoes_axis_angle(angle: float) -> None:
    axis = VECTORS[0] / np.linalg.norm(VECTORS[0])
    q = sp.quat_from_axis_angle(axis, angle)
    np.testing.assert_allclose(sp.quat_to_rotation_vector(q), axis * angle, atol=ROUNDING)


def test_rotation_vector_takes_the_short_way_round() -> None:
    q = sp.quat_from_axis_angle((0.0, 0.0, 1.0), 1.5 * pi)
    np.testing.assert_allclose(sp.quat_to_rotation_vector(q), (0.0, 0.0, -0.5 * pi), atol=ROUNDING)


def test_a_vanishing_rotation_is_about_x() -> None:
    """As in MuJoCo: a spring may be stiff enough to feel it."""
    mujoco = pytest.importorskip("mujoco")
    for q in (
        (1.0, 0.0, 3e-16, 0.0),
        (-1.0, 0.0, 0.0, 2e-17),
        (1.0, 0.0, 0.0, 0.0),
        (1.0, 0.0, 2e-15, 1e-15),
    ):
        expected = np.zeros(3)
        mujoco.mju_quat2Vel(expected, np.array(q), 1.0)
        np.testing.assert_allclose(sp.quat_to_rotation_vector(q), expected, rtol=1e-15, atol=0.0)


def test_integrating_the_difference_arrives() -> None:
    for a, b in zip(QUATS[:10].tolist(), QUATS[10:].tolist(), strict=True):
        arrived = np.array(sp.quat_integrate(b, sp.quat_difference(a, b), 1.0))
        assert min(np.abs(arrived - a).max(), np.abs(arrived + a).max()) < ROUNDING


def test_zero_quaternion_is_taken_as_no_rotation() -> None:
    assert sp.quat_normalize((0.0, 0.0, 0.0, 0.0)) == sp.IDENTITY


def test_cross_product() -> None:
    np.testing.assert_allclose(cross_rows(VECTORS[:10], VECTORS[10:]), np.cross(VECTORS[:10], VECTORS[10:]))


def spatial_cross(velocity: NDArray[np.float64], motion: NDArray[np.float64]) -> NDArray[np.float64]:
    (w, v), (a, linear) = np.split(velocity, 2), np.split(motion, 2)
    return np.concatenate([np.cross(w, a), np.cross(w, linear) + np.cross(v, a)])


def test_motion_cross_matrix() -> None:
    velocity, motion = RNG.normal(size=(2, 6))
    matrix = cross_motion_matrix(velocity[None])[0]
    np.testing.assert_allclose(matrix @ motion, spatial_cross(velocity, motion), atol=ROUNDING)


def test_inertia_matrix_gives_the_kinetic_energy_of_an_off_centre_body() -> None:
    mass, offset, moments = 2.5, np.array([0.3, -0.2, 0.5]), np.array([0.4, 0.5, 0.6])
    about_point = np.diag(moments) + mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    entries = about_point[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    matrix = inertia_matrix(np.array([[*entries, *(mass * offset), mass]]))[0]
    np.testing.assert_array_equal(matrix, matrix.T)
    w, v = RNG.normal(size=(2, 3))
    centre_velocity = v + np.cross(w, offset)
    energy = 0.5 * mass * centre_velocity @ centre_velocity + 0.5 * w @ (moments * w)
    twist = np.concatenate([w, v])
    assert 0.5 * twist @ matrix @ twist == pytest.approx(energy, rel=1e-14)


def test_sums_along_the_tree() -> None:
    parents = np.array([0, 0, 1, 1, 3])
    down, up = np.ones((5, 1)), np.ones((5, 1))
    add_from_parents(down, parents)
    add_to_parents(up, parents)
    assert down.ravel().tolist() == [1, 2, 3, 3, 4]
    assert up.ravel().tolist() == [5, 4, 1, 2, 1]
