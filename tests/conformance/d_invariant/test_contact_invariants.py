"""What holds of constrained steps whatever their numbers: laws of mechanics, and of the optimum a solver seeks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scenes

import dovetail
from dovetail.contracts.enums import Cone, ConstraintType, DisableBit, EnableBit, Solver
from dovetail.plugins.queries.contact_force import contact_force
from dovetail.plugins.queries.dense import dense_jacobian
from dovetail.plugins.queries.inverse_dynamics import inverse
from dovetail.plugins.shared.cartesian_forces_numpy import cartesian_forces

CONES = [pytest.param(cone, id=cone.name.lower()) for cone in Cone]
FINE = 'tolerance="1e-14" iterations="300"'


def simulation(name: str, option: str = FINE, **options: float) -> dovetail.Simulation:
    """A scene that moves and is pushed at random."""
    model = dovetail.loads(scenes.text(name, option))
    for key, value in options.items():
        setattr(model.opt, key, int(value))
    sim = dovetail.Simulation(model)
    rng = np.random.default_rng(3)
    sim.data.qvel[:] = 0.1 * rng.normal(size=model.nv)
    sim.data.ctrl[:] = 0.3 * rng.normal(size=model.nu)
    return sim


# ---- momentum ---------------------------------------------------------------------------------------------

DRIFTING = """<mujoco><option gravity="0 0 0" timestep=".004" cone="{cone}"/>
  <worldbody>
    <body name="a" pos="0 0 0"><freejoint/><geom type="box" size=".1 .12 .08"/>
      <body pos=".15 0 0"><joint name="h" axis="0 1 0" range="-1 1" limited="true" frictionloss=".05"/>
        <geom type="capsule" size=".03" fromto="0 0 0 .2 0 0"/><site name="tip" pos=".2 0 0"/></body></body>
    <body name="b" pos="0 .21 .01" euler="3 2 1"><freejoint/><geom size=".1" condim="6" friction=".8 .02 .01"/></body>
    <body name="c" pos="0 .41 0"><freejoint/><geom type="box" size=".1 .1 .1" condim="4"/></body>
    <body name="d" pos=".8 0 0"><freejoint/><geom type="capsule" size=".05 .1"/><site name="hook"/></body>
    <body name="e" pos=".8 .5 0"><freejoint/><geom size=".07"/></body>
  </worldbody>
  <tendon><spatial name="rope" range="0 .44" limited="true"><site site="tip"/><site site="hook"/></spatial></tendon>
  <equality><connect body1="d" body2="e" anchor="0 .25 0"/></equality></mujoco>"""


def momentum(model: Any, data: Any) -> Any:
    """Linear momentum (3) and angular momentum about the origin (3), of all trees, each rooted in a free joint."""
    return _wrench(model, data, dovetail.full_mass_matrix(model, data) @ data.qvel)


def _wrench(model: Any, data: Any, generalised: Any) -> Any:
    """Forces (or momenta) on free roots as one force and one torque about the world's origin."""
    total = np.zeros(6)
    for body in np.flatnonzero(model.body_parentid[1:] == 0) + 1:
        dof = int(model.body_dofadr[body])
        linear, local = generalised[dof : dof + 3], generalised[dof + 3 : dof + 6]
        total[:3] += linear
        total[3:] += data.xmat[body].reshape(3, 3) @ local + np.cross(data.xpos[body], linear)
    return total


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_internal_constraints_exert_no_net_force_and_no_net_torque(cone: str) -> None:
    """Contacts, a limit, friction, a rope and a connection between floating bodies. Where the two points of the
    connection have come apart its opposite forces make a torque: the gap times the force, and no more."""
    model = dovetail.loads(DRIFTING.format(cone=cone))
    sim = dovetail.Simulation(model)
    sim.data.qvel[:] = np.random.default_rng(1).normal(size=model.nv)
    sim.data.qpos[7] = 0.02  # beyond the limit
    kinds = set()
    for _ in range(60):
        sim.step()
        sim.forward()
        kinds |= set(sim.data.efc_type[: sim.data.nefc].tolist())
        rounding = 1e-12 * max(1.0, float(np.abs(sim.data.qfrc_constraint).max()))
        gap, pull = sim.data.efc_pos[: sim.data.ne], sim.data.efc_force[: sim.data.ne]
        wrench = _wrench(model, sim.data, sim.data.qfrc_constraint)
        assert np.abs(wrench[:3]).max() < rounding
        assert np.linalg.norm(wrench[3:]) < np.linalg.norm(gap) * np.linalg.norm(pull) * (1 + 1e-9) + rounding
    assert len(kinds) >= 5  # equality, friction, both limits, contacts


