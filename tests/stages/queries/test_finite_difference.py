"""Finite differences of a step and of inverse dynamics follow MuJoCo's rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from moving_models import INTEGRATORS, machine, same_state, set_random_state
from smooth_reference import worst_error

import dovetail
from dovetail.plugins.queries.finite_difference import inverse_fd, transition_fd
from dovetail.plugins.queries.inverse_dynamics import inverse

mujoco = pytest.importorskip("mujoco")

EPS = 1e-6
TOLERANCE = 1e-7
"""Of the largest entry. Both sides round states of the order of 10 at 1e-15 before dividing by 1e-6; the worst
measured is 1e-8."""

SENSORS = """<sensor><accelerometer site="end"/><gyro site="end"/><framepos objtype="site" objname="end"/>
  <actuatorfrc actuator="servo"/><tendonpos tendon="cord"/><subtreelinvel body="trunk"/></sensor>"""
WITHOUT_ACTUATOR = SENSORS.replace('<actuatorfrc actuator="servo"/>', "")

ONE_STEP = ("Euler", "implicit", "implicitfast")


def both(text: str, integrator: str, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """MuJoCo's model and data, and dovetail's in the same random state."""
    theirs_model, model = mujoco.MjModel.from_xml_string(text), dovetail.loads(text)
    theirs_model.opt.integrator = model.opt.integrator = INTEGRATORS[integrator]
    theirs, ours = mujoco.MjData(theirs_model), dovetail.make_data(model)
    set_random_state(mujoco, theirs_model, theirs, seed)
    same_state(theirs, ours)
    return theirs_model, theirs, model, ours


def mujoco_transition(model: Any, data: Any, centered: bool) -> tuple[Any, ...]:
    nx, ns = 2 * model.nv + model.na, model.nsensordata
    shapes = ((nx, nx), (nx, model.nu), (ns, nx), (ns, model.nu))
    A, B, C, D = (np.zeros(shape) for shape in shapes)
    mujoco.mjd_transitionFD(model, data, EPS, centered, A, B, C, D)
    return A, B, C, D


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("integrator", ONE_STEP)
def test_transition_matrices_are_those_of_mujoco(integrator: str, centered: bool) -> None:
    theirs_model, theirs, model, ours = both(machine("windy", more=SENSORS), integrator)
    theirs.ctrl[:] = ours.ctrl[:] = 0.05
    expected = mujoco_transition(theirs_model, theirs, centered)
    found = transition_fd(model, ours, EPS, centered)
    for name, mine, wanted in zip("ABCD", found, expected, strict=True):
        # MuJoCo 3.4 subtracts the wrong way round in D when centred
        sign = -1.0 if name == "D" and centered else 1.0
        assert worst_error(mine, sign * wanted) < TOLERANCE, name


@pytest.mark.parametrize("integrator", ["implicit", "implicitfast"])
def test_controls_do_not_change_the_implicit_matrix(integrator: str) -> None:
    """A gain with a velocity term would: a full step gives another derivative than MuJoCo's rule."""
    text = """<mujoco><option timestep=".02"><flag constraint="disable"/></option><worldbody><body><joint name="j"/>
      <geom size=".1" pos=".2 0 0"/></body></worldbody><actuator><general joint="j" gaintype="affine"
      gainprm="1 0 -3"/></actuator></mujoco>"""
    theirs_model, theirs, model, ours = both(text, integrator)
    expected = mujoco_transition(theirs_model, theirs, True)[1]
    assert worst_error(transition_fd(model, ours, EPS, True).B, expected) < TOLERANCE
    ends = []
    for sign in (1.0, -1.0):
        nudged = ours.copy()
        nudged.ctrl[0] += sign * EPS
        dovetail.step(model, nudged)
        ends.append(nudged.qvel[0])
    assert abs((ends[0] - ends[1]) / (2.0 * EPS) - expected[1, 0]) > 1e-3


RANGE = """<mujoco><worldbody><body><joint name="j"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
  <actuator><motor joint="j" gear="3" ctrlrange="-1 1"/></actuator></mujoco>"""


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("ctrl", [0.0, 1.0, -1.0, 1.0 - 1e-10, 1.0 - EPS, 2.0])
def test_controls_are_nudged_within_their_range(ctrl: float, centered: bool) -> None:
    theirs_model, theirs, model, ours = both(RANGE, "Euler")
    theirs.ctrl[:] = ours.ctrl[:] = ctrl
    B = transition_fd(model, ours, EPS, centered).B
    assert worst_error(B, mujoco_transition(theirs_model, theirs, centered)[1]) < TOLERANCE
    assert (B[1, 0] == 0.0) == (ctrl > 1.0)


