"""What physics conserves is conserved: energy, momentum, symmetry; and damping only takes energy away.

The momenta are computed here from poses and velocities, not by the engine.
"""

from __future__ import annotations

import numpy as np
import pytest
from lane_backend import LANES
from numpy.typing import NDArray
from running import simulation

import dovetail
from dovetail.contracts.types import Data, Model

Vector = NDArray[np.float64]

FLOATING = """
<mujoco model="floating">
  <option timestep="0.0005" integrator="RK4" gravity="0 0 0">
    <flag constraint="disable" energy="enable"/>
  </option>
  <worldbody>
    <body name="torso">
      <freejoint/>
      <geom type="box" size=".2 .1 .3"/>
      <body name="arm" pos=".2 0 .2">
        <joint name="shoulder" type="ball"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/>
        <body name="hand" pos=".3 0 0">
          <joint name="wrist" axis="0 1 0" stiffness="2"/>
          <joint name="rail" type="slide" axis="1 0 1" stiffness="50"/>
          <geom type="sphere" size=".06" pos=".05 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

SWING = """
<mujoco model="swing">
  <option timestep="0.0005" integrator="{integrator}">
    <flag constraint="disable" energy="enable"/>
  </option>
  <default><joint damping="{damping}" stiffness="3"/></default>
  <worldbody>
    <body pos="0 0 2">
      <joint axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/>
      <body pos=".4 0 0">
        <joint type="ball"/>
        <geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/>
        <body pos=".4 0 0"><joint type="slide" axis="1 0 0"/><geom size=".1"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def moving(model: Model, backend: str = "numpy") -> dovetail.Simulation:
    """Thrown at random, with nothing pushing; every field kept."""
    batch = {"nworld": 2, "keep": "all"} if backend == LANES else {}
    return simulation(model, backend=backend, forces=False, **batch)


def first(sim: dovetail.Simulation) -> Data:
    return sim.data.world(0)


def momenta(model: Model, data: Data) -> tuple[Vector, Vector]:
    """Linear momentum, and angular momentum about the world's origin."""
    linear, angular = np.zeros(3), np.zeros(3)
    for body in range(1, model.nbody):
        spin, velocity = np.array(data.cvel[body, :3]), np.array(data.cvel[body, 3:])
        centre = np.array(data.xipos[body])
        velocity += np.cross(spin, centre - data.subtree_com[model.body_rootid[body]])
        frame = np.array(data.ximat[body]).reshape(3, 3)
        linear += model.body_mass[body] * velocity
        angular += np.cross(centre, model.body_mass[body] * velocity)
        angular += frame @ (model.body_inertia[body] * (frame.T @ spin))
    return linear, angular


@pytest.mark.parametrize("backend", ["numpy", pytest.param(LANES, marks=pytest.mark.slow)])
def test_floating_system_keeps_its_momentum_and_energy(backend: str) -> None:
    sim = moving(dovetail.loads(FLOATING), backend)
    sim.forward()
    linear, angular = momenta(sim.model, first(sim))
    energy = np.array(first(sim).energy).sum()
    for _ in range(4):
        sim.step(100)
        sim.forward()
        now_linear, now_angular = momenta(sim.model, first(sim))
        # Fourth order at half a millisecond: truncation is far below these; the linear one is exact.
        np.testing.assert_allclose(now_linear, linear, atol=1e-10 * np.linalg.norm(linear))
        np.testing.assert_allclose(now_angular, angular, atol=1e-7 * np.linalg.norm(angular))
        assert np.array(first(sim).energy).sum() == pytest.approx(energy, rel=1e-8)


def test_energy_error_falls_with_the_fourth_power_of_the_time_step() -> None:
    """For joints of one degree of freedom; averaging angular velocities of ball joints costs two orders."""
    model = dovetail.loads(SWING.format(integrator="RK4", damping="0").replace('"ball"', '"hinge"'))
    errors = []
    for timestep in (0.008, 0.004):
        model.opt.timestep = timestep
        sim = moving(model)
        sim.forward()
        energy = first(sim).energy.sum()
        sim.step(round(0.8 / timestep))
        sim.forward()
        errors.append(abs(first(sim).energy.sum() - energy))
    order = np.log2(errors[0] / errors[1])
    assert order > 3.5


@pytest.mark.by_default("Euler")
@pytest.mark.parametrize("integrator", ["RK4", "Euler"])
def test_damping_only_dissipates(integrator: str) -> None:
    sim = moving(dovetail.loads(SWING.format(integrator=integrator, damping=".5")))
    energies = []
    for _ in range(30):
        sim.forward()
        energies.append(first(sim).energy.sum())
        sim.step(20)
    assert (np.diff(energies) < 0.0).all()


