"""Trees of boxes around the faces of meshes: every face is in one leaf, and in all boxes above it."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.plugins.shared.geometry.face_trees import LEAF, halved_order, tree_of, unit_exponent


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 9, 31, 33, 200])
def test_every_face_is_in_one_leaf_and_in_all_boxes_above_it(count: int) -> None:
    corners = np.random.default_rng(count).normal(size=(count, 3, 3)) * 1000
    tree = tree_of(corners, np.arange(count))
    assert sorted(tree.faces) == list(range(count))
    held = np.zeros(count, int)
    for node, (bounds, after) in enumerate(zip(tree.bounds, tree.after, strict=True)):
        assert node < after <= len(tree.after)
        below = slice(node, after)
        leaves = [n for n in range(node, after) if tree.nface[n]]
        places = np.concatenate([np.arange(tree.first[n], tree.first[n] + tree.nface[n]) for n in leaves])
        inside = corners[tree.faces[places]]
        assert (inside >= bounds[:3]).all()
        assert (inside <= bounds[3:]).all()
        assert (tree.bounds[below, :3] >= bounds[:3]).all()
        if tree.nface[node]:
            assert after == node + 1
            held[tree.faces[places]] += 1
    assert (held == 1).all()


def test_a_ray_that_misses_every_box_sees_one_node_and_one_that_meets_them_all_sees_all() -> None:
    tree = tree_of(np.random.default_rng(0).normal(size=(77, 3, 3)) * 1000, np.arange(77))
    assert tree.after[0] == len(tree.after)
    assert (tree.nface > 0).sum() == -(-77 // LEAF)


def test_neighbours_are_near_each_other() -> None:
    places = np.random.default_rng(1).random((512, 3))
    leaves = places[halved_order(places, 7)].reshape(-1, LEAF, 3)
    assert np.ptp(leaves, axis=1).max() < 0.6
    assert np.ptp(leaves, axis=1).mean() < 0.2


@pytest.mark.parametrize("size", [0.0, 1e-12, 0.003, 1.0, 5e4, 1e30])
def test_bounds_fit_into_integers(size: float) -> None:
    corners = np.full((1, 3, 3), size)
    exponent = unit_exponent(corners)
    assert -30 <= exponent <= 30
    if 1e-3 < size < 1e6:
        assert 2**19 <= size / 2.0**exponent <= 2**20
