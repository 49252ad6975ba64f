"""Volume, centre and inertia of meshes: every mode and implementation on a box, whose numbers are known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from implementations import How, implementations

from dovetail.registry import default_registry

HALF = np.array([0.1, 0.2, 0.3])
CENTRE = np.array([0.5, -0.4, 0.2])
VERTICES = np.array([*product((-1.0, 1.0), repeat=3)]) * HALF + CENTRE
FACES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)
"""Counterclockwise as seen from outside."""


@pytest.mark.parametrize(
    ("mode", "how"),
    [
        pytest.param(mode, *case.values, id=f"{mode}-{case.id}")
        for mode in ("legacy", "exact", "convex")
        for case in implementations(f"mesh_inertia:{mode}")
    ],
)
def test_a_box_has_the_inertia_of_a_box(mode: str, how: How) -> None:
    found = default_registry().get(f"mesh_inertia:{mode}", how.label).load()(VERTICES, FACES)
    volume = 8 * HALF.prod()
    squares = HALF**2
    assert found[0] == pytest.approx(volume)
    np.testing.assert_allclose(found[1], CENTRE, atol=1e-12)
    np.testing.assert_allclose(found[2], np.diag(volume / 3 * (squares.sum() - squares)), atol=1e-12)


@pytest.mark.parametrize("how", implementations("mesh_inertia:shell"))
def test_a_shell_has_the_area_of_its_faces(how: How) -> None:
    area, centre, _ = default_registry().get("mesh_inertia:shell", how.label).load()(VERTICES, FACES)
    assert area == pytest.approx(8 * (0.1 * 0.2 + 0.2 * 0.3 + 0.1 * 0.3))
    np.testing.assert_allclose(centre, CENTRE, atol=1e-12)
