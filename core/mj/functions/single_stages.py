"""The stages of an evaluation by MuJoCo's names, each alone: mj_kinematics, mj_crb, mj_collision and so on.

They run on the reference, which can be read and changed stage by stage.
"""

# ruff: noqa: N816  (the names are MuJoCo's)

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.contracts.enums import DisableBit, Solver
from dovetail.contracts.fields import Array
from dovetail.mj.callbacks import CURRENT
from dovetail.mj.functions import body_forces
from dovetail.mj.functions import with_callbacks as staged
from dovetail.mj.functions.binding import function, need
from dovetail.mj.functions.engine import Engine, engine_of
from dovetail.mj.functions.staged import COLLISION
from dovetail.plugins.shared import rne_numpy
from dovetail.plugins.shared.crb_numpy import composite_inertias, mass_entries
from dovetail.plugins.shared.energy_numpy import kinetic_energy, potential_energy
from dovetail.plugins.shared.solver.cost_numpy import constraint_forces
from dovetail.plugins.shared.tree_numpy import add_from_parents, add_to_parents
from dovetail.plugins.shared.vectors_numpy import dot_rows, row_sums

if TYPE_CHECKING:
    from dovetail.mj.structs import MjData, MjModel


def _stage(name: str, stages: tuple[str, ...], about: str) -> Callable[..., Any]:
    """A function that runs stages of the reference."""

    def body(m: MjModel, d: MjData) -> None:
        engine = engine_of(m, d)
        engine.data.arena.late.settle()
        engine.forget()
        engine.stages.run(engine.data, stages)

    body.__name__, body.__doc__ = name, about
    return function("m: m, d: d")(body)


mj_kinematics = _stage("mj_kinematics", ("kinematics",), "Poses of bodies, geoms, sites and joints.")
mj_comPos = _stage("mj_comPos", ("com_position",), "Centres of mass, motion axes and inertias about them.")
mj_camlight = _stage("mj_camlight", ("camera_light",), "Poses of cameras and lights.")
mj_flex = _stage("mj_flex", ("flex_kinematics",), "Vertices, edges and boxes of flexes.")
mj_tendon = _stage("mj_tendon", ("tendon",), "Paths, lengths and Jacobians of tendons.")
mj_transmission = _stage("mj_transmission", ("transmission",), "Lengths and moment arms of actuators.")
mj_makeM = _stage("mj_makeM", ("mass_matrix",), "The mass matrix.")
mj_factorM = _stage("mj_factorM", ("factor_mass",), "The factors of the mass matrix.")
mj_makeConstraint = _stage("mj_makeConstraint", ("constraint_rows",), "Rows of constraints.")
mj_island = _stage("mj_island", ("islands",), "Which degrees of freedom constraints tie together.")
mj_comVel = _stage("mj_comVel", ("com_velocity",), "Velocities of bodies, and how motion axes change.")
mj_referenceConstraint = _stage(
    "mj_referenceConstraint", ("constraint_reference",), "Accelerations that constraints aim at."
)
mj_fwdAcceleration = _stage(
    "mj_fwdAcceleration", ("smooth_acceleration",), "Accelerations without constraints."
)
mj_fwdConstraint = _stage("mj_fwdConstraint", ("solve_constraints", "noslip"), "Constraint forces.")
mj_subtreeVel = _stage("mj_subtreeVel", ("subtree_velocity",), "Velocities and momenta of subtrees.")
mj_fwdKinematics = _stage(
    "mj_fwdKinematics",
    ("kinematics", "com_position", "camera_light", "flex_kinematics", "tendon"),
    "All poses, centres of mass and tendons.",
)


def _alone(m: MjModel, d: MjData) -> Engine:
    engine = engine_of(m, d)
    engine.data.arena.late.settle()
    engine.forget()
    return engine


@function("m: m, d: d")
def mj_crb(m: MjModel, d: MjData) -> None:
    """The mass matrix of bodies and joints, without what tendons add."""
    engine = _alone(m, d)
    model, data = engine.model, engine.data
    data.crb[:] = composite_inertias(model, data.cinert)
    if model.nv:
        data.M[:] = mass_entries(model, data.crb, data.cdof)
        data.qM[:] = 0.0
        data.qM[model.mapM2M] = data.M


@function("m: m, d: d")
def mj_collision(m: MjModel, d: MjData) -> None:
    """Contacts."""
    engine = _alone(m, d)
    for name in COLLISION:
        engine.stages.run(engine.data, [name])
        if name == "broadphase" and CURRENT.contactfilter is not None:
            staged.filter_candidates(m, d)


@function("m: m, d: d")
def mj_passive(m: MjModel, d: MjData) -> None:
    """Passive forces: springs, dampers, gravity compensation, a surrounding medium, and the callback's."""
    engine = _alone(m, d)
    engine.stages.run(engine.data, ["passive_force"])
    if CURRENT.passive is not None:
        CURRENT.passive(m, d)


@function("m: m, d: d")
def mj_fwdPosition(m: MjModel, d: MjData) -> None:
    """All that follows from positions."""
    _alone(m, d)
    staged.position(m, d)


