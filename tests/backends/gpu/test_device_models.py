"""Models with contacts, all integrators, all solvers: on a device as on the processor, in every world."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from batch_scene import SCENE
from device import largest_difference, numbers, on_processor, simulation, spread

import dovetail

pytestmark = [pytest.mark.device, pytest.mark.slow]

STEPS = 20
TOLERANCE = {"f64": 1e-10, "f32": 2e-2}
"""Of states that are about 1. The driver rearranges sums, and Taichi cannot tell it not to: what becomes of 1e-16 in
twenty steps with contacts."""

GYMNASIUM = ("half_cheetah", "ant", "humanoid")
MUSCLES = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom type="plane" size="2 2 1"/>
    <body pos="0 0 0.5">
      <joint name="a" axis="0 1 0" damping="0.1" limited="true" range="-60 60"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
      <site name="s0" pos="0.1 0 0.05"/>
      <body pos="0.3 0 0">
        <joint name="b" axis="0 1 0" damping="0.1"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 -0.2"/>
        <site name="s1" pos="0.1 0 0.03"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="t0" stiffness="5" damping="0.2"><site site="s0"/><site site="s1"/></spatial>
    <fixed name="t1"><joint joint="a" coef="1"/><joint joint="b" coef="-0.5"/></fixed>
  </tendon>
  <actuator>
    <muscle name="m" tendon="t0" ctrllimited="true" ctrlrange="0 1"/>
    <general tendon="t1" dyntype="filterexact" dynprm="0.05" gainprm="2"/>
  </actuator>
  <sensor>
    <tendonpos tendon="t0"/><jointvel joint="a"/><accelerometer site="s1"/><framepos objtype="site" objname="s1"/>
    <actuatorfrc actuator="m"/>
  </sensor>
</mujoco>
"""


def agree(model: dovetail.Model, nworld: int = 40, precision: str = "f64", **settings: object) -> None:
    """States, and in f64 the numbers of contacts and rows, of all worlds after twenty steps."""
    kept = {"precision": precision, "keep": ("ncon", "nefc", "sensordata"), **settings}
    device, processor = simulation(model, nworld, **kept), on_processor(model, nworld, **kept)
    for sim in (device, processor):
        spread(sim)
        sim.step(STEPS)
    if precision == "f64":
        for name in ("ncon", "nefc"):
            np.testing.assert_array_equal(numbers(device, name), numbers(processor, name))
    size = max(1.0, float(np.abs(numbers(processor, "qvel")).max()))
    assert largest_difference(device, processor) < TOLERANCE[precision] * size


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_humanoid(precision: str) -> None:
    agree(dovetail.load("humanoid"), 64, precision)


@pytest.mark.parametrize("name", GYMNASIUM)
def test_gymnasium(name: str) -> None:
    folder = Path(pytest.importorskip("gymnasium").__file__).parent
    agree(dovetail.load(folder / "envs" / "mujoco" / "assets" / f"{name}.xml"))


def test_quadruped_with_elliptic_cones() -> None:
    suite = pytest.importorskip("dm_control").__path__[0]
    model = dovetail.load(Path(suite) / "suite" / "quadruped.xml")
    model.opt.cone = 1
    agree(model)


@pytest.mark.parametrize("name", ["boxes", "meshes"])
def test_boxes_and_meshes(name: str) -> None:
    folder = Path(dovetail.__file__).parent / "bench" / "models"
    agree(dovetail.load(folder / f"{name}.xml"))


def test_tendons_muscles_and_sensors() -> None:
    agree(dovetail.loads(MUSCLES))


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
def test_integrators(integrator: str) -> None:
    agree(dovetail.loads(SCENE.format(cone="pyramidal", integrator=integrator)))


@pytest.mark.parametrize("solver", [0, 1, 2], ids=["PGS", "CG", "Newton"])
def test_solvers_with_elliptic_cones(solver: int) -> None:
    model = dovetail.loads(SCENE.format(cone="elliptic", integrator="Euler"))
    model.opt.solver = solver
    agree(model)


def test_lists_grow() -> None:
    """More contacts in one world than kernels have room for: that world is run again, by kernels with more."""
    model = dovetail.loads(SCENE.format(cone="pyramidal", integrator="Euler"))
    agree(model, 7)
