"""Unit shapes, pieces and where they are put."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.contracts.enums import GeomType
from dovetail.viewer.grid import grid_offsets, spacing_of
from dovetail.viewer.pieces import PIECES, UNIT_SHAPES, pieces, unit_shape
from dovetail.viewer.poses import FARTHEST, drawable, placed, quaternions, rotation
from dovetail.visual import shape_surface

CLOSED = ("ball", "cylinder", "box", "cone")


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, i]].astype(float) for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize(
    ("name", "whole"),
    [("ball", 4 / 3 * np.pi), ("cylinder", 2 * np.pi), ("box", 8.0), ("cone", np.pi / 3)],
)
def test_closed_shapes_have_their_volume_and_face_outwards(name: str, whole: float) -> None:
    shape = unit_shape(name)
    assert volume(shape.vertices, shape.faces) == pytest.approx(whole, rel=0.03)


@pytest.mark.parametrize("name", sorted(UNIT_SHAPES))
def test_faces_name_vertices_that_exist(name: str) -> None:
    shape = unit_shape(name)
    assert shape.faces.max() < len(shape.vertices)
    assert len(np.unique(shape.faces)) == len(shape.vertices)


@pytest.mark.parametrize(
    "kind", [GeomType.SPHERE, GeomType.CAPSULE, GeomType.CYLINDER, GeomType.BOX, GeomType.ARROW]
)
def test_pieces_span_what_the_surface_spans(kind: GeomType) -> None:
    size = {GeomType.SPHERE: [0.3] * 3, GeomType.BOX: [0.1, 0.2, 0.3]}.get(kind, [0.1, 0.1, 0.4])
    surface = shape_surface(kind, size)
    turn = rotation(np.array([0.4, 0.3, -0.8, 0.1]))
    pos, mats = np.array([[1.0, 2.0, 3.0]]), turn.reshape(1, 9)
    found = []
    for made in pieces(np.array([kind]), np.array([size])):
        where, quats = placed(made, pos, mats, quaternions(mats))
        for i in range(len(made.element)):
            local = unit_shape(made.shape).vertices * made.scale[i]
            found.append(local @ rotation(quats[i]).T + where[i])
    points, wanted = np.concatenate(found), surface.vertices @ turn.T + pos
    assert points.min(axis=0) == pytest.approx(wanted.min(axis=0), abs=5e-3)
    assert points.max(axis=0) == pytest.approx(wanted.max(axis=0), abs=5e-3)


def test_ten_thousand_geoms_are_a_handful_of_batches() -> None:
    kinds = np.tile([GeomType.SPHERE, GeomType.BOX, GeomType.CAPSULE, GeomType.CYLINDER], 2500)
    made = pieces(kinds, np.full((10_000, 3), 0.1))
    assert len(made) == 5
    assert sum(len(p.element) for p in made) == 15_000  # a capsule is three pieces


def test_types_without_pieces_have_none() -> None:
    assert pieces(np.array([GeomType.MESH]), np.ones((1, 3))) == []
    assert GeomType.MESH not in PIECES


def test_quaternions_are_those_of_the_matrices() -> None:
    random = np.random.default_rng(0).normal(size=(200, 4))
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    half_turns = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], float)
    wanted = np.concatenate([random, half_turns])
    found = quaternions(np.stack([rotation(q) for q in wanted]))
    assert np.abs(np.einsum("ij,ij->i", found, wanted)) == pytest.approx(1.0)


def test_what_is_no_number_is_drawn_at_the_edge_of_the_world() -> None:
    assert drawable(np.array([np.nan, 1e30, -np.inf, 2.0])).tolist() == [FARTHEST, FARTHEST, -FARTHEST, 2.0]


def test_worlds_of_a_grid_do_not_touch() -> None:
    offsets = grid_offsets(7, 2.0)
    apart = np.linalg.norm(offsets[:, None] - offsets[None], axis=-1) + 10 * np.eye(7)
    assert apart.min() == pytest.approx(2.0)
    assert grid_offsets(1, 2.0).tolist() == [[0.0, 0.0, 0.0]]
    assert spacing_of(np.array([[0.0, 0, 0], [1.0, 0, 0]]), np.array([0.5, 0.5])) > 2.0
    assert spacing_of(np.zeros((0, 3)), np.zeros(0)) == 1.0
