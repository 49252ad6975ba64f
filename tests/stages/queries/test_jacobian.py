"""Jacobians, their rates and products with the mass matrix are MuJoCo's; and they are derivatives of positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from moving_models import machine, set_random_state

import dovetail
from dovetail.plugins.queries import jacobian as jac
from dovetail.plugins.queries.positions import differentiate_pos, integrate_pos

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-12
"""Absolute, for numbers of the order of 10; the worst measured is 2e-14."""


@pytest.fixture(scope="module", params=["vacuum", "water"])
def moving(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """Model and data in a random state; the second has sparse Jacobians."""
    model = mujoco.MjModel.from_xml_string(machine(request.param))
    data = mujoco.MjData(model)
    set_random_state(mujoco, model, data, 3)
    mujoco.mj_forward(model, data)
    return model, data


def close(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, atol=TOLERANCE)


def pair(model: Any) -> tuple[Any, Any]:
    return np.full((3, model.nv), np.nan), np.full((3, model.nv), np.nan)


@pytest.mark.parametrize(
    ("name", "count", "theirs", "ours"),
    [
        ("body", "nbody", "mj_jacBody", jac.jac_body),
        ("body com", "nbody", "mj_jacBodyCom", jac.jac_body_com),
        ("site", "nsite", "mj_jacSite", jac.jac_site),
        ("geom", "ngeom", "mj_jacGeom", jac.jac_geom),
    ],
)
def test_jacobians_of_every_object_are_mujocos(
    moving: tuple[Any, Any], name: str, count: str, theirs: str, ours: Any
) -> None:
    model, data = moving
    for index in range(getattr(model, count)):
        expected = pair(model)
        getattr(mujoco, theirs)(model, data, *expected, index)
        for mine, wanted in zip(ours(model, data, index), expected, strict=True):
            close(mine, wanted)


def test_of_points_their_rates_and_the_forces_there(moving: tuple[Any, Any]) -> None:
    model, data = moving
    rng = np.random.default_rng(0)
    for body in range(model.nbody):
        point, force, torque = rng.normal(size=(3, 3))
        for theirs, ours in ((mujoco.mj_jac, jac.jac_point), (mujoco.mj_jacDot, jac.jac_dot)):
            expected = pair(model)
            theirs(model, data, *expected, point, body)
            for mine, wanted in zip(ours(model, data, point, body), expected, strict=True):
                close(mine, wanted)
        qfrc = np.zeros(model.nv)
        mujoco.mj_applyFT(model, data, force, torque, point, body, qfrc)
        close(jac.apply_ft(model, data, force, torque, point, body), qfrc)


def test_jacobians_of_subtrees_are_mujocos(moving: tuple[Any, Any]) -> None:
    model, data = moving
    for body in range(model.nbody):
        for theirs, ours in (
            (mujoco.mj_jacSubtreeCom, jac.jac_subtree_com),
            (mujoco.mj_angmomMat, jac.angmom_matrix),
        ):
            expected, _ = pair(model)
            theirs(model, data, expected, body)
            close(ours(model, data, body), expected)


def test_products_with_the_mass_matrix(moving: tuple[Any, Any]) -> None:
    model, data = moving
    rng = np.random.default_rng(0)
    dense, vector, product = np.zeros((model.nv, model.nv)), rng.normal(size=model.nv), np.zeros(model.nv)
    mujoco.mj_fullM(model, dense, data.qM)
    close(jac.full_m(model, data), dense)
    mujoco.mj_mulM(model, data, product, vector)
    close(jac.mul_m(model, data, vector), product)
    several = rng.normal(size=(4, model.nv))
    solved = np.zeros_like(several)
    mujoco.mj_solveM(model, data, solved, several)
    ours = jac.solve_m(model, data, several)
    np.testing.assert_allclose(ours, solved, atol=1e-11 * np.abs(solved).max())
    np.testing.assert_allclose(jac.solve_m(model, data, several[2]), ours[2])


def test_moving_and_comparing_positions(moving: tuple[Any, Any]) -> None:
    model, data = moving
    qvel = np.random.default_rng(5).normal(size=model.nv)
    moved, back = np.array(data.qpos), np.zeros(model.nv)
    mujoco.mj_integratePos(model, moved, qvel, 0.7)
    ours = integrate_pos(model, data.qpos, qvel, 0.7)
    close(ours, moved)
    mujoco.mj_differentiatePos(model, back, 0.7, data.qpos, moved)
    close(differentiate_pos(model, data.qpos, ours, 0.7), back)
    np.testing.assert_allclose(back, qvel, atol=1e-12)


def test_jacobian_and_its_rate_are_derivatives_along_a_motion() -> None:
    """Of a point that moves with the body, by central differences of the engine's own positions."""
    model = dovetail.loads(machine())
    data = dovetail.make_data(model)
    rng = np.random.default_rng(1)
    data.qvel[:] = rng.normal(size=model.nv)
    dovetail.forward(model, data)
    eps = 1e-5
    ahead, behind = data.copy(), data.copy()
    for other, time in ((ahead, eps), (behind, -eps)):
        other.qpos[:] = integrate_pos(model, data.qpos, data.qvel, time)
        dovetail.forward(model, other)
    for site in range(model.nsite):
        body = int(model.site_bodyid[site])
        velocity = (ahead.site_xpos[site] - behind.site_xpos[site]) / (2.0 * eps)
        jacp, _ = jac.jac_site(model, data, site)
        np.testing.assert_allclose(jacp @ data.qvel, velocity, atol=1e-8)
        rates = jac.jac_dot(model, data, data.site_xpos[site], body)
        both = [jac.jac_site(model, d, site) for d in (ahead, behind)]
        for rate, above, below in zip(rates, *both, strict=True):
            np.testing.assert_allclose(rate, (above - below) / (2.0 * eps), atol=1e-8)


