"""Inverse dynamics undoes forward dynamics: it returns the forces that acted, with and without constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from moving_models import machine

import dovetail
from dovetail.contracts.enums import EnableBit, Integrator
from dovetail.plugins.queries.inverse_dynamics import inverse
from dovetail.plugins.shared.cartesian_forces_numpy import cartesian_forces

LANDING = """<mujoco><option timestep=".004" cone="{cone}" tolerance="1e-14" iterations="200">
  <flag fwdinv="enable"/></option>
  <worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .11"/>
    <body pos=".25 0 0"><joint name="h" damping=".1" range="-10 10" limited="true" frictionloss=".1"/>
      <geom size=".08" condim="6" pos=".1 0 0"/></body></body>
  <body name="ball" pos="0 .4 .3"><freejoint/><geom size=".1" condim="4"/></body>
  <body name="hook" pos="0 -.5 .5"><joint axis="1 0 0"/><geom size=".05" pos="0 .1 0" contype="0" conaffinity="0"/>
  </body></worldbody>
  <equality><joint joint1="h" polycoef=".05 0 0 0 0"/></equality>
  <actuator><motor joint="h"/></actuator></mujoco>"""


def pushed(model: Any, seed: int = 0) -> Any:
    """A simulation that controls, joint forces and body forces push."""
    sim = dovetail.Simulation(model)
    rng = np.random.default_rng(seed)
    sim.data.qvel[:] = 0.5 * rng.normal(size=model.nv)
    sim.data.ctrl[:] = rng.uniform(0.0, 0.2, size=model.nu)
    sim.data.act[:] = rng.uniform(size=model.na)
    sim.data.qfrc_applied[:] = 0.1 * rng.normal(size=model.nv)
    sim.data.xfrc_applied[1:] = 0.1 * rng.normal(size=(model.nbody - 1, 6))
    return sim


def acted(model: Any, data: Any) -> Any:
    """The forces that inverse dynamics should find."""
    return data.qfrc_applied + data.qfrc_actuator + cartesian_forces(model, data)


@pytest.mark.parametrize("medium", ["vacuum", "windy"])
def test_smooth_forces_come_back(medium: str) -> None:
    model = dovetail.loads(machine(medium, "ellipsoid"))
    sim = pushed(model)
    for _ in range(5):
        sim.step(3)
        sim.forward()
        wanted = acted(model, sim.data)
        inverse(model, sim.data)
        np.testing.assert_allclose(sim.data.qfrc_inverse, wanted, atol=1e-11 * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("integrator", [Integrator.EULER, Integrator.IMPLICIT, Integrator.IMPLICITFAST])
def test_discrete_inverse_returns_the_forces_of_a_step(integrator: Integrator) -> None:
    """From velocities before and after a step, whatever the integrator made of the acceleration."""
    model = dovetail.loads(machine("windy"))
    model.opt.integrator = int(integrator)
    model.opt.enableflags = int(model.opt.enableflags) | int(EnableBit.INVDISCRETE)
    sim = pushed(model, seed=1)
    before = sim.data.copy()
    sim.forward()
    wanted = acted(model, sim.data)
    sim.step()
    before.qacc[:] = (sim.data.qvel - before.qvel) / model.opt.timestep
    inverse(model, before)
    np.testing.assert_allclose(before.qfrc_inverse, wanted, atol=1e-10 * max(1.0, np.abs(wanted).max()))


@pytest.mark.by_default("elliptic")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_constraint_forces_come_back(cone: str) -> None:
    """Solved to the end, the solver's forces are those that follow from its acceleration; the stage measures it."""
    model = dovetail.loads(LANDING.format(cone=cone))
    sim = pushed(model)
    most = 0
    for _ in range(20):
        sim.step(5)
        sim.forward()
        wanted, forces = acted(model, sim.data), np.array(sim.data.qfrc_constraint)
        scale = max(1.0, float(np.abs(forces).max()))
        assert sim.data.solver_fwdinv.max() < 1e-7 * scale
        inverse(model, sim.data)
        np.testing.assert_allclose(sim.data.qfrc_constraint, forces, atol=1e-7 * scale)
        np.testing.assert_allclose(sim.data.qfrc_inverse, wanted, atol=1e-7 * scale)
        most = max(most, int(sim.data.ncon))
    assert most >= 3


def test_comparison_sees_a_solver_that_stopped_early() -> None:
    model = dovetail.loads(LANDING.format(cone="elliptic"))
    model.opt.iterations = 1
    sim = pushed(model)
    worst = 0.0
    for _ in range(20):
        sim.step(5)
        worst = max(worst, float(sim.data.solver_fwdinv.max()))
    assert worst > 1e-3
