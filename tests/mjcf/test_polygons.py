"""Polygons of meshes are MuJoCo's, whatever share of the normals is compared by rank alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from asset_files import numbers, torus
from compiling import compile_text

from dovetail.mjcf.geometry import normal_tree
from dovetail.mjcf.geometry.polygons import polygons

FIELDS = ("mesh_polynum", "mesh_polyvertnum", "mesh_polyvertadr", "mesh_polyvert", "mesh_polymap")


def sphere(rings: int, around: int) -> tuple[np.ndarray, np.ndarray]:
    """Rings of vertices on a sphere without poles, joined by triangles."""
    polar, turn = np.meshgrid(
        np.linspace(0.2, 3, rings), 2 * np.pi * np.arange(around) / around, indexing="ij"
    )
    vertices = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)], -1)
    row, column = np.meshgrid(np.arange(rings - 1), np.arange(around), indexing="ij")
    a, b = row * around + column, row * around + (column + 1) % around
    faces = np.concatenate([np.stack([a, a + around, b], -1), np.stack([b, a + around, b + around], -1)])
    return vertices.reshape(-1, 3), faces.reshape(-1, 3)


def bumpy(height: float) -> tuple[np.ndarray, np.ndarray]:
    """A sphere whose vertices are off by up to a height: its quadrilaterals are plane, almost so, or not at all."""
    vertices, faces = sphere(14, 20)
    return vertices * (1 + height * np.random.default_rng(3).uniform(-1, 1, (len(vertices), 1))), faces


def crumpled(decimals: int) -> tuple[np.ndarray, np.ndarray]:
    """A sphere on a coarse grid: many faces are parallel, some have no area, and their order is any."""
    vertices, faces = sphere(16, 24)
    return np.round(vertices, decimals), faces[np.random.default_rng(4).permutation(len(faces))]


def nearly_flat(slope: float) -> tuple[np.ndarray, np.ndarray]:
    """A flattened sphere: most normals are almost parallel to some others, and not to all of those."""
    vertices, faces = sphere(20, 20)
    return vertices * (1, 1, slope), faces


SURFACES: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "round": lambda: sphere(12, 30),
    "bumpy": lambda: bumpy(1e-3),
    "almost-plane-quads": lambda: bumpy(3e-5),
    "crumpled-1": lambda: crumpled(1),
    "crumpled-2": lambda: crumpled(2),
    "flat": lambda: nearly_flat(1e-3),
    "flatter": lambda: nearly_flat(3e-4),
    "torus": lambda: torus(16),
}


@pytest.mark.parametrize("surface", SURFACES)
def test_polygons_of_a_visual_mesh(surface: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    vertices, faces = SURFACES[surface]()
    xml = (
        f'<mujoco><asset><mesh name="m" inertia="shell" vertex="{numbers(vertices)}" face="{numbers(faces)}"/>'
        '</asset><worldbody><geom type="mesh" mesh="m" contype="0" conaffinity="0"/></worldbody></mujoco>'
    )
    theirs, ours = mujoco.MjModel.from_xml_string(xml), compile_text(xml).values
    for field in FIELDS:
        np.testing.assert_array_equal(ours[field].reshape(-1), getattr(theirs, field).reshape(-1), field)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("offsets", "most"), [(1, 2.0), (64, 2.0), (64, -1.0)])
def test_shortcuts_change_nothing(
    monkeypatch: pytest.MonkeyPatch, surface: str, offsets: int, most: float
) -> None:
    """However few normals are compared in advance, and whether all are then compared one by one."""
    vertices, faces = SURFACES[surface]()
    usual = polygons(vertices, faces)
    monkeypatch.setattr(normal_tree, "_OFFSETS", offsets)
    monkeypatch.setattr(normal_tree, "_MOST", most)
    other = polygons(vertices, faces)
    np.testing.assert_array_equal(other.sizes, usual.sizes)
    np.testing.assert_array_equal(other.corners, usual.corners)


def test_normals_far_from_all_others_are_compared_by_rank_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one: list[int] = []
    monkeypatch.setattr(normal_tree.NormalTree, "_add_near", lambda self, new: one_by_one.append(new))
    vertices, faces = bumpy(0.05)
    assert len(polygons(vertices, faces)) + len(one_by_one) == len(faces)
    assert len(one_by_one) < len(faces) // 50


def test_a_mesh_without_faces_has_no_polygons() -> None:
    assert len(polygons(np.zeros((0, 3)), np.zeros((0, 3), np.int32))) == 0
