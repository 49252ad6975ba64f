"""Plans that observe contacts: body forces and sensors join the solver's kernel, and what cannot falls back alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from lane_backend import LANES

import dovetail
from dovetail.compare.errors import relative_error
from dovetail.config import Config
from dovetail.planning.plan import Plan
from dovetail.planning.planner import compile_plan
from dovetail.planning.wrappers import Profiler

NWORLD, STEPS = 11, 25
TOLERANCE = 1e-9

MODEL = """
<mujoco model="dropped">
  <option timestep=".005"/>
  <worldbody>
    <geom type="plane" size="2 2 .1" condim="1"/>
    <body name="ball" pos="0 0 .1"><joint type="slide" axis=".1 0 1"/>
      <geom name="ball" size=".1" condim="1" contype="2"/><site name="skin" size=".15"/>
      <body pos="0 0 .2"><joint name="flap" axis="0 1 0" range="-5 5" limited="true"/>
        <geom name="flap" type="ellipsoid" size=".03 .02 .04" pos=".2 0 0" contype="0" conaffinity="0"/>
        <site name="tip" pos=".2 0 0"/></body>
    </body>
  </worldbody>
  <sensor>
    <touch site="skin"/><jointlimitfrc joint="flap"/><force site="tip"/>
    <contact geom1="ball" data="found force" num="1"/>{more}
  </sensor>
</mujoco>
"""
UNCONSTRAINED = '<option><flag constraint="disable"/></option><worldbody>'
FAR = '<distance geom1="ball" geom2="flap" cutoff="9"/><jointpos joint="flap"/>'


@cache
def model(more: str = "", free: bool = False) -> Any:
    text = MODEL.format(more=more)
    return dovetail.loads(text.replace("<worldbody>", UNCONSTRAINED) if free else text)


def plan(
    backend: str, keep: tuple[str, ...] = ("sensordata", "cfrc_ext"), more: str = "", **said: Any
) -> Plan:
    config = Config.of_call(said.pop("stages", None), backend=backend, keep=keep)
    return compile_plan(model(more, said.pop("free", False)), config, nworld=NWORLD, **said)


def trajectory(plan: Plan) -> dict[str, np.ndarray]:
    data, rng = plan.make_data(), np.random.default_rng(3)
    data.qvel[:] = rng.normal(size=data.qvel.shape)
    plan.step(data, STEPS)
    return {name: np.array(data.field(name)) for name in ("qpos", "qvel", "sensordata", "cfrc_ext")}


def on_numpy(plan: Plan) -> list[str]:
    return [slot.label for slot in plan.slots if slot.record.backend == "numpy"]


def test_what_contacts_do_is_observed_in_the_solvers_kernel() -> None:
    found = plan(LANES)
    assert (on_numpy(found), len(found.segments())) == ([], 1)
    ours, theirs = trajectory(found), trajectory(plan("numpy"))
    assert {n: relative_error(ours[n], theirs[n]) <= TOLERANCE for n in theirs} == dict.fromkeys(theirs, True)
    touched = theirs["sensordata"][:, 0] > 0
    assert touched.any()
    assert (theirs["sensordata"][:, 1] > 0).any(), "no limit was reached"
    assert np.array_equal(theirs["sensordata"][:, 5] > 0, touched)


def test_a_sensor_without_lanes_falls_back_alone() -> None:
    found = plan(LANES, more=FAR)
    assert on_numpy(found) == ["sensor:geomdist"]
    groups = [[slot.label for slot in group] for group in found.segments()]
    assert groups[0][-1] == "integrate"
    assert groups[1:] == [["sensor:geomdist"]]
    assert "does not handle distance.sphere-ellipsoid" in found.choices["sensor:geomdist"].fallback
    assert "once per call, after its last step, world by world: sensor:geomdist" in found.explain()
    assert "once per call" not in plan(LANES).explain()


def test_a_late_sensor_reads_what_it_would_have_read_in_the_last_step() -> None:
    ours, theirs = (trajectory(plan(backend, more=FAR, free=True)) for backend in (LANES, "numpy"))
    assert relative_error(ours["sensordata"], theirs["sensordata"]) <= TOLERANCE
    assert len(np.unique(theirs["sensordata"][:, -2])) == NWORLD, "all distances are alike"


def test_readings_stay_through_the_evaluations_of_a_step() -> None:
    """Runge-Kutta evaluates four times, sensors read in the first. With one of them on NumPy each evaluation is a
    launch of its own, in which tiles take turns with the kernel's memory."""
    plans = [plan(b, more=FAR, free=True, stages={"integrate": "rk4"}) for b in (LANES, "numpy")]
    assert (plans[0].evaluations, len(plans[0].segments())) == (4, 2)
    ours, theirs = (trajectory(each) for each in plans)
    assert relative_error(ours["sensordata"], theirs["sensordata"]) <= TOLERANCE
    assert len(np.unique(theirs["sensordata"][:, -2])) == NWORLD, "all distances are alike"