@pytest.mark.by_default("pyramidal")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_momentum_stays_through_collisions(cone: str) -> None:
    """Linear momentum to rounding; angular momentum as well as the step's order allows."""
    model = dovetail.loads(DRIFTING.format(cone=cone))
    sim = dovetail.Simulation(model)
    sim.data.qvel[:] = np.random.default_rng(1).normal(size=model.nv)
    sim.forward()
    start = momentum(model, sim.data)
    touched = 0
    for _ in range(100):
        sim.step()
        touched += int(sim.data.ncon > 0)
    sim.forward()
    end = momentum(model, sim.data)
    assert touched > 10
    # A jointed tree turns about its joint: its centre of mass moves on an arc that a step follows only roughly.
    np.testing.assert_allclose(end[:3], start[:3], atol=2e-2 * np.abs(start).max())
    np.testing.assert_allclose(end[3:], start[3:], atol=5e-2 * np.abs(start).max())


# ---- forces -----------------------------------------------------------------------------------------------


@pytest.mark.covering
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("name", scenes.SCENES)
def test_forces_are_those_that_constraints_can_exert(name: str, cone: Cone) -> None:
    """Pushing only, within cones, within friction losses."""
    sim = simulation(name, cone=cone)
    for _ in range(5):
        sim.step(3)
        sim.forward()
        data = sim.data
        force, kind = data.efc_force[: data.nefc], data.efc_type[: data.nefc]
        pushing = np.isin(kind, [int(k) for k in PUSHING])
        assert (force[pushing] >= 0.0).all()
        friction = np.isin(kind, (int(ConstraintType.FRICTION_DOF), int(ConstraintType.FRICTION_TENDON)))
        assert (np.abs(force[friction]) <= data.efc_frictionloss[: data.nefc][friction] * (1 + 1e-12)).all()
        for contact in range(data.ncon):
            normal, *rest = contact_force(sim.model, data, contact)
            scaled = np.array(rest) / data.contact.friction[contact]
            reach = np.linalg.norm(scaled) if cone == Cone.ELLIPTIC else np.abs(scaled).sum()
            assert normal >= 0.0
            assert reach <= normal * (1 + 1e-9) + 1e-9


PUSHING = (
    ConstraintType.LIMIT_JOINT,
    ConstraintType.LIMIT_TENDON,
    ConstraintType.CONTACT_FRICTIONLESS,
    ConstraintType.CONTACT_PYRAMIDAL,
)


@pytest.mark.parametrize("name", scenes.SCENES)
def test_force_or_motion_but_not_both(name: str) -> None:
    """Rows that push do so only against a motion towards violation: f ≥ 0 ⊥ J·a − aref + R·f ≥ 0."""
    sim = simulation(name, cone=Cone.PYRAMIDAL)
    pushed = idle = 0
    for _ in range(5):
        sim.step(3)
        sim.forward()
        data = sim.data
        n = data.nefc
        force = data.efc_force[:n]
        slack = dense_jacobian(sim.model, data) @ data.qacc - data.efc_aref[:n] + data.efc_R[:n] * force
        rows = np.isin(data.efc_type[:n], [int(k) for k in PUSHING])
        scale = max(1.0, float(np.abs(data.efc_aref[:n]).max()))
        assert (slack[rows] >= -1e-6 * scale).all()
        assert (np.abs(force * slack)[rows] <= 1e-6 * scale * max(1.0, float(force.max()))).all()
        pushed += int((force[rows] > 0).sum())
        idle += int((slack[rows] > 1e-3).sum())
    assert pushed
    assert idle


# ---- the optimum does not depend on how it is sought --------------------------------------------------------


def states(sim: dovetail.Simulation, steps: int) -> Any:
    found = []
    for _ in range(steps):
        sim.step()
        found.append(np.concatenate([sim.data.qpos, sim.data.qvel]))
    return np.array(found)


@pytest.mark.covering
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("name", scenes.SCENES)
def test_steps_by_islands_equal_steps_of_the_whole(name: str, cone: Cone) -> None:
    together = simulation(name, cone=cone, disableflags=DisableBit.ISLAND)
    apart = simulation(name, cone=cone)
    difference = states(apart, 8) - states(together, 8)
    assert apart.data.nisland > 1 or name == "walker"
    assert together.data.nisland == 0
    assert np.abs(difference).max() < 1e-8


