"""Small trees of one shape are factored and solved together; no bit of the mass matrix's factors depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.plugins.integrate import implicit_numpy
from dovetail.plugins.shared import ldl_numpy, tree_numpy
from dovetail.plugins.shared.ldl_numpy import chains_and_rows, factor, solve

UNIT = """
<body pos="{x} 0 2" euler="{x} 3 7"><freejoint/><geom type="box" size=".1 .2 .3" pos=".1 0 .05"/></body>
<body pos="{x} 3 2" euler="{x} 3 7"><joint type="slide" damping=".3"/><joint type="slide" axis="0 1 .3"/>
  <joint type="slide" axis="1 0 1"/><geom type="box" size=".1 .2 .3" pos=".1 0 .05"/></body>
<body pos="{x} 6 2"><joint axis="0 1 0" damping=".1"/><joint axis="1 0 0"/><geom size=".1" pos=".1 0 0"/>
  <body><joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/></body></body>
<body pos="{x} 9 2"><joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/>
  <body><joint axis="1 0 0"/><geom size=".1" pos=".1 0 0"/></body>
  <body><joint axis="1 0 1"/><geom size=".1" pos=".1 0 0"/></body></body>
<body pos="{x} 12 2"><joint type="slide"/><geom size=".1"/></body>
"""
"""Chains of six and three dofs, a tree with branches, and a dof that nothing is coupled to."""


def evaluated() -> tuple[Any, Any]:
    model = dovetail.loads(
        '<mujoco><option integrator="implicit"><flag contact="disable"/></option><worldbody>'
        + "".join(UNIT.format(x=x) for x in range(tree_numpy.CHAINS))
        + "</worldbody></mujoco>"
    )
    data = dovetail.make_data(model)
    rng = np.random.default_rng(0)
    data.qvel[:] = rng.normal(0.0, 1.0, model.nv)
    dovetail.step(model, data)
    return model, data


def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is worked on together from here on."""
    for module in (tree_numpy, ldl_numpy):
        monkeypatch.setattr(module, "CHAINS", 10**9)


def test_factors_and_solutions_have_the_bits_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = evaluated()
    right = np.random.default_rng(1).normal(0.0, 1.0, model.nv)
    chains, rows = chains_and_rows(model)
    assert sorted(chain.length for chain in chains) == [3, 6]
    assert len(rows) == 2 * tree_numpy.CHAINS  # of the trees with branches, but for their roots
    together = factor(model, data.M)
    solution = solve(model, *together, right)
    alone(monkeypatch)
    assert not chains_and_rows(model)[0]
    one_by_one = factor(model, data.M)
    np.testing.assert_array_equal(together[0], one_by_one[0])
    np.testing.assert_array_equal(together[1], one_by_one[1])
    np.testing.assert_array_equal(solution, solve(model, *one_by_one, right))


def test_the_implicit_matrix_is_factored_and_solved_as_in_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = evaluated()
    matrix = implicit_numpy.implicit_matrix(model, data)
    right = np.random.default_rng(2).normal(0.0, 1.0, model.nv)
    assert len(implicit_numpy.blocks_and_dofs(model)[0]) == 2
    factors = implicit_numpy.factor(model, matrix)
    solution = implicit_numpy.solve(model, factors, right)
    alone(monkeypatch)
    assert not implicit_numpy.blocks_and_dofs(model)[0]
    np.testing.assert_array_equal(factors, implicit_numpy.factor(model, matrix))
    expected = implicit_numpy.solve(model, factors, right)
    np.testing.assert_allclose(solution, expected, rtol=1e-13, atol=1e-13 * np.abs(expected).max())


def test_dofs_without_inertia_are_named_one_by_one() -> None:
    model, data = evaluated()
    mass = np.array(data.M)
    chains, _ = chains_and_rows(model)
    first = int(chains[0].dofs[2, 0])
    at = slice(int(model.M_rowadr[first]), int(model.M_rowadr[first]) + chains[0].at.shape[1])
    mass[at] = 0.0
    with pytest.warns(RuntimeWarning) as caught, np.errstate(all="ignore"):
        _, inverse = factor(model, mass)
    assert f"singular at dof {first + chains[0].length - 1} " in str(caught[0].message)
    assert np.isinf(inverse[first + chains[0].length - 1])
    assert np.isfinite(inverse[:first]).all()
