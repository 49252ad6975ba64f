"""The models that come with dovetail are what their comments say."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail.contracts.enums import JointType

NAMES = ["arm", "humanoid", "pendulum", "tumbler"]


def test_there_are_four() -> None:
    assert dovetail.builtin_models() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_runs_from_each_keyframe(name: str) -> None:
    sim = dovetail.Simulation(name)
    assert sim.model.modelname == name
    for key in range(sim.model.nkey):
        sim.reset(key)
        sim.step(5)
        assert np.isfinite(sim.data.qpos).all()


@pytest.mark.parametrize("name", NAMES)
def test_each_loads_in_mujoco_with_the_same_numbers(name: str) -> None:
    pytest.importorskip("mujoco")
    from dovetail.compare.conform import conform

    report = conform(name, steps=2, states=1)
    assert report.ok, report.table()
    assert report.complete


def test_the_humanoid_has_21_hinges_each_with_a_motor() -> None:
    model = dovetail.load("humanoid")
    assert (model.nq, model.nv, model.nu) == (28, 27, 21)
    hinges = np.flatnonzero(model.jnt_type == JointType.HINGE)
    assert sorted(model.actuator_trnid[:, 0]) == list(hinges)
    assert np.all(model.dof_armature[6:] > 0)
    assert np.all(model.dof_damping[6:] > 0)


def test_the_humanoid_is_symmetric() -> None:
    """Right is left with y mirrored: same masses, same inertias."""
    model = dovetail.load("humanoid")
    for name in model.object_names["body"]:
        if name.startswith("left_"):
            left, right = model.body(name), model.body(name.replace("left_", "right_"))
            assert left.mass == right.mass
            np.testing.assert_allclose(left.ipos * [1, -1, 1], right.ipos, atol=1e-15)
            np.testing.assert_allclose(left.inertia, right.inertia)


def test_the_humanoid_stands_on_the_floor() -> None:
    sim = dovetail.Simulation("humanoid")
    sim.reset("stand")
    sim.forward()
    sole = sim.data.geom("left_sole").xpos[2] - sim.model.geom("left_sole").size[2]
    assert 0 < sole < 0.01
    skull = sim.data.geom("skull").xpos[2] + sim.model.geom("skull").size[0]
    assert skull == pytest.approx(1.70, abs=0.01)


def test_the_arm_reaches_its_targets() -> None:
    sim = dovetail.Simulation("arm", stages={"integrate": "euler"})
    sim.reset("reach")
    sim.step(800)
    for name in ("pan", "lift", "roll", "elbow"):
        target = sim.data.ctrl[sim.model.actuator(name).id]
        assert sim.data.joint(name).qpos[0] == pytest.approx(target, abs=0.1)


def test_the_tumbler_flips_over_and_keeps_its_energy() -> None:
    sim = dovetail.Simulation("tumbler")
    sim.reset("spin")
    energies, spins = [], []
    for _ in range(60):
        sim.step(10)
        energies.append(sim.data.energy.sum())
        spins.append(sim.data.qvel[3])
    assert max(spins) > 11.9
    assert min(spins) < -11.9
    # measured 6e-8: RK4's truncation while it flips, the same in MuJoCo
    np.testing.assert_allclose(energies, energies[0], rtol=1e-6)


def test_the_tumbler_is_steady_about_its_largest_moment() -> None:
    sim = dovetail.Simulation("tumbler")
    sim.reset("steady")
    sim.step(300)
    assert sim.data.qvel[5] == pytest.approx(12, rel=1e-6)