SOFT = """<mujoco><worldbody><body name="arm"><joint axis="0 1 .3" pos=".1 0 .2"/><joint type="ball"/>
<geom size=".1"/><flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass="1"><pin id="0 4"/>
</flexcomp><flexcomp name="gel" type="grid" count="4 4 3" spacing=".1 .1 .1" dim="3" mass="1" dof="{dof}">
<pin id="0"/>
<contact selfcollide="none"/><elasticity young="1e3"/></flexcomp></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("dof", "count"), [("trilinear", "4 4 3"), ("quadratic", "5 5 5")])
def test_of_flex_vertices_they_give_the_velocity_at_which_these_move(dof: str, count: str) -> None:
    """Pinned to a moving parent, on bodies of their own, or following nodes."""
    model = mujoco.MjModel.from_xml_string(SOFT.format(dof=dof).replace("4 4 3", count))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(0)
    mujoco.mj_integratePos(model, data.qpos, 0.05 * rng.normal(size=model.nv), 1.0)
    velocity, short = rng.normal(size=model.nv), 1e-6
    places = []
    start = data.qpos.copy()
    for duration in (-short, short, 0.0):
        data.qpos[:] = start
        mujoco.mj_integratePos(model, data.qpos, velocity, duration)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_flex(model, data)
        places.append(data.flexvert_xpos.copy())
    moved = (places[1] - places[0]) / (2 * short)
    for flex in range(2):
        for vertex in range(model.flex_vertnum[flex]):
            jacp = jac.jac_flex_vertex(model, data, flex, vertex)
            np.testing.assert_allclose(
                jacp @ velocity, moved[model.flex_vertadr[flex] + vertex], atol=1e-8, rtol=0
            )


def test_a_flex_vertex_that_does_not_exist_is_an_error() -> None:
    model = dovetail.loads(SOFT.format(dof="trilinear"))
    data = dovetail.make_data(model)
    assert dovetail.jac_flex_vertex(model, data, model.flex("cloth").id, 8).shape == (3, model.nv)
    with pytest.raises(IndexError, match="vertex 9 does not exist: the flex has 9, numbered from 0"):
        dovetail.jac_flex_vertex(model, data, 0, 9)
    with pytest.raises(IndexError, match="flex 2 does not exist: the model has 2"):
        dovetail.jac_flex_vertex(model, data, 2, 0)
