"""Forces, states, cost and cone Hessians of constraint rows at any acceleration are mj_constraintUpdate's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

mujoco = pytest.importorskip("mujoco")

from constraint_zoo import shaken, zoo  # noqa: E402
from solver_reference import copied, error  # noqa: E402

from dovetail.contracts.types import Data, Model  # noqa: E402
from dovetail.plugins.shared.solver.cost_numpy import (  # noqa: E402
    cone_hessians,
    constraint_cost,
    constraint_forces,
    rows_of,
    zones,
)

CONES = ["pyramidal", "elliptic"]


def cases(cone: str, condim: int) -> list[tuple[Model, Data, Any, Any]]:
    mj_model = zoo(f'cone="{cone}" impratio="3"', condim)
    return [(*copied(mj_model, mj_data), mj_model, mj_data) for mj_data in shaken(mj_model)]


def tried(data: Data, seed: int) -> NDArray[Any]:
    """Residuals jar around which rows switch pieces: large, small, and some exactly zero."""
    rng = np.random.default_rng(seed)
    jar: NDArray[Any] = rng.normal(size=data.nefc) * 10.0 ** rng.integers(-6, 3, data.nefc)
    jar[rng.random(data.nefc) < 0.1] = 0.0
    return jar


@pytest.mark.parametrize("condim", [1, 3, 6])
@pytest.mark.parametrize("cone", CONES)
def test_forces_states_and_cost(cone: str, condim: int) -> None:
    for model, data, mj_model, mj_data in cases(cone, condim):
        for seed in range(20):
            jar = tried(data, seed)
            cost = np.zeros((1, 1))
            mujoco.mj_constraintUpdate(mj_model, mj_data, jar, cost, 0)
            force, state = constraint_forces(model, data, jar)
            np.testing.assert_array_equal(state, mj_data.efc_state)
            assert error(force, mj_data.efc_force) < 1e-13
            assert constraint_cost(model, data, jar) == pytest.approx(float(cost[0, 0]), rel=1e-12)


def test_hessians_of_cones_are_mujocos() -> None:
    compared = 0
    for _, data, mj_model, mj_data in cases("elliptic", 6):
        for seed in range(20):
            jar = tried(data, seed)
            mujoco.mj_constraintUpdate(mj_model, mj_data, jar, None, 1)
            cones = rows_of(data).cones
            chosen, blocks = cone_hessians(cones, jar)
            for cone, block in zip(chosen.tolist(), blocks, strict=True):
                dim = int(cones.dim[cone])
                theirs = mj_data.contact.H[int(cones.contact[cone]), : dim * dim].reshape(dim, dim)
                assert error(block[:dim, :dim], theirs) < 1e-12
                assert not block[dim:].any()
                assert not block[:, dim:].any()
                compared += 1
    assert compared > 10


@pytest.mark.parametrize("cone", CONES)
def test_force_is_minus_the_slope_of_the_cost(cone: str) -> None:
    model, data, _, _ = cases(cone, 6)[-1]
    rng = np.random.default_rng(0)
    jar, direction = rng.normal(size=data.nefc), rng.normal(size=data.nefc)
    h = 1e-6
    slope = (
        constraint_cost(model, data, jar + h * direction) - constraint_cost(model, data, jar - h * direction)
    ) / (2.0 * h)
    assert constraint_forces(model, data, jar)[0] @ direction == pytest.approx(-slope, rel=1e-6)


def test_hessian_is_minus_the_slope_of_the_force() -> None:
    model, data, _, _ = cases("elliptic", 6)[-1]
    rng = np.random.default_rng(1)
    jar = rng.normal(size=data.nefc)
    cones = rows_of(data).cones
    chosen, blocks = cone_hessians(cones, jar)
    assert len(chosen)
    h = 1e-6
    for cone, block in zip(chosen.tolist(), blocks, strict=True):
        rows = cones.rows[cone][cones.real[cone]]
        for place, row in enumerate(rows):
            ahead, behind = jar.copy(), jar.copy()
            ahead[row] += h
            behind[row] -= h
            change = constraint_forces(model, data, ahead)[0] - constraint_forces(model, data, behind)[0]
            np.testing.assert_allclose(
                block[place, : len(rows)], -change[rows] / (2 * h), rtol=1e-5, atol=1e-4
            )


def test_a_contact_that_only_presses_is_never_between_zones() -> None:
    """Without tangential motion T is zero, and nothing is divided by it."""
    _, data, _, _ = cases("elliptic", 3)[-1]
    cones = rows_of(data).cones
    for normal in (-1.0, 0.0, 1.0):
        jar = np.zeros(data.nefc)
        jar[cones.rows[:, 0]] = normal
        zone = zones(cones, jar)
        assert not zone.middle.any()
        assert (zone.bottom == (normal < 0.0)).all()
