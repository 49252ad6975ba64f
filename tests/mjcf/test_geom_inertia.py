"""Primitive inertia: exact integrals, and the table can be replaced."""

from __future__ import annotations

import numpy as np
import pytest
from compiling import compile_text

from dovetail.plugins.geom_inertia.primitives_numpy import ROWS

SIZE = np.array([0.3, 0.5, 0.7])
BODY = '<mujoco><worldbody><body><geom type="{}" size=".3 .5 .7" {}/></body></worldbody></mujoco>'


def sampled(kind: str, shell: bool) -> tuple[float, np.ndarray]:
    """Volume and moments by counting cells of a grid; a shell by the difference of two solids."""
    if shell:
        thin = 1e-3
        inner, outer = (sampled_solid(kind, SIZE + d) for d in (-thin / 2, thin / 2))
        return (outer[0] - inner[0]) / thin, (outer[1] - inner[1]) / thin
    return sampled_solid(kind, SIZE)


def sampled_solid(kind: str, size: np.ndarray, cells: int = 160) -> tuple[float, np.ndarray]:
    reach = np.array([size[0], size[0], size[0] + size[1]]) if kind in ("capsule", "cylinder") else size
    reach = np.full(3, size[0]) if kind == "sphere" else reach
    axes = [((np.arange(cells) + 0.5) / cells * 2 - 1) * r for r in reach]
    x, y, z = np.meshgrid(*axes, indexing="ij")
    radius = np.hypot(x, y)
    inside = {
        "sphere": lambda: radius**2 + z**2 <= size[0] ** 2,
        "box": lambda: np.ones_like(x, bool),
        "cylinder": lambda: (radius <= size[0]) & (np.abs(z) <= size[1]),
        "capsule": lambda: radius**2 + np.maximum(np.abs(z) - size[1], 0) ** 2 <= size[0] ** 2,
        "ellipsoid": lambda: (x / size[0]) ** 2 + (y / size[1]) ** 2 + (z / size[2]) ** 2 <= 1,
    }[kind]()
    cell = np.prod(2 * reach / cells)
    moments = np.array(
        [(y**2 + z**2)[inside].sum(), (x**2 + z**2)[inside].sum(), (x**2 + y**2)[inside].sum()]
    )
    return inside.sum() * cell, moments * cell


@pytest.mark.parametrize("kind", sorted(set(ROWS) - {"plane"}))
def test_solid_is_the_volume_integral(kind):
    volume, moments = ROWS[kind](SIZE, False)
    expected_volume, expected_moments = sampled(kind, shell=False)
    assert volume == pytest.approx(expected_volume, rel=5e-3)
    assert moments == pytest.approx(expected_moments, rel=5e-3)


@pytest.mark.parametrize("kind", ["sphere", "box", "cylinder", "capsule"])
def test_shell_is_the_derivative_of_the_solid(kind):
    """Growing a solid evenly by a thin layer adds the shell."""
    thin = 1e-6
    grown = SIZE + thin if kind != "capsule" else SIZE + np.array([thin, 0.0, 0.0])
    solid, bigger = ROWS[kind](SIZE, False), ROWS[kind](grown, False)
    area, moments = ROWS[kind](SIZE, True)
    assert area == pytest.approx((bigger[0] - solid[0]) / thin, rel=1e-4)
    assert moments == pytest.approx((bigger[1] - solid[1]) / thin, rel=1e-4)


def test_ellipsoid_shell_has_the_area_of_a_sphere_when_round():
    round_size = np.full(3, 0.4)
    area, moments = ROWS["ellipsoid"](round_size, True)
    expected_area, expected_moments = ROWS["sphere"](round_size, True)
    assert area == pytest.approx(expected_area, rel=1e-12)
    assert moments == pytest.approx(expected_moments, rel=1e-5)


def test_plane_has_no_mass():
    assert ROWS["plane"](SIZE, False)[0] == 0


def test_a_row_can_be_replaced():
    rows = {**ROWS, "box": lambda size, shell: (2.0, np.array([3.0, 4.0, 5.0]))}
    compiled = compile_text(BODY.format("box", 'density="10"'), rows={"geom_inertia": rows})
    assert compiled.values["body_mass"][1] == 20.0
    assert compiled.values["body_inertia"][1].tolist() == [30.0, 40.0, 50.0]
