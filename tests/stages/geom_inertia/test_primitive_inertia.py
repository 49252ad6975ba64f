"""Volume and inertia of primitive geoms: by every implementation, those of the body that is cut out of a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from implementations import How, implementations

from dovetail.registry import default_registry

SIZE = np.array([0.3, 0.5, 0.7])
INSIDE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sphere": lambda x, y, z: x**2 + y**2 + z**2 <= SIZE[0] ** 2,
    "capsule": lambda x, y, z: x**2 + y**2 + np.maximum(np.abs(z) - SIZE[1], 0) ** 2 <= SIZE[0] ** 2,
    "cylinder": lambda x, y, z: (x**2 + y**2 <= SIZE[0] ** 2) & (np.abs(z) <= SIZE[1]),
    "ellipsoid": lambda x, y, z: (x / SIZE[0]) ** 2 + (y / SIZE[1]) ** 2 + (z / SIZE[2]) ** 2 <= 1,
    "box": lambda x, y, z: (np.abs(x) <= SIZE[0]) & (np.abs(y) <= SIZE[1]) & (np.abs(z) <= SIZE[2]),
}
REACH = {"sphere": (0.3, 0.3, 0.3), "capsule": (0.3, 0.3, 0.8), "cylinder": (0.3, 0.3, 0.5)}
"""Half the sides of the block, if not the size itself."""
CELLS = 120
COUNTED = 5e-3
"""Relative error of counting cells of that size."""


def solid(kind: str) -> tuple[float, np.ndarray]:
    """Volume and moments of unit density, by counting cells."""
    reach = np.array(REACH.get(kind, SIZE))
    grid = np.meshgrid(*np.outer(reach, (np.arange(CELLS) + 0.5) / CELLS * 2 - 1), indexing="ij")
    x, y, z = (values[INSIDE[kind](*grid)] for values in grid)
    cell = np.prod(2 * reach / CELLS)
    moments = [(y**2 + z**2).sum(), (x**2 + z**2).sum(), (x**2 + y**2).sum()]
    return len(x) * cell, np.array(moments) * cell


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        pytest.param(kind, *case.values, id=f"{kind}-{case.id}")
        for kind in INSIDE
        for case in implementations(f"geom_inertia:{kind}")
    ],
)
def test_solids_have_the_volume_and_moments_of_their_points(kind: str, how: How) -> None:
    volume, moments = default_registry().get(f"geom_inertia:{kind}", how.label).load()(SIZE, False)
    wanted = solid(kind)
    assert volume == pytest.approx(wanted[0], rel=COUNTED)
    np.testing.assert_allclose(moments, wanted[1], rtol=COUNTED)


@pytest.mark.parametrize("how", implementations("geom_inertia:sphere"))
def test_the_shell_of_a_sphere_has_two_thirds(how: How) -> None:
    area, moments = default_registry().get("geom_inertia:sphere", how.label).load()(SIZE, True)
    assert area == pytest.approx(4 * np.pi * 0.3**2)
    np.testing.assert_allclose(moments, area * 0.3**2 * 2 / 3)


@pytest.mark.parametrize("how", implementations("geom_inertia:plane"))
def test_a_plane_has_no_mass(how: How) -> None:
    volume, moments = default_registry().get("geom_inertia:plane", how.label).load()(SIZE, False)
    assert (volume, moments.tolist()) == (0.0, [0.0, 0.0, 0.0])
