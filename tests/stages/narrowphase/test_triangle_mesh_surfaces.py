"""Nearest points, sides and searches on triangle surfaces against closed forms and plain search."""

from __future__ import annotations

import numpy as np
import pytest
from triangle_models import CORNERS, INWARD, OUTWARD, ball, ell, ell_distance, text

import dovetail
from dovetail.plugins.narrowphase.surfaces_numpy import (
    BoxTree,
    box_surface,
    descend,
    leaves,
    make_surface,
    meeting,
    mesh_surface,
    near,
    nearest,
    signed,
)


def surface(vert: np.ndarray, face: np.ndarray):
    return make_surface(vert, face, leaves(vert, face))


def side_of(shape, points: np.ndarray) -> np.ndarray:
    return signed(shape, points, nearest(shape, points))[0]


@pytest.fixture(scope="module")
def ball_model() -> dovetail.Model:
    vert, face = ball(20)
    return dovetail.loads(
        f'<mujoco><asset><mesh name="ball" vertex="{text(vert)}" face="{text(face)}"/></asset><worldbody>'
        '<body><freejoint/><geom type="mesh" mesh="ball"/></body></worldbody></mujoco>'
    )


def test_signed_distance_of_a_shape_with_a_hollow() -> None:
    points = np.random.default_rng(0).uniform([-1, -1, -1], [3, 1, 3], (2000, 3))
    np.testing.assert_allclose(side_of(surface(*ell()), points), ell_distance(points), atol=1e-12)


def test_signed_distance_of_a_box() -> None:
    half = np.array([0.3, 0.5, 0.2])
    points = np.random.default_rng(1).uniform(-1, 1, (2000, 3))
    gap = np.abs(points) - half
    outside = np.linalg.norm(np.maximum(gap, 0), axis=1)
    np.testing.assert_allclose(
        side_of(box_surface(*half), points), outside + np.minimum(gap.max(axis=1), 0), atol=1e-13
    )


def test_outward_directions_lead_away_from_the_surface() -> None:
    shape = surface(*ell())
    points = np.random.default_rng(2).uniform([-1, -1, -1], [3, 1, 3], (500, 3))
    distance, away = signed(shape, points, nearest(shape, points))
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), 1.0)
    moved = ell_distance(points + 1e-6 * away)
    np.testing.assert_allclose((moved - distance) / 1e-6, 1.0, atol=1e-6)


def test_a_surface_wound_inwards_is_turned_round() -> None:
    vert = np.array(CORNERS.split(), float).reshape(-1, 3)
    points = np.array([[0.5, 0.5, 0.9], [0.5, 0.5, 1.5]])
    for winding in (INWARD, OUTWARD):
        shape = surface(vert, np.array(winding.split(), int).reshape(-1, 3))
        np.testing.assert_allclose(side_of(shape, points), [-0.1, 0.5])


def test_only_edges_that_stick_out_are_ridges() -> None:
    shape = surface(*ell())
    ends = shape.vert[shape.edge[shape.ridge]]
    assert len(ends) == 17
    notch = (ends[..., 0] == 1) & (ends[..., 2] == 1)
    assert not notch.all(axis=1).any()


def test_vertices_at_the_same_place_are_one() -> None:
    vert, face = ell()
    apart = vert[face].reshape(-1, 3)
    joined = surface(apart, np.arange(len(apart)).reshape(-1, 3))
    assert len(joined.vert) == 12
    points = np.random.default_rng(3).uniform(-1, 3, (100, 3))
    np.testing.assert_allclose(side_of(joined, points), side_of(surface(vert, face), points), atol=1e-15)


def test_the_models_tree_finds_what_looking_at_all_faces_finds(ball_model: dovetail.Model) -> None:
    shape = mesh_surface(ball_model, 0)
    assert len(shape.tree.roots) == 1
    plain = shape._replace(tree=leaves(shape.vert, shape.face))
    points = np.random.default_rng(4).normal(size=(50, 3))
    np.testing.assert_allclose(nearest(shape, points).distance, nearest(plain, points).distance, atol=1e-15)
    reach = np.full(50, 0.4)
    assert sorted_pairs(near(shape, points, reach)) == sorted_pairs(near(plain, points, reach))
    low, high = points - 0.1, points + 0.1
    assert set(zip(*meeting(shape, low, high), strict=True)) >= set(
        zip(*meeting(plain, low, high), strict=True)
    )


def sorted_pairs(found) -> list[tuple[int, int]]:
    return sorted(zip(found.query.tolist(), found.face.tolist(), strict=True))


def test_the_tree_saves_looking_at_most_faces(ball_model: dovetail.Model) -> None:
    shape = mesh_surface(ball_model, 0)
    opened: list[int] = []
    tree = shape.tree

    def keep(query: np.ndarray, node: np.ndarray) -> np.ndarray:
        opened.append(len(node))
        gap = np.maximum(np.maximum(tree.low[node] - [0, 0, 1.1], [0, 0, 1.1] - tree.high[node]), 0)
        return np.linalg.norm(gap, axis=1) <= 0.2

    faces = descend(tree, 1, keep)[1]
    assert len(faces) > 0
    assert sum(opened) < 0.3 * len(shape.face)


def test_no_queries_and_no_faces_in_reach() -> None:
    shape = box_surface(1.0, 1.0, 1.0)
    assert len(nearest(shape, np.zeros((0, 3))).query) == 0
    assert len(near(shape, np.array([[9.0, 0, 0]]), np.ones(1)).query) == 0
    empty = BoxTree(
        np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 2), int), np.zeros(0, int), np.zeros(0, int)
    )
    assert len(descend(empty, 3, lambda q, n: np.ones(len(n), bool))[0]) == 0


def test_degenerate_triangles_are_segments_or_points() -> None:
    vert = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [5, 5, 5]], float)
    shape = surface(vert, np.array([[0, 1, 2], [3, 3, 3]]))
    found = nearest(shape, np.array([[1.5, 1.0, 0.0], [5.0, 5.0, 6.0]]))
    np.testing.assert_allclose(found.distance, [1, 1])