def test_damping_power_is_never_positive() -> None:
    sim = moving(dovetail.loads(SWING.format(integrator="Euler", damping=".5")))
    for _ in range(20):
        sim.forward()
        assert first(sim).qfrc_damper @ first(sim).qvel <= 0.0
        sim.step(10)


def test_torque_free_tumbler_keeps_angular_momentum_while_its_axis_flips() -> None:
    """A body spun about its middle axis turns over and over (Dzhanibekov); momentum and energy do not notice."""
    model = dovetail.loads(
        '<mujoco><option timestep="0.002" integrator="RK4" gravity="0 0 0"><flag constraint="disable" '
        'energy="enable"/></option><worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" '
        'diaginertia=".01 .02 .028"/></body></worldbody></mujoco>'
    )
    sim = dovetail.Simulation(model)
    sim.data.qvel[3:] = (0.2, 8.0, 0.2)
    sim.forward()
    _, angular = momenta(model, sim.data)
    energy = sim.data.energy.sum()
    sides = set()
    for _ in range(40):
        sim.step(25)
        sim.forward()
        np.testing.assert_allclose(momenta(model, sim.data)[1], angular, atol=1e-4 * np.linalg.norm(angular))
        assert sim.data.energy.sum() == pytest.approx(energy, rel=1e-5)
        sides.add(bool(sim.data.qvel[4] > 0.0))
    assert sides == {True, False}


def test_turning_world_and_gravity_together_changes_nothing_inside() -> None:
    """Joint motion does not depend on the frame it is described in."""
    bodies = SWING.partition("<worldbody>")[2].partition("</worldbody>")[0]
    turn = np.array([0.4, 0.3, -0.7, 0.5]) / np.linalg.norm([0.4, 0.3, -0.7, 0.5])
    upright = SWING.format(integrator="Euler", damping=".2")
    turned = upright.replace(bodies, f'<frame quat="{" ".join(map(repr, turn.tolist()))}">{bodies}</frame>')
    models = [dovetail.loads(text) for text in (upright, turned)]
    models[1].opt.gravity[:] = _rotate(turn, models[0].opt.gravity)
    sims = [moving(model) for model in models]
    for sim in sims:
        sim.step(400)
    np.testing.assert_allclose(sims[1].data.qpos, sims[0].data.qpos, atol=1e-9)
    np.testing.assert_allclose(sims[1].data.qvel, sims[0].data.qvel, atol=1e-8)


def test_mirrored_start_gives_mirrored_motion() -> None:
    """A planar double pendulum hanging straight down does not prefer a side."""
    model = dovetail.loads(
        '<mujoco><option timestep="0.001"><flag constraint="disable"/></option><worldbody><body>'
        '<joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05"/><body pos="0 0 -.4">'
        '<joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05"/></body></body></worldbody>'
        "</mujoco>"
    )
    sim = dovetail.Simulation(model, nworld=2)
    sim.data.qpos[0] = (1.0, -0.5)
    sim.data.qpos[1] = (-1.0, 0.5)
    sim.step(500)
    np.testing.assert_allclose(sim.data.qpos[0], -sim.data.qpos[1], atol=1e-10)


def test_free_fall_is_the_parabola_of_the_scheme() -> None:
    """Semi-implicit Euler under constant gravity: v = g t, and z falls by g h² n (n + 1) / 2 after n steps."""
    model = dovetail.loads(
        '<mujoco><option timestep="0.01"><flag constraint="disable"/></option><worldbody>'
        '<body pos="1 2 3"><freejoint/><geom size=".1"/></body></worldbody></mujoco>'
    )
    sim = dovetail.Simulation(model)
    sim.step(100)
    assert sim.data.qvel[2] == pytest.approx(-9.81, rel=1e-13)
    assert sim.data.qpos[2] == pytest.approx(3 - 9.81 * 0.01**2 * 100 * 101 / 2, rel=1e-12)
    np.testing.assert_allclose(sim.data.qpos[[0, 1, 3, 4, 5, 6]], [1, 2, 1, 0, 0, 0], atol=1e-14)


def _rotate(quat: Vector, vector: Vector) -> Vector:
    w, axis = quat[0], quat[1:]
    return vector + 2.0 * np.cross(axis, np.cross(axis, vector) + w * vector)
