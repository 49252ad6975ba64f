"""Velocity derivatives of forces, the matrices made of them, and the steps taken with those are MuJoCo's."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from moving_models import INTEGRATORS, MEDIA, machine, set_random_state
from smooth_reference import worst_error
from trees import random_tree

import dovetail
from dovetail.plugins.integrate import implicit_numpy, implicitfast_numpy
from dovetail.plugins.shared.derivative.pattern import address, related

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-12
"""Relative to the largest entry; the worst measured is 3e-15."""

FLAGS = ["", 'damper="disable"', 'spring="disable" damper="disable"', 'actuation="disable"']

IMPLICIT = [
    ("implicit", implicit_numpy.integrate, ("qDeriv", "qLU")),
    ("implicitfast", implicitfast_numpy.integrate, ("qDeriv", "qH", "qHDiagInv")),
]


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("shape", ["none", "ellipsoid"])
@pytest.mark.parametrize(("integrator", "integrate", "matrices"), IMPLICIT)
def test_matrices_and_step_are_those_of_mujoco(
    integrator: str, integrate: Any, matrices: tuple[str, ...], shape: str, medium: str, flag: str
) -> None:
    model = mujoco.MjModel.from_xml_string(machine(medium, shape, flag))
    model.opt.integrator = INTEGRATORS[integrator]
    for seed, speed in enumerate((0.0, 1.0, 3.0)):
        theirs = mujoco.MjData(model)
        set_random_state(mujoco, model, theirs, seed, speed)
        mujoco.mj_forward(model, theirs)
        ours = copy.copy(theirs)
        mujoco.mj_implicit(model, theirs)
        integrate(model, ours, 0)
        for name in (*matrices, "qvel", "qpos", "act"):
            assert worst_error(getattr(ours, name), getattr(theirs, name)) < TOLERANCE, (name, speed)


FLEX = """<mujoco><option jacobian="{jacobian}"><flag constraint="disable"/></option><worldbody>
  <body name="arm"><joint axis="0 1 0"/><geom size=".1"/>
    <flexcomp name="f" type="grid" count="{count}" spacing=".1 .1 .1" pos="0 0 1" dim="{dim}" radius=".01" mass="1">
      {inner}<pin id="0"/></flexcomp></body></worldbody></mujoco>"""


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize(
    ("dim", "count", "inner"),
    [
        (1, "6 1 1", '<edge stiffness="10" damping="3"/>'),
        (2, "4 4 1", '<edge damping="2" equality="true"/>'),
        (
            3,
            "3 3 3",
            '<edge damping="2" equality="true"/><elasticity young="1e3" poisson=".1" damping=".1"/>',
        ),
    ],
)
def test_flex_edges_damp_as_in_mujoco(jacobian: str, dim: int, count: str, inner: str) -> None:
    model = mujoco.MjModel.from_xml_string(FLEX.format(jacobian=jacobian, dim=dim, count=count, inner=inner))
    rng = np.random.default_rng(0)
    for integrator, integrate, _ in IMPLICIT:
        model.opt.integrator = INTEGRATORS[integrator]
        theirs = mujoco.MjData(model)
        theirs.qpos[:] += 0.01 * rng.normal(size=model.nq)
        theirs.qvel[:] = 0.1 * rng.normal(size=model.nv)
        mujoco.mj_forward(model, theirs)
        ours = copy.copy(theirs)
        mujoco.mj_implicit(model, theirs)
        integrate(model, ours, 0)
        assert np.abs(theirs.qDeriv).max() > 1.0
        for name in ("qDeriv", "qvel"):
            assert worst_error(getattr(ours, name), getattr(theirs, name)) < TOLERANCE


@pytest.mark.parametrize("name", ["humanoid", "arm", "tumbler"])
def test_addresses_are_where_the_pattern_has_the_entries(name: str) -> None:
    model = dovetail.load(name)
    row = np.repeat(np.arange(model.nv), model.D_rownnz)
    np.testing.assert_array_equal(address(model, row, model.D_colind), np.arange(model.nD))
    everything = np.indices((model.nv, model.nv)).reshape(2, -1)
    stored = np.zeros((model.nv, model.nv), bool)
    stored[row, model.D_colind] = True
    np.testing.assert_array_equal(related(model, *everything), stored.ravel())


@pytest.mark.parametrize("seed", range(15))
def test_random_trees_agree_too(seed: int) -> None:
    model = mujoco.MjModel.from_xml_string(random_tree(seed, 3 + seed))
    model.opt.density, model.opt.viscosity = [0.0, 1.2, 1000.0][seed % 3], [0.0, 0.1][seed % 2]
    for integrator, integrate, matrices in IMPLICIT:
        model.opt.integrator = INTEGRATORS[integrator]
        theirs = mujoco.MjData(model)
        set_random_state(mujoco, model, theirs, seed)
        mujoco.mj_forward(model, theirs)
        ours = copy.copy(theirs)
        mujoco.mj_implicit(model, theirs)
        integrate(model, ours, 0)
        for name in (*matrices, "qvel", "qpos", "act"):
            assert worst_error(getattr(ours, name), getattr(theirs, name)) < TOLERANCE, (integrator, name)