@function("m: m, d: d")
def mj_fwdVelocity(m: MjModel, d: MjData) -> None:
    """All that follows from velocities."""
    _alone(m, d)
    staged.velocity(m, d)


@function("m: m, d: d")
def mj_fwdActuation(m: MjModel, d: MjData) -> None:
    """Forces of actuators."""
    _alone(m, d)
    staged.actuation(m, d)


@function("m: m, d: d")
def mj_invPosition(m: MjModel, d: MjData) -> None:
    """All that follows from positions, for inverse dynamics."""
    _alone(m, d)
    staged.position(m, d)


@function("m: m, d: d")
def mj_invVelocity(m: MjModel, d: MjData) -> None:
    """All that follows from velocities, for inverse dynamics."""
    _alone(m, d)
    staged.velocity(m, d)


@function("m: m, d: d")
def mj_invConstraint(m: MjModel, d: MjData) -> None:
    """Constraint forces at the accelerations in d.qacc."""
    from dovetail.plugins.inverse.newton_euler_numpy import constraint_part

    engine = _alone(m, d)
    data = engine.data
    force, state, qfrc = constraint_part(engine.model, data, np.array(data.qacc))
    data.efc_force[: len(force)], data.efc_state[: len(force)] = force, state
    data.qfrc_constraint[:] = qfrc


@function("m: m, d: d")
def mj_sensorPos(m: MjModel, d: MjData) -> None:
    """Sensors that need positions."""
    _alone(m, d)
    staged.sensors(m, d, staged.POS)


@function("m: m, d: d")
def mj_sensorVel(m: MjModel, d: MjData) -> None:
    """Sensors that need velocities."""
    _alone(m, d)
    staged.sensors(m, d, staged.VEL)


@function("m: m, d: d")
def mj_sensorAcc(m: MjModel, d: MjData) -> None:
    """Sensors that need accelerations."""
    _alone(m, d)
    staged.sensors(m, d, staged.ACC)


@function("m: m, d: d")
def mj_energyPos(m: MjModel, d: MjData) -> None:
    """Potential energy."""
    engine = engine_of(m, d)
    engine.data.energy[0] = potential_energy(engine.model, engine.data)


@function("m: m, d: d")
def mj_energyVel(m: MjModel, d: MjData) -> None:
    """Kinetic energy."""
    engine = engine_of(m, d)
    engine.data.energy[1] = kinetic_energy(engine.model, engine.data)


@function("m: m, d: d")
def mj_rnePostConstraint(m: MjModel, d: MjData) -> None:
    """Accelerations of bodies and forces on them: d.cacc, d.cfrc_int, d.cfrc_ext."""
    body_forces.request(engine_of(m, d))


@function("m: m, d: d, flg_acc: int, result: w")
def mj_rne(m: MjModel, d: MjData, flg_acc: int, result: Array) -> None:
    """Forces for velocities and gravity, and with flg_acc for the accelerations in d.qacc too (without armature)."""
    engine = engine_of(m, d)
    model, data = engine.model, engine.data
    need(len(result) == model.nv, "result should have length nv")
    if not model.nv:
        return
    acceleration = rne_numpy.bias_accelerations(model, data)
    if flg_acc:
        own = row_sums(model.dof_bodyid, data.cdof * data.qacc[:, None], model.nbody)
        add_from_parents(own, model.body_parentid)
        acceleration = acceleration + own
    force = rne_numpy.body_forces(model, data, acceleration)
    add_to_parents(force, model.body_parentid)
    result[:] = dot_rows(data.cdof, force[model.dof_bodyid])


@function("m: m, d: d")
def mj_projectConstraint(m: MjModel, d: MjData) -> None:
    """The inverse mass seen by constraint rows, which solvers over forces need (d.efc_AR); others need none."""
    engine = _alone(m, d)
    model = engine.model
    dual = int(model.opt.solver) == Solver.PGS or model.opt.noslip_iterations > 0
    if dual and not model.opt.disableflags & DisableBit.CONSTRAINT and engine.data.nefc:
        from dovetail.plugins.queries.dense import dense_jacobian
        from dovetail.plugins.shared.solver.dual_numpy import write_dual_matrix

        write_dual_matrix(model, engine.data, dense_jacobian(model, engine.data))


@function("m: m, d: d, jar: v, cost: w1?, flg_coneHessian: int")
def mj_constraintUpdate(m: MjModel, d: MjData, jar: Array, cost: Array | None, flg_coneHessian: int) -> None:
    """Forces and states of constraint rows at jar = J·qacc − aref; joint forces from them, and the cost."""
    from dovetail.plugins.queries.dense import dense_jacobian
    from dovetail.plugins.shared.solver.cost_numpy import constraint_cost

    engine = _alone(m, d)
    model, data = engine.model, engine.data
    nefc = int(data.nefc)
    need(len(jar) == nefc, "size of jar should equal nefc")
    force, state = constraint_forces(model, data, jar)
    data.efc_force[:nefc], data.efc_state[:nefc] = force, state
    data.qfrc_constraint[:] = dense_jacobian(model, data).T @ force
    if cost is not None:
        cost[0] = constraint_cost(model, data, jar)


__all__ = [name for name in globals() if name.startswith("mj_")]
