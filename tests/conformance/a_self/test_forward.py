"""What must hold without any oracle: forward moves nothing, and repeats itself to the bit."""

from __future__ import annotations

import numpy as np
import pytest
import zoo
from running import BACKENDS, bits, simulation

from dovetail.contracts.types import STATE
from dovetail.simulation import full_mass_matrix

MODELS = ("humanoid", "chain", "loose", "tree")
ROUNDING = 1e-12
"""Relative: a product of a few matrices of ordinary condition, in double precision."""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["chain", pytest.param("loose", marks=pytest.mark.slow)])
def test_forward_twice_gives_the_same_bits(name: str, backend: str) -> None:
    sim = simulation(name, backend=backend, nworld=3, keep="all")
    sim.forward()
    once = bits(sim.data)
    sim.forward()
    assert bits(sim.data) == once


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["chain", "loose"])
def test_forward_leaves_the_state_alone(name: str, backend: str) -> None:
    sim = simulation(name, backend=backend, nworld=3, keep="all")
    before = bits(sim.data, STATE)
    sim.forward()
    assert bits(sim.data, STATE) == before


@pytest.mark.parametrize("name", MODELS)
def test_mass_matrix_is_symmetric_and_positive_definite(name: str) -> None:
    sim = simulation(name)
    sim.forward()
    M = full_mass_matrix(sim.model, sim.data)
    assert (M == M.T).all()
    assert np.linalg.eigvalsh(M).min() > 0.0


@pytest.mark.parametrize("name", MODELS)
def test_acceleration_solves_the_equation_of_motion(name: str) -> None:
    sim = simulation(name)
    sim.forward()
    data = sim.data
    residual = full_mass_matrix(sim.model, data) @ data.qacc - data.qfrc_smooth
    assert np.abs(residual).max() <= ROUNDING * max(np.abs(data.qfrc_smooth).max(), 1.0)


@pytest.mark.parametrize("name", MODELS)
def test_smooth_force_is_the_sum_of_its_parts(name: str) -> None:
    sim = simulation(name)
    sim.data.xfrc_applied[:] = 0.0
    sim.forward()
    d = sim.data
    total = d.qfrc_passive - d.qfrc_bias + d.qfrc_actuator + d.qfrc_applied
    np.testing.assert_allclose(d.qfrc_smooth, total, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("name", MODELS)
def test_factors_reproduce_the_mass_matrix(name: str) -> None:
    """M = Lᵀ D L: qLD holds the rows of L with D in place of the unit diagonal."""
    sim = simulation(name)
    sim.forward()
    model, data = sim.model, sim.data
    L, D = np.eye(model.nv), np.zeros(model.nv)
    for row in range(model.nv):
        start, count = model.M_rowadr[row], model.M_rownnz[row]
        columns = model.M_colind[start : start + count]
        L[row, columns[:-1]] = data.qLD[start : start + count - 1]
        D[row] = data.qLD[start + count - 1]
    M = full_mass_matrix(model, data)
    assert np.abs(L.T @ np.diag(D) @ L - M).max() <= ROUNDING * np.abs(M).max()
    np.testing.assert_allclose(data.qLDiagInv, 1.0 / D, rtol=1e-15)


def test_the_zoo_has_ten_models() -> None:
    assert len(zoo.TEN) == 10
