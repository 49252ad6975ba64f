"""M·qacc − qfrc_smooth = qfrc_constraint: what constraints exert is what accelerates.

Dual solvers compute qacc from the force, so it holds to rounding; primal ones stop where the difference, the gradient
of their cost, is small: not larger than MuJoCo's. Contacts that no joint can feel have rows that are stiff without
measure (no inverse inertia), whose forces must cancel exactly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from lane_backend import LANES

import dovetail

SOLVERS = {"PGS": 0, "CG": 1, "Newton": 2}
CONES = {"pyramidal": 0, "elliptic": 1}
INTEGRATORS = {"Euler": 0, "RK4": 1, "implicit": 2, "implicitfast": 3}

WITHOUT_LEVER = {
    "sphere on a hinge": '<body pos="0 0 .09"><joint axis="0 1 0"/><geom size=".1" {0}/></body>',
    "sphere on a leaning hinge": '<body pos="0 0 .09"><joint axis="1 2 0"/><geom size=".1" {0}/></body>',
    "sphere on an upright hinge": '<body pos="0 0 .09"><joint axis="0 0 1"/><geom size=".1" {0}/></body>',
    "sphere on a ball joint": '<body pos="0 0 .09"><joint type="ball"/><geom size=".1" {0}/></body>',
    "cylinder on its axle": '<body pos="0 0 .09"><joint axis="0 1 0"/>'
    '<geom type="cylinder" size=".1 .05" euler="90 0 0" {0}/></body>',
    "box on rails": '<body pos="0 0 .09"><joint type="slide" axis="1 0 0"/>'
    '<geom type="box" size=".1 .1 .1" {0}/></body>',
}


def scene(name: str, solver: str, cone: str, condim: int, noslip: int = 0) -> str:
    option = f'<option solver="{solver}" cone="{cone}" noslip_iterations="{noslip}"/>'
    body = WITHOUT_LEVER[name].format(f'condim="{condim}"')
    return f'<mujoco>{option}<worldbody><geom type="plane" size="1 1 1"/>{body}</worldbody></mujoco>'


def out_of_balance(model: Any, theirs: Any, fields: Any) -> float:
    """Largest joint force by which the identity fails, relative to the largest there is."""
    inertial = np.zeros(model.nv)
    mujoco.mj_mulM(model, theirs, inertial, np.array(fields("qacc"), float).ravel())
    smooth, constraint = np.ravel(fields("qfrc_smooth")), np.ravel(fields("qfrc_constraint"))
    size = max(1.0, float(np.abs(smooth).max()), float(np.abs(constraint).max()))
    return float(np.abs(inertial - smooth - constraint).max()) / size


@pytest.mark.covering(2)
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if number % 2 else pytest.mark.slow)
        for number, name in enumerate(WITHOUT_LEVER)
    ],
)
def test_contacts_that_no_joint_feels_exert_nothing(name: str, solver: str, cone: str) -> None:
    for condim in (1, 3, 4, 6):
        for noslip in (0, 3):
            xml = scene(name, solver, cone, condim, noslip)
            theirs_model = mujoco.MjModel.from_xml_string(xml)
            theirs, model = mujoco.MjData(theirs_model), dovetail.loads(xml)
            ours = dovetail.make_data(model)
            mujoco.mj_forward(theirs_model, theirs)
            dovetail.forward(model, ours)
            assert out_of_balance(theirs_model, theirs, ours.field) <= 1e-12
            # rounding of forces of 1e16 may be left in MuJoCo's, whose sweeps add in another order
            assert (np.abs(ours.qacc) <= np.abs(theirs.qacc) + 1e-10).all()
            assert (np.abs(ours.qfrc_constraint) <= np.abs(theirs.qfrc_constraint) + 1e-10).all()


def test_a_contact_that_no_joint_feels_exerts_nothing_in_lanes() -> None:
    xml = scene("sphere on a hinge", "CG", "pyramidal", 6)
    sim = dovetail.Simulation(dovetail.loads(xml), backend=LANES, nworld=2, keep="all")
    sim.forward()
    assert not sim.data.qfrc_constraint.any()
    assert not sim.data.qacc.any()


QUICK = ["gymnasium/ant", "suite/finger"]
UNSTABLE = 1e6
"""Acceleration of a model that its integrator does not suit."""
OTHERS = [
    f"gymnasium/{name}" for name in ("humanoid", "hopper", "half_cheetah", "pusher_v5", "swimmer", "walker2d")
]
OTHERS += [
    f"suite/{name}"
    for name in ("cheetah", "dog", "fish", "stacker", "manipulator", "humanoid_CMU", "quadruped")
]


def path_of(name: str) -> str:
    package, file = name.split("/")
    if package == "suite":
        folder = Path(pytest.importorskip("dm_control").__file__).parent / "suite"
    else:
        folder = Path(pytest.importorskip("gymnasium").__file__).parent / "envs" / "mujoco" / "assets"
    return str(folder / f"{file}.xml")


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_real_models_are_in_balance(name: str) -> None:
    theirs_model, model = mujoco.MjModel.from_xml_path(path_of(name)), dovetail.load(path_of(name))
    for solver in SOLVERS.values():
        for cone in CONES.values():
            for integrator in INTEGRATORS.values():
                for opt in (theirs_model.opt, model.opt):
                    opt.solver, opt.cone, opt.integrator = solver, cone, integrator
                compare_in_motion(theirs_model, model)


def compare_in_motion(theirs_model: Any, model: Any) -> None:
    """Ours in two of the states that MuJoCo passes."""
    theirs, ours, random = mujoco.MjData(theirs_model), dovetail.make_data(model), np.random.default_rng(0)
    for _ in range(2):
        theirs.ctrl[:] = 0.3 * random.normal(size=theirs_model.nu)
        mujoco.mj_step(theirs_model, theirs, 60)
        for name in ("qpos", "qvel", "ctrl", "act", "qacc_warmstart", "mocap_pos", "mocap_quat"):
            setattr(ours, name, getattr(theirs, name).copy())
        mujoco.mj_forward(theirs_model, theirs)
        if np.abs(theirs.qacc).max() > UNSTABLE:
            return
        dovetail.forward(model, ours)
        reference = out_of_balance(theirs_model, theirs, lambda name: getattr(theirs, name))
        assert out_of_balance(theirs_model, theirs, ours.field) <= 2.0 * reference + 1e-11
