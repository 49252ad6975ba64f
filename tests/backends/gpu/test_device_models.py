"""Models with contacts, all integrators, all solvers: on a device as on the processor, in every world."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batch_scene import SCENE
from device import largest_difference, numbers, on_processor, simulation, spread

import dovetail
from dovetail.backends.taichi.device_errors import DeviceError

pytestmark = [pytest.mark.device, pytest.mark.slow]

STEPS = 20
TOLERANCE = {"f64": 1e-10, "f32": 2e-2}
"""Of states that are about 1. The driver rearranges sums, and Taichi cannot tell it not to: what becomes of 1e-16 in
twenty steps with contacts."""

LAST_BITS = {"f64": 1e-15, "f32": 5e-7}
"""What the processor makes of such a change of velocities is allowed, too, a hundred times: CG stops an iteration
earlier or later for it."""


def spheres(count: int) -> str:
    """A plane and free spheres above it."""
    body = '<body pos="{} 0 1"><freejoint/><geom size="0.1" mass="1"/></body>'
    bodies = "".join(body.format(0.25 * n) for n in range(count))
    return f'<mujoco><worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>'


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
    device, processor, near = (
        make(model, nworld, **kept) for make in (simulation, on_processor, on_processor)
    )
    for sim in (device, processor, near):
        spread(sim)
        if sim is near:
            sim.data.qvel[...] = numbers(sim, "qvel") * (1.0 + LAST_BITS[precision])
        sim.step(STEPS)
    if precision == "f64":
        for name in ("ncon", "nefc"):
            np.testing.assert_array_equal(numbers(device, name), numbers(processor, name))
    size = max(1.0, float(np.abs(numbers(processor, "qvel")).max()))
    allowed = TOLERANCE[precision] * size + 100.0 * largest_difference(near, processor)
    assert largest_difference(device, processor) < allowed


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_humanoid(precision: str) -> None:
    agree(dovetail.load("humanoid"), 64, precision)


@pytest.mark.parametrize("name", GYMNASIUM)
def test_gymnasium(name: str) -> None:
    folder = Path(pytest.importorskip("gymnasium").__file__).parent
    agree(dovetail.load(folder / "envs" / "mujoco" / "assets" / f"{name}.xml"))


@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("nworld", [1, 7, 32, 64, 1000])
def test_contacts_in_any_number_of_worlds(nworld: int, precision: str) -> None:
    model = dovetail.loads(SCENE.format(cone="pyramidal", integrator="Euler"))
    agree(model, nworld, precision)


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


def pile(sim: Any, count: int) -> None:
    """Nothing touches, but in world 7 all spheres are at one place."""
    nworld = sim.data.nworld
    places = numbers(sim, "qpos").reshape(nworld, count, 7)
    places[:, :, 2] = 1.0 + np.arange(count)
    places[7, :, :3] = [0.0, 0.0, 2.0]
    places[7, :, :3] += 0.02 * np.random.default_rng(0).normal(size=(count, 3))
    sim.data.qpos[...] = places.reshape(nworld, -1)


def test_lists_grow() -> None:
    """More contacts in one world than kernels have room for: that world is run again, by kernels with more."""
    model = dovetail.loads(spheres(12))
    device, processor = (make(model, 40, keep=("ncon", "nefc")) for make in (simulation, on_processor))
    for sim in (device, processor):
        pile(sim, 12)
        sim.step(1)
    assert numbers(device, "ncon").tolist() == [66 if world == 7 else 0 for world in range(40)]
    np.testing.assert_array_equal(numbers(device, "nefc"), numbers(processor, "nefc"))
    assert largest_difference(device, processor) < 1e-8


def test_a_driver_that_ends_loops_is_an_error() -> None:
    """Mesa's llvmpipe ends the loops of a kernel after 65,535 turns; Newton with 190 contacts takes twice as many."""
    sim = simulation(dovetail.loads(spheres(20)), 40)
    pile(sim, 20)
    before, problem = numbers(sim, "qpos")[7], None
    try:
        sim.step(1)
    except DeviceError as error:
        problem = str(error)
    if problem is not None:
        assert "after 65,535 turns" in problem
        assert np.array_equal(numbers(sim, "qpos")[7], before)
    else:
        processor = on_processor(dovetail.loads(spheres(20)), 40)
        pile(processor, 20)
        processor.step(1)
        assert largest_difference(sim, processor) < 1e-6


def test_contacts_that_numpy_found_are_sorted_into_the_device() -> None:
    model = dovetail.loads(SCENE.format(cone="pyramidal", integrator="Euler"))
    agree(model, 7, stages={"narrowphase": "@numpy"})


def test_contacts_themselves() -> None:
    """Lists that leave the device: every contact of every world."""
    model = dovetail.loads(SCENE.format(cone="pyramidal", integrator="Euler"))
    kept = ("ncon", "contact.dist", "contact.pos", "contact.geom", "efc_force")
    device, processor = simulation(model, 40, keep=kept), on_processor(model, 40, keep=kept)
    for sim in (device, processor):
        spread(sim)
        sim.step(STEPS)
    assert numbers(device, "ncon").max() > 1
    for world in range(40):
        count = int(numbers(processor, "ncon")[world])
        for name in ("contact.dist", "contact.pos", "contact.geom"):
            found, expected = (numbers(sim, name)[world, :count] for sim in (device, processor))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
