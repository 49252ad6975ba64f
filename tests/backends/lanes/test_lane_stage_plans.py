"""Whole steps of models with tendons, muscles, a medium and sensors: all in one lane kernel, or mixed with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from lane_backend import LANES
from limb_models import ACTUATORS, FIXED, SHORTEST, SPARSE, WET, model

import dovetail
from dovetail.compare.errors import relative_error
from dovetail.compare.states import randomize
from dovetail.config import Config
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan

NWORLD, STEPS = 11, 10
KEPT = ("energy", "sensordata", "actuator_force")
TOLERANCE = 1e-9

SITES = """
<actuator>
  <motor site="fly" gear="0 0 1 0 0 0"/><motor site="end" gear="0 0 0 0 1 0"/><motor tendon="cord"/>
  <motor joint="turn"/>
</actuator>
"""
"""Some of their moments are exactly zero: the reference then leaves entries out."""

OBSERVED = """
<mujoco>
  <option><flag constraint="disable" energy="enable"/></option>
  <worldbody>
    <body pos="0 0 1"><joint name="a" axis=".2 1 .3"/><geom size=".1" pos=".2 0 0"/><site name="s" pos=".3 .1 0"/>
      <body pos=".4 0 0"><joint name="b" axis="1 1 0"/><geom size=".1" pos=".2 0 0"/><site name="t"/></body>
    </body>
  </worldbody>
  <sensor>
    <jointpos joint="a"/><gyro site="s"/><framepos objtype="site" objname="t"/><jointpos joint="b"/><clock/>
    <accelerometer site="t"/><gyro site="t"/>
  </sensor>
</mujoco>
"""

MODELS = {
    "driven": model(FIXED + SHORTEST, 'integrator="implicitfast"', ACTUATORS),
    "wet": model(option='density="40" viscosity=".3"', **WET),
    "observed": OBSERVED,
    "zeros": model(FIXED + SHORTEST, SPARSE, SITES),
}


def compiled(name: str, backend: str, stages: dict[str, str] | None = None) -> Plan:
    config = Config.of_call(stages, backend=backend, keep=KEPT)
    return compile_plan(dovetail.loads(MODELS[name]), config, nworld=NWORLD)


def trajectory(plan: Plan) -> dict[str, np.ndarray]:
    data = plan.make_data()
    randomize(data, np.random.default_rng(7))
    plan.step(data, STEPS)
    return {name: np.array(data.field(name)) for name in ("qpos", "qvel", "act", *KEPT)}


def assert_same(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    worst = {name: relative_error(found[name], wanted[name]) for name in wanted}
    assert max(worst.values()) <= TOLERANCE, worst


@pytest.mark.parametrize(
    "name", ["driven", "observed", *(pytest.param(name, marks=pytest.mark.slow) for name in ("wet", "zeros"))]
)
def test_the_whole_step_runs_in_one_kernel(name: str) -> None:
    plan = compiled(name, LANES)
    assert [s.label for s in plan.slots if s.record.backend != LANES] == []
    assert len(plan.segments()) == 1
    assert_same(trajectory(plan), trajectory(compiled(name, "numpy")))


@pytest.mark.parametrize("slot", ["tendon", pytest.param("transmission", marks=pytest.mark.slow)])
def test_sparse_rows_pass_from_the_reference_to_lanes(slot: str) -> None:
    """The reference's rows lack entries that are zero, other ones in other worlds; lane kernels expect all."""
    plan = compiled("zeros", LANES, {slot: "@numpy"})
    assert [s.label for s in plan.slots if s.record.backend == "numpy"] == [slot]
    assert_same(trajectory(plan), trajectory(compiled("zeros", "numpy")))


def test_sparse_rows_pass_from_lanes_to_the_reference() -> None:
    stages = dict.fromkeys(("transmission_velocity", "actuation", "passive_force:tendon_spring"), "@numpy")
    assert_same(trajectory(compiled("zeros", LANES, stages)), trajectory(compiled("zeros", "numpy")))


def test_the_reference_does_leave_entries_out() -> None:
    plan = compiled("zeros", "numpy", {"transmission": "@numpy"})
    data = plan.make_data()
    randomize(data, np.random.default_rng(7))
    plan.step(data, 1)
    counts = np.asarray(data.moment_rownnz)
    assert (counts[:, :2].sum(axis=1) < 6 + 2).all()


def test_sensors_of_both_backends_share_sensordata() -> None:
    """Rows write their own parts of one field; a lane kernel must leave the others' alone."""
    stages = {"sensor:gyro": "@numpy", "sensor:framepos": "@numpy", "sensor:clock": "@numpy"}
    found = trajectory(compiled("observed", LANES, stages))
    assert np.all(found["sensordata"])
    assert_same(found, trajectory(compiled("observed", "numpy")))
