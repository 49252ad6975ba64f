"""Inertia that tendons add: to the mass matrix, to the bias force, to the energy; in MuJoCo and by finite differences."""

# ruff: noqa: E501 - one element per line reads better than wrapped ones

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.plugins.shared.positions_numpy import move
from dovetail.plugins.shared.tendons.drift_numpy import body_drifts, tendon_drift

FIELDS = ("M", "qM", "qLD", "qLDiagInv", "qfrc_bias", "energy", "qacc", "ten_velocity", "ten_length")

TREES = """<mujoco><option jacobian="{jacobian}"><flag constraint="disable" energy="enable"/></option><worldbody>
<site name="w" pos=".2 .3 1"/>
<body pos="0 0 1"><freejoint/><geom size=".1" pos=".1 .1 0"/><site name="p" pos=".1 0 .2"/><site name="p2" pos=".3 0 .2"/>
 <body pos=".3 0 .1"><joint name="ball" type="ball"/><geom type="capsule" size=".05 .2" pos="0 0 .2"/><site name="q" pos="0 .1 .2"/>
  <body pos="0 .1 .4"><joint name="h" axis="1 2 0" armature=".1"/><joint name="s" type="slide" axis="0 1 1"/><geom type="cylinder" size=".07 .15"/><site name="r" pos="0 0 .3"/></body></body></body>
<body pos="1 0 1"><joint name="a" axis="0 1 0"/><geom size=".1" pos=".4 0 0"/><body pos=".5 0 0"><joint name="b" axis="1 0 0"/><geom size=".1" pos=".2 .2 0"/><body pos=".1 .2 0"><joint name="c" axis="0 0 1" pos=".1 0 0"/><geom size=".1" pos=".4 0 0"/><site name="x" pos=".2 .1 .3"/></body></body></body>
<body pos="3 0 0"><joint name="sx" type="slide" axis="1 0 0"/><joint name="sy" type="slide" axis="0 1 0"/><geom size=".1"/><site name="y" pos=".1 0 0"/></body></worldbody>
<tendon>{tendons}</tendon></mujoco>"""

TENDONS = {
    "fixed": '<fixed armature=".7"><joint joint="a" coef="2"/><joint joint="c" coef="-1"/></fixed>',
    "fixed over trees": '<fixed armature=".7"><joint joint="b" coef="2"/><joint joint="sx" coef="3"/><joint joint="h" coef="1"/></fixed>',
    "one tree": '<spatial armature="1.3"><site site="p"/><site site="q"/><site site="r"/></spatial>',
    "from the world": '<spatial armature="2"><site site="w"/><site site="r"/></spatial>',
    "between trees": '<spatial armature="2"><site site="x"/><site site="p"/><site site="y"/></spatial>',
    "pulleys": '<spatial armature="2"><site site="w"/><site site="q"/><pulley divisor="2"/><site site="p"/><site site="x"/><site site="r"/><pulley divisor="3"/><site site="y"/><site site="w"/></spatial>',
    "on one body": '<spatial armature="2"><site site="p"/><site site="p2"/><site site="r"/></spatial>',
}
TENDONS["all"] = "".join(TENDONS.values())


def trees(tendons: str, jacobian: str = "auto") -> str:
    return TREES.format(tendons=TENDONS[tendons], jacobian=jacobian)


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("tendons", TENDONS)
def test_inertia_of_tendons_is_mujocos(tendons: str, jacobian: str) -> None:
    pytest.importorskip("mujoco")
    from beside_mujoco import Pair

    pair = Pair(trees(tendons, jacobian))
    pair.compare(*FIELDS)
    pair.step(20)
    pair.check("qpos", "qvel", tolerance=1e-9)


@pytest.mark.parametrize("tendons", TENDONS)
def test_constants_of_the_model_agree_with_mujoco(tendons: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    theirs, ours = mujoco.MjModel.from_xml_string(trees(tendons)), dovetail.loads(trees(tendons))
    for name in ("dof_M0", "dof_invweight0", "body_invweight0", "tendon_invweight0", "tendon_length0"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-10, atol=1e-13, err_msg=name
        )
    assert float(ours.stat.meaninertia) == pytest.approx(theirs.stat.meaninertia, rel=1e-12)


def at_random(tendons: str, seed: int = 3) -> tuple[Any, Any]:
    model = dovetail.loads(trees(tendons))
    data = dovetail.make_data(model)
    random = np.random.default_rng(seed)
    move(model, data.qpos, random.normal(size=model.nv), 1.0)
    data.qvel = random.normal(size=model.nv)
    dovetail.forward(model, data)
    return model, data


@pytest.mark.parametrize("tendons", TENDONS)
def test_velocity_is_the_rate_of_length(tendons: str) -> None:
    model, data = at_random(tendons)
    velocity, lengths, h = np.array(data.ten_velocity), [], 1e-6
    for duration in (h, -2.0 * h):
        move(model, data.qpos, data.qvel, duration)
        dovetail.forward(model, data)
        lengths.append(np.array(data.ten_length))
    np.testing.assert_allclose((lengths[0] - lengths[1]) / (2.0 * h), velocity, atol=1e-8)


@pytest.mark.parametrize("tendons", TENDONS)
def test_drift_is_the_rate_of_velocity_without_joint_acceleration(tendons: str) -> None:
    model, data = at_random(tendons)
    drifts = body_drifts(model, data)
    drift = [tendon_drift(model, data, tendon, drifts) for tendon in range(model.ntendon)]
    velocities, h = [], 1e-6
    for duration in (h, -2.0 * h):
        move(model, data.qpos, data.qvel, duration)
        dovetail.forward(model, data)
        velocities.append(np.array(data.ten_velocity))
    np.testing.assert_allclose((velocities[0] - velocities[1]) / (2.0 * h), drift, atol=1e-7)


def test_power_balances_within_one_tree() -> None:
    """Only gravity acts, so the energy stays; Runge-Kutta loses 2e-6 J here, a missing bias force 0.03 J."""
    model = dovetail.loads(trees("one tree").replace("<option ", '<option integrator="RK4" timestep="1e-3" '))
    data = dovetail.make_data(model)
    data.qvel = np.random.default_rng(0).normal(size=model.nv)
    dovetail.forward(model, data)
    before = float(data.energy.sum())
    dovetail.step(model, data, 200)
    dovetail.forward(model, data)
    assert float(data.energy.sum()) == pytest.approx(before, abs=1e-5)
