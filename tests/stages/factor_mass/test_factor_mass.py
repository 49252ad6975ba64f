"""The sparse factors multiply back to the mass matrix, and solving inverts it."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from implementations import How, assert_mujocos, implementations
from numpy.typing import NDArray
from smooth_models import EVERYTHING
from smooth_reference import load
from trees import random_tree

from dovetail.plugins.shared import ldl_numpy
from dovetail.plugins.shared.ldl_numpy import factor, solve


def dense(model: Any, entries: NDArray[Any]) -> NDArray[Any]:
    """The lower triangle that the stored entries describe."""
    matrix = np.zeros((model.nv, model.nv))
    matrix[np.repeat(np.arange(model.nv), model.M_rownnz), model.M_colind] = entries
    return matrix


@pytest.fixture(params=range(5))
def model_and_mass(request: pytest.FixtureRequest) -> tuple[Any, NDArray[Any]]:
    model = load(random_tree(seed=request.param, nbody=6))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data.M.copy()


def test_factors_multiply_back(model_and_mass: tuple[Any, NDArray[Any]]) -> None:
    model, M = model_and_mass
    qLD, inverse_diagonal = factor(model, M)
    D = np.diag(1.0 / inverse_diagonal)
    L = np.tril(dense(model, qLD), -1) + np.eye(model.nv)
    np.testing.assert_allclose(np.tril(L.T @ D @ L), dense(model, M), atol=1e-12)


@pytest.mark.parametrize("long", [0, 10**9])
def test_arrays_and_lists_give_the_same_factors(
    model_and_mass: tuple[Any, NDArray[Any]], long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, M = model_and_mass
    usual = factor(model, M)
    monkeypatch.setattr(ldl_numpy, "LONG", long)
    for ours, expected in zip(factor(model, M), usual, strict=True):
        assert np.array_equal(ours, expected)


def test_solve_inverts(model_and_mass: tuple[Any, NDArray[Any]]) -> None:
    model, M = model_and_mass
    lower = dense(model, M)
    full = lower + np.tril(lower, -1).T
    x = np.arange(model.nv) - 3.0
    np.testing.assert_allclose(full @ solve(model, *factor(model, M), x), x, atol=1e-10)


def test_singular_mass_matrix_names_the_dof() -> None:
    model = load("<mujoco><worldbody><body><joint/><geom size='.1' pos='1 0 0'/></body></worldbody></mujoco>")
    with pytest.warns(RuntimeWarning, match="singular at dof 0"):
        _, inverse_diagonal = factor(model, np.zeros(1))
    assert inverse_diagonal[0] == np.inf


@pytest.mark.parametrize("how", implementations("factor_mass"))
def test_factors_are_mujocos(how: How) -> None:
    assert_mujocos(EVERYTHING, "factor_mass", how)
