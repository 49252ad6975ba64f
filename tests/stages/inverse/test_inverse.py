"""Inverse dynamics is MuJoCo's: smooth and constraint forces, discrete time, sensors, comparison with forward."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from moving_models import INTEGRATORS, machine, same_state, set_random_state
from smooth_reference import worst_error

import dovetail
from dovetail.implementation import Implementation
from dovetail.plugins.inverse.newton_euler_numpy import inverse as compare_forward
from dovetail.plugins.inverse.newton_euler_numpy import inverse_dynamics
from dovetail.plugins.queries.inverse_dynamics import inverse
from dovetail.registry import build_registry
from dovetail.testing import parametrize_with_checks

mujoco = pytest.importorskip("mujoco")

FLAGS = ["", 'damper="disable"', 'spring="disable" damper="disable"', 'eulerdamp="disable"']
CONTINUOUS, DISCRETE = "", 'invdiscrete="enable"'
CASES = [(CONTINUOUS, "Euler"), *((DISCRETE, name) for name in ("Euler", "implicit", "implicitfast"))]


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("medium", ["vacuum", "windy", "water"])
@pytest.mark.parametrize(("time", "integrator"), CASES)
def test_forces_for_any_acceleration(time: str, integrator: str, medium: str, flag: str) -> None:
    model = mujoco.MjModel.from_xml_string(machine(medium, "ellipsoid", f"{flag} {time}"))
    model.opt.integrator = INTEGRATORS[integrator]
    for seed in range(3):
        data = mujoco.MjData(model)
        set_random_state(mujoco, model, data, seed)
        mujoco.mj_inverse(model, data)
        assert worst_error(inverse_dynamics(model, data).qfrc_inverse, data.qfrc_inverse) < 1e-13


CONTACTS = """<mujoco><option timestep=".005" jacobian="sparse" cone="{cone}"><flag fwdinv="enable"/></option>
  <worldbody><geom type="plane" size="1 1 1" condim="4"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .11"/>
    <body pos=".3 0 0"><joint name="h" damping=".1" range="-10 10" limited="true" frictionloss=".1"/>
      <geom size=".1" condim="6" pos=".1 0 0"/></body></body>
  <body name="ball" pos="0 .1 .3"><freejoint/><geom size=".1"/></body></worldbody>
  <equality><connect body1="ball" anchor="0 0 .3" active="true"/></equality>
  <actuator><motor joint="h"/></actuator></mujoco>"""


def bouncing(cone: str, states: int = 12) -> Any:
    """Model and data in the course of a fall onto the plane."""
    model = mujoco.MjModel.from_xml_string(CONTACTS.format(cone=cone))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(1)
    for _ in range(states):
        for _ in range(10):
            data.ctrl[:] = rng.normal(size=1)
            data.xfrc_applied[1] = rng.normal(size=6)
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        yield model, data


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_constraint_forces_for_any_acceleration(cone: str) -> None:
    rng = np.random.default_rng(2)
    for model, data in bouncing(cone):
        data.qacc[:] = 5.0 * rng.normal(size=model.nv)
        mujoco.mj_inverse(model, data)
        ours = inverse_dynamics(model, data)
        assert data.nefc > 3
        assert worst_error(ours.efc_force, data.efc_force[: data.nefc]) < 1e-12
        assert worst_error(ours.qfrc_inverse, data.qfrc_inverse) < 1e-12
        np.testing.assert_array_equal(ours.efc_state, data.efc_state[: data.nefc])


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_norms_of_forward_minus_inverse(cone: str) -> None:
    """With the solver stopped early, so that there is a difference to measure."""
    for model, data in bouncing(cone):
        model.opt.iterations = 1
        mujoco.mj_forward(model, data)
        ours = copy.copy(data)
        before = [np.array(getattr(data, name)) for name in ("qacc", "efc_force", "qfrc_constraint")]
        mujoco.mj_compareFwdInv(model, data)
        compare_forward(model, ours)
        # Differences of constraint forces of hundreds of newtons.
        assert worst_error(ours.solver_fwdinv, data.solver_fwdinv) < 1e-10
        assert worst_error(ours.qfrc_inverse, data.qfrc_inverse) < 1e-10
        after = [getattr(ours, name) for name in ("qacc", "efc_force", "qfrc_constraint")]
        for one, other in zip(before, after, strict=True):
            np.testing.assert_array_equal(one, other)


SENSORS = """<sensor><accelerometer site="end"/><gyro site="end"/><framepos objtype="site" objname="end"/>
  <tendonpos tendon="cord"/><subtreelinvel body="trunk"/><framelinacc objtype="body" objname="trunk"/></sensor>"""


@pytest.mark.parametrize(("time", "integrator"), CASES)
def test_public_function_leaves_what_mj_inverse_leaves(time: str, integrator: str) -> None:
    text = machine("windy", flag=f'energy="enable" {time}', more=SENSORS)
    theirs_model, model = mujoco.MjModel.from_xml_string(text), dovetail.loads(text)
    theirs_model.opt.integrator = model.opt.integrator = INTEGRATORS[integrator]
    theirs, ours = mujoco.MjData(theirs_model), dovetail.make_data(model)
    for seed in range(3):
        set_random_state(mujoco, theirs_model, theirs, seed)
        same_state(theirs, ours)
        mujoco.mj_inverse(theirs_model, theirs)
        inverse(model, ours)
        for name in (
            "qfrc_inverse",
            "sensordata",
            "energy",
            "xpos",
            "cvel",
            "qfrc_passive",
            "qfrc_bias",
            "qacc",
        ):
            assert worst_error(ours.field(name), getattr(theirs, name)) < 1e-11, name


def test_discrete_time_needs_an_integrator_of_one_evaluation() -> None:
    model = dovetail.loads(machine(flag=DISCRETE))
    model.opt.integrator = INTEGRATORS["RK4"]
    with pytest.raises(ValueError, match=r"invdiscrete .* RK4 .* use Euler, implicit or implicitfast"):
        inverse(model, dovetail.make_data(model))


REGISTRY = build_registry(third_party=False)
RECORDS = [record for record in REGISTRY.implementations if record.stage == "inverse"]
COMPARED = machine(flag='fwdinv="enable"')


@parametrize_with_checks(RECORDS, registry=REGISTRY, models={"compared": COMPARED})
def test_house_checks_hold(implementation: Implementation, check: Callable[[Any], None]) -> None:
    check(implementation)