@pytest.mark.parametrize("actuation", [False, True])
@pytest.mark.parametrize("integrator", ONE_STEP)
def test_inverse_jacobians_are_those_of_mujoco(integrator: str, actuation: bool) -> None:
    text = machine("windy", flag='invdiscrete="enable"', more=WITHOUT_ACTUATOR)
    theirs_model, theirs, model, ours = both(text, integrator, seed=1)
    nv, ns = model.nv, model.nsensordata
    expected = {name: np.zeros((nv, nv)) for name in ("DfDq", "DfDv", "DfDa")}
    expected |= {name: np.zeros((nv, ns)) for name in ("DsDq", "DsDv", "DsDa")}
    expected["DmDq"] = np.zeros((nv, model.nM))
    mujoco.mjd_inverseFD(theirs_model, theirs, EPS, actuation, *expected.values())
    found = inverse_fd(model, ours, EPS, actuation)
    for name, wanted in expected.items():
        assert worst_error(getattr(found, name), wanted) < TOLERANCE, name


def test_the_data_is_left_alone() -> None:
    _, _, model, ours = both(machine("windy", more=SENSORS), "implicit")
    before = ours.copy()
    transition_fd(model, ours)
    inverse_fd(model, ours)
    for name, view in ours.fields():
        np.testing.assert_array_equal(view, before.field(name), err_msg=name)


def test_what_is_not_supported_says_what_is() -> None:
    model = dovetail.loads(RANGE.replace("<mujoco>", '<mujoco><option integrator="RK4"/>'))
    for function in (transition_fd, inverse_fd):
        with pytest.raises(
            ValueError, match=r"RK4; set model\.opt\.integrator to Euler, implicit or implicitfast"
        ):
            function(model, dovetail.make_data(model))
    model = dovetail.loads(RANGE.replace("<mujoco>", '<mujoco><option noslip_iterations="3"/>'))
    with pytest.raises(ValueError, match=r"noslip.*noslip_iterations to 0"):
        inverse_fd(model, dovetail.make_data(model))


STANDING = """<mujoco><option timestep=".005" tolerance="1e-16" iterations="100" cone="{cone}"/><worldbody>
  <geom type="plane" size="1 1 1"/><body pos="0 0 .099"><freejoint/><geom type="box" size=".1 .12 .1"/>
  <body pos=".3 0 .1"><joint name="j" range="-20 5" limited="true"/><geom size=".05" pos=".1 0 0"/></body></body>
  </worldbody><actuator><position joint="j" kp="5" kv=".3"/></actuator>
  <sensor><jointpos joint="j"/><jointlimitfrc joint="j"/></sensor></mujoco>"""


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_transition_in_contact_is_that_of_mujoco(integrator: str, cone: str) -> None:
    text = STANDING.format(cone=cone)
    theirs_model, theirs, model, ours = both(text, integrator)
    mujoco.mj_resetData(theirs_model, theirs)
    theirs.qpos[7] = 0.1
    for _ in range(5):
        mujoco.mj_step(theirs_model, theirs)
    same_state(theirs, ours)
    expected = mujoco_transition(theirs_model, theirs, True)
    assert theirs.ncon == 4
    found = transition_fd(model, ours, EPS, True)
    for name, mine, wanted in zip("ABC", found, expected, strict=False):
        assert worst_error(mine, wanted) < 1e-8, name


def test_a_batch_is_asked_world_by_world() -> None:
    model = dovetail.loads(RANGE)
    data = dovetail.make_data(model, nworld=3)
    data.qpos[1] = 0.4
    for function in (transition_fd, inverse_fd, inverse):
        with pytest.raises(ValueError, match=r"one world.*data\.world\(0\)"):
            function(model, data)
    alone = dovetail.make_data(model)
    alone.qpos[:] = 0.4
    np.testing.assert_array_equal(transition_fd(model, data.world(1)).A, transition_fd(model, alone).A)
    inverse(model, data.world(1))
    inverse(model, alone)
    np.testing.assert_array_equal(data.qfrc_inverse[1], alone.qfrc_inverse)
    np.testing.assert_array_equal(data.qfrc_inverse[0], 0.0)