def test_a_sensor_that_reads_what_the_step_changes_is_not_computed_once_per_call() -> None:
    found = plan(LANES, more=FAR, stages={"sensor:jointpos": "@numpy"})
    assert not found.once_per_call
    assert [len(group) for group in found.segments()][1:] == [2, 1]
    assert "steps are launched one by one, 3 segments each" in found.explain()


def test_body_forces_run_if_their_results_are_asked_for() -> None:
    assert "body_forces" in [slot.label for slot in plan("numpy", keep=("cfrc_ext",)).slots]
    bare = dovetail.loads(MODEL.format(more="").replace('<force site="tip"/>', ""))
    kept = compile_plan(bare, Config.of_call(backend="numpy", keep=("cfrc_int",)))
    assert "body_forces" in [slot.label for slot in kept.slots]
    usual = compile_plan(bare, Config.of_call(backend="numpy"))
    assert "body_forces" in usual.skipped


def test_a_wrapped_solver_sends_its_followers_to_the_reference() -> None:
    found = plan(LANES, wrappers=(Profiler(stages="solve_constraints"),))
    assert {"body_forces", "sensor:touch", "sensor:contact", "sensor:jointlimitfrc"} <= set(on_numpy(found))
    assert "reads body_rows.force, a field of one kernel" in found.choices["sensor:touch"].fallback


@pytest.mark.parametrize("name", ["force", "jointpos"])
def test_rows_that_follow_nothing_stay_in_lanes(name: str) -> None:
    found = plan(LANES, more=FAR, wrappers=(Profiler(stages="solve_constraints"),))
    assert found.choices[f"sensor:{name}"].record.backend == LANES


STUCK = """
<mujoco model="stuck">
  <option timestep=".005"/>
  <worldbody>
    <geom type="plane" size="2 2 .1" condim="1"/>
    <body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".1" condim="1" gap=".02" margin=".02"/></body>
    <body name="held" pos="1 0 .1"><joint type="slide" axis="0 .3 1"/><geom size=".1" condim="1" margin=".01"/></body>
  </worldbody>
  <actuator><adhesion body="held" ctrlrange="0 5" gain="3"/></actuator>
</mujoco>
"""


def stuck(backend: str) -> Plan:
    config = Config.of_call(backend=backend, keep=("qfrc_actuator",))
    return compile_plan(dovetail.loads(STUCK), config, nworld=9)


def test_adhesion_is_in_the_kernel_of_its_contacts() -> None:
    found = stuck(LANES)
    assert (on_numpy(found), len(found.segments())) == ([], 1)


@pytest.mark.slow
def test_adhesion_holds_as_in_the_reference() -> None:
    results = []
    for found in (stuck(LANES), stuck("numpy")):
        data = found.make_data()
        data.ctrl[:] = np.linspace(0, 4, 9)[:, None]
        data.qpos[:] = np.linspace(-0.01, 0.02, 18).reshape(9, 2)
        found.step(data, 15)
        results.append({n: np.array(data.field(n)) for n in ("qpos", "qvel", "qfrc_actuator")})
    ours, theirs = results
    assert theirs["qfrc_actuator"].any()
    assert max(relative_error(ours[n], theirs[n]) for n in theirs) <= TOLERANCE
