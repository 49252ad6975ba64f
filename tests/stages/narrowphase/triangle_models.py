"""Meshes for tests of triangle collision: an L, cubes wound either way, a tetrahedron, a ball."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail
from dovetail.contracts.pairs import PairContacts
from dovetail.plugins.kinematics.tree_numpy import kinematics
from dovetail.plugins.narrowphase.triangle_numpy import TRIANGLE_ROWS

PROFILE = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], float)
"""Corners of the L in x and z; its hollow is the square from (1, 1) to (2, 2)."""
CORNERS = "0 0 0  1 0 0  1 1 0  0 1 0  0 0 1  1 0 1  1 1 1  0 1 1"
INWARD = "0 1 2  0 2 3  4 6 5  4 7 6  0 4 5  0 5 1  2 6 7  2 7 3  0 3 7  0 7 4  1 5 6  1 6 2"
OUTWARD = "0 2 1  0 3 2  4 5 6  4 6 7  0 5 4  0 1 5  2 7 6  2 3 7  0 7 3  0 4 7  1 6 5  1 2 6"
TETRA = "0 0 0  1 0 0  0.5 0.866 0  0.5 0.289 0.816"


def ell() -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of the L, one wide in y."""
    vert = [(x, y, z) for y in (-0.5, 0.5) for x, z in PROFILE]
    face = [
        f
        for a, b, c in ((0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5))
        for f in ((a, b, c), (6 + a, 6 + c, 6 + b))
    ]
    for i in range(6):
        j = (i + 1) % 6
        face += [(i, 6 + i, 6 + j), (i, 6 + j, j)]
    return np.array(vert), np.array(face)


def ell_distance(points: np.ndarray) -> np.ndarray:
    """Signed distance of points from the L: the nearest of its eight flat faces, negative inside."""
    x, y, z = points.T
    flat = np.stack([x, z], axis=1)
    ends = np.roll(PROFILE, -1, axis=0)
    along = ends - PROFILE
    t = np.einsum("ijk,jk->ij", flat[:, None] - PROFILE, along) / (along**2).sum(axis=1)
    gap = flat[:, None] - PROFILE - np.clip(t, 0, 1)[..., None] * along
    inside = (x > 0) & (z > 0) & (x < 2) & (z < 2) & ~((x > 1) & (z > 1))
    side = np.where(inside, -1.0, 1.0) * np.sqrt((gap**2).sum(axis=2)).min(axis=1)
    cap = np.abs(y) - 0.5
    return np.where((side > 0) & (cap > 0), np.hypot(side, cap), np.maximum(side, cap))


def text(rows: np.ndarray) -> str:
    return " ".join(map(str, rows.ravel().tolist()))


def ball(rings: int) -> tuple[np.ndarray, np.ndarray]:
    """A sphere of radius one: 4 rings² faces."""
    polar = np.pi * np.arange(1, rings) / rings
    around = 2 * np.pi * np.arange(2 * rings) / (2 * rings)
    vert = np.stack(
        [np.outer(np.sin(polar), np.cos(around)), np.outer(np.sin(polar), np.sin(around)),
         np.outer(np.cos(polar), np.ones(2 * rings))], axis=2
    ).reshape(-1, 3)  # fmt: skip
    vert = np.concatenate([vert, [[0, 0, 1], [0, 0, -1]]])
    grid = np.arange((rings - 1) * 2 * rings).reshape(rings - 1, 2 * rings)
    right = np.roll(grid, -1, axis=1)
    faces = [np.stack([grid[:-1], grid[1:], right[:-1]], 2), np.stack([right[:-1], grid[1:], right[1:]], 2)]
    top = np.stack([np.full(2 * rings, len(vert) - 2), grid[0], right[0]], 1)
    bottom = np.stack([np.full(2 * rings, len(vert) - 1), right[-1], grid[-1]], 1)
    return vert, np.concatenate([*(f.reshape(-1, 3) for f in faces), top, bottom])


ASSETS = f"""
  <mesh name="ell" inertia="exact" vertex="{text(ell()[0])}" face="{text(ell()[1])}"/>
  <mesh name="cube" vertex="{CORNERS}" face="{OUTWARD}"/>
  <mesh name="inward" vertex="{CORNERS}" face="{INWARD}"/>
  <mesh name="tetra" vertex="{TETRA}" face="0 1 2  0 2 3  0 3 1  1 3 2"/>
"""


def world(bodies: str, assets: str = ASSETS) -> dovetail.Model:
    return dovetail.loads(f"<mujoco><asset>{assets}</asset><worldbody>{bodies}</worldbody></mujoco>")


def free(geom: str, pos: str = "0 0 0", euler: str = "0 0 0") -> str:
    return f'<body pos="{pos}" euler="{euler}"><freejoint/><geom {geom}/></body>'


FIXED_ELL = '<geom type="mesh" mesh="ell"/>'


def contacts(model: dovetail.Model, key: str, geom1: int, geom2: int, margin: float = 0.0) -> PairContacts:
    """What a triangle row finds at qpos0."""
    data: Any = dovetail.make_data(model)
    kinematics(model, data)
    return TRIANGLE_ROWS[key](model, data, geom1, geom2, margin)