@pytest.mark.covering
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("name", scenes.SCENES)
def test_a_warm_start_does_not_change_the_answer(name: str, cone: Cone) -> None:
    warm, cold = (simulation(name, cone=cone, disableflags=flags) for flags in (0, DisableBit.WARMSTART))
    assert np.abs(states(warm, 8) - states(cold, 8)).max() < 1e-8


@pytest.mark.parametrize("cone", CONES)
def test_solvers_agree_on_the_answer(cone: Cone) -> None:
    """Newton and CG seek the same optimum; PGS reaches it with pyramids."""
    solvers = [Solver.NEWTON, Solver.CG] + [Solver.PGS] * (cone == Cone.PYRAMIDAL)
    answers = []
    for solver in solvers:
        sim = simulation("walker", 'tolerance="1e-16" iterations="3000"', cone=cone, solver=solver)
        sim.forward()
        answers.append(np.array(sim.data.qacc))
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], atol=1e-6 * np.abs(answers[0]).max())


@pytest.mark.covering
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("name", scenes.SCENES)
def test_inverse_dynamics_returns_what_acted(name: str, cone: Cone) -> None:
    """Constraint forces included, to what the solver left."""
    sim = simulation(name, cone=cone)
    for _ in range(3):
        sim.step(3)
        sim.forward()
        data = sim.data
        acted = data.qfrc_applied + data.qfrc_actuator + cartesian_forces(sim.model, data)
        constraint = np.array(data.qfrc_constraint)
        inverse(sim.model, data)
        scale = max(1.0, float(np.abs(constraint).max()))
        np.testing.assert_allclose(data.qfrc_constraint, constraint, atol=1e-6 * scale)
        np.testing.assert_allclose(data.qfrc_inverse, acted, atol=1e-6 * scale)


# ---- what contacts are for --------------------------------------------------------------------------------

DROPPED = """<mujoco><option timestep=".004" cone="{cone}"><flag energy="enable"/></option>
  <worldbody><geom type="plane" size="3 3 .1"/>{bodies}</worldbody></mujoco>"""


def dropped(cone: str) -> dovetail.Simulation:
    """Boxes, balls and capsules above the floor and each other, all damped by their contacts only."""
    shapes = ('type="box" size=".1 .12 .08"', 'size=".1"', 'type="capsule" size=".06 .08"')
    bodies = "".join(
        f'<body pos="{0.15 * (i % 2)} {0.03 * i} {0.15 + 0.22 * i}" euler="{7 * i} {5 * i} 0"><freejoint/>'
        f"<geom {shapes[i % 3]}/></body>"
        for i in range(6)
    )
    return dovetail.Simulation(dovetail.loads(DROPPED.format(cone=cone, bodies=bodies)))


@pytest.mark.by_default("elliptic")
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_a_heap_comes_to_rest_without_sinking_in_or_gaining_energy(cone: str) -> None:
    sim = dropped(cone)
    sim.forward()
    start = float(sim.data.energy.sum())
    deepest, most = 0.0, start
    for _ in range(60):
        sim.step(4)
        deepest = min(deepest, float(sim.data.contact.dist[: sim.data.ncon].min(initial=0.0)))
        most = max(most, float(sim.data.energy.sum()))
    # A body falling a metre meets the floor at 4.5 m/s and goes 18 mm in one step.
    assert deepest > -0.03
    assert most <= start + 1e-3 * abs(start)
    assert sim.data.energy.sum() < 0.7 * start


def test_a_resting_box_neither_sinks_nor_creeps_nor_heats() -> None:
    model = dovetail.loads(
        '<mujoco><option timestep=".004"><flag energy="enable"/></option><worldbody>'
        '<geom type="plane" size="3 3 1"/><body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
        "</worldbody></mujoco>"
    )
    assert model.opt.enableflags == int(EnableBit.ENERGY)
    sim = dovetail.Simulation(model)
    sim.step(150)
    settled = np.array(sim.data.qpos)
    sim.step(150)
    np.testing.assert_allclose(sim.data.qpos, settled, atol=1e-7)
    assert sim.data.energy[1] < 1e-12
    assert 0.0 > settled[2] - 0.1 > -1e-3
    assert sim.data.efc_force[: sim.data.nefc].sum() == pytest.approx(9.81 * model.body_mass[1], rel=1e-9)
