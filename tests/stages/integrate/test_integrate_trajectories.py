"""Hundreds of steps stay on MuJoCo's trajectory under every integrator, whatever makes forces depend on velocity."""

from __future__ import annotations

import numpy as np
import pytest
from moving_models import INTEGRATORS, machine
from smooth_reference import worst_error

import dovetail

mujoco = pytest.importorskip("mujoco")

STEPS = {"Euler": 500, "RK4": 150, "implicit": 500, "implicitfast": 500}
TOLERANCE = 1e-7
"""Of the largest coordinate; the worst measured is 2e-10, in the machine, whose fastest dof turns at 19 rad/s."""

ARM = """<mujoco><option timestep=".002"><flag constraint="disable"/></option><worldbody>
  <site name="root" pos="0 .05 .3"/>
  <body pos="0 0 .3"><joint name="shoulder" type="ball" damping=".3"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".04"/><site name="upper" pos="0 .06 -.2"/>
    <geom name="bone" type="sphere" size=".05" pos="0 0 -.1"/>
    <body pos="0 0 -.3"><joint name="elbow" axis="0 1 0" stiffness="2" springref="30" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 .25 0 0" size=".03"/><site name="lower" pos=".1 .04 .02"/></body></body>
  </worldbody>
  <tendon><spatial name="biceps" damping=".5" stiffness="5"><site site="root"/><geom geom="bone"/><site site="upper"/>
    <site site="lower"/></spatial></tendon>
  <actuator>
    <muscle tendon="biceps" lengthrange=".2 .6" timeconst=".02 .05"/>
    <general joint="elbow" dyntype="filterexact" dynprm=".03" gainprm="1.5" biastype="affine" biasprm="0 -2 -.3"/>
    <general joint="shoulder" gear="1 0 .5" dyntype="integrator" actrange="-.1 .2" gaintype="affine"
      gainprm="1 0 -2"/>
    <intvelocity joint="elbow" kp="3" kv=".4" actrange="-.5 .5"/>
    <general joint="shoulder" gear="0 1 0" dyntype="filter" dynprm=".05" actearly="true"/>
  </actuator></mujoco>"""

SWIMMER = """<mujoco><option timestep=".004" density="1000" viscosity=".02" wind=".1 .2 0">
  <flag constraint="disable"/></option>
  <default><geom fluidshape="ellipsoid"/><joint damping=".01"/></default><worldbody>
  <body><freejoint/><geom type="ellipsoid" size=".2 .05 .08"/>
    <body pos="-.2 0 0"><joint name="fin" axis="0 0 1"/><geom type="box" size=".1 .01 .05" pos="-.1 0 0"/>
      <body pos="-.2 0 0"><joint name="tip" axis="0 1 1"/><geom type="capsule" size=".02 .06" pos="-.1 0 0"/></body>
    </body></body></worldbody>
  <actuator><position joint="fin" kp="5" dampratio="1"/><velocity joint="tip" kv=".2"/></actuator></mujoco>"""

MODELS = {"arm": ARM, "swimmer": SWIMMER, "machine": machine("windy")}


@pytest.mark.by_default("arm-RK4", "arm-Euler", "arm-implicitfast", "machine-implicit")
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["arm", "machine", pytest.param("swimmer", marks=pytest.mark.slow)])
def test_trajectory_is_that_of_mujoco(name: str, integrator: str) -> None:
    text = MODELS[name].replace("<option ", f'<option integrator="{integrator}" ')
    theirs_model, model = mujoco.MjModel.from_xml_string(text), dovetail.loads(text)
    theirs, sim = mujoco.MjData(theirs_model), dovetail.Simulation(model)
    rng = np.random.default_rng(1)
    theirs.qvel[:] = sim.data.qvel[:] = 0.3 * rng.normal(size=model.nv)
    for _ in range(STEPS[integrator]):
        theirs.ctrl[:] = sim.data.ctrl[:] = rng.uniform(-0.2, 0.6, model.nu)
        mujoco.mj_step(theirs_model, theirs)
        sim.step()
    assert np.abs(theirs.qvel).max() > 0.1
    for field in ("qpos", "qvel", "act", "time"):
        error = worst_error(np.asarray(sim.data.field(field)), np.asarray(getattr(theirs, field)))
        assert error < TOLERANCE, field


@pytest.mark.parametrize(
    ("integrator", "fields"),
    [
        ("Euler", ("qH", "qHDiagInv")),
        ("implicit", ("qDeriv", "qLU")),
        ("implicitfast", ("qDeriv", "qH", "qHDiagInv")),
    ],
)
def test_matrices_left_by_a_step_are_those_of_mujoco(integrator: str, fields: tuple[str, ...]) -> None:
    text = ARM.replace("<option ", f'<option integrator="{integrator}" ')
    theirs_model, model = mujoco.MjModel.from_xml_string(text), dovetail.loads(text)
    theirs, sim = mujoco.MjData(theirs_model), dovetail.Simulation(model)
    theirs.qvel[:] = sim.data.qvel[:] = (1.0, -2.0, 0.5, 3.0)
    for _ in range(3):
        mujoco.mj_step(theirs_model, theirs)
        sim.step()
    for field in fields:
        assert worst_error(sim.data.field(field), getattr(theirs, field)) < 1e-11, field
