"""Stages that lead from forces to accelerations, and the integrators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dovetail.contracts.fields import Array
from dovetail.hookspecs.markers import RULES, stage

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model


FORCE_VELOCITY = (
    "qvel cdof cdof_dot cvel cinert crb subtree_com xipos ximat geom_xpos geom_xmat ctrl act actuator_length "
    "actuator_velocity actuator_moment moment_rownnz moment_rowadr moment_colind ten_J ten_J_rownnz ten_J_rowadr "
    "ten_J_colind flexedge_J flexedge_J_rownnz flexedge_J_rowadr flexedge_J_colind"
)
"""What derivatives of the smooth forces with respect to velocity depend on."""


@stage(
    "acceleration",
    reads="ctrl act actuator_length actuator_velocity actuator_moment moment_rownnz moment_rowadr moment_colind "
    "qfrc_gravcomp time",
    parts="actuator_dynamics actuator_gain actuator_bias actuator_plugin",
    needed=f"{RULES}.counts:actuators",
)
def actuation(model: Model, data: Data, parts: Any) -> None:
    """Actuator forces = gain × input + bias, mapped to joints; rates of activations (mj_fwdActuation)."""


@stage("acceleration", "table", part_of="actuation", keys="dyn")
def actuator_dynamics(model: Model, data: Data, ids: Array, ctrl: Array) -> Array:  # type: ignore[empty-body]
    """Rates of activation of actuators `ids` under (clamped) controls. Key: dyntype, as `filter`."""


@stage("acceleration", "table", part_of="actuation", keys="gain")
def actuator_gain(model: Model, data: Data, ids: Array) -> Array:  # type: ignore[empty-body]
    """Gains of actuators `ids`. Key: gaintype, as `affine`."""


@stage("acceleration", "table", part_of="actuation", keys="bias")
def actuator_bias(model: Model, data: Data, ids: Array) -> Array:  # type: ignore[empty-body]
    """Bias forces of actuators `ids`. Key: biastype, as `none`."""


@stage("acceleration", "table", part_of="actuation", keys="actuator_plugin")
def actuator_plugin(  # type: ignore[empty-body]
    model: Model, data: Data, actuator: int, config: Mapping[str, str]
) -> tuple[Array, float]:
    """Rates of all activations of an actuator that one of MuJoCo's engine plugins drives, and its force. Called when
    act_dot holds the rate that the actuator's dyntype gives its last activation. Key: the plugin, as `mujoco.pid`."""


@stage(
    "acceleration",
    reads="qfrc_passive qfrc_bias qfrc_applied qfrc_actuator xfrc_applied xipos subtree_com cdof qLD qLDiagInv "
    "tree_asleep",
)
def smooth_acceleration(model: Model, data: Data) -> None:
    """Sum of all forces but constraint forces, and the acceleration they give (mj_fwdAcceleration)."""


@stage(
    "acceleration",
    reads="qacc_smooth qfrc_smooth qacc_warmstart M qLD qLDiagInv cdof nefc efc_J efc_J_rownnz efc_J_rowadr "
    "efc_J_colind efc_D efc_R efc_aref efc_type efc_id efc_frictionloss ncon contact.dim contact.mu "
    "contact.friction nisland nidof map_idof2dof map_iefc2efc island_nv island_idofadr island_nefc island_iefcadr "
    "iM iM_rownnz iM_rowadr iM_colind iefc_J iefc_J_rownnz iefc_J_rowadr iefc_J_colind",
)
def solve_constraints(model: Model, data: Data) -> None:
    """Accelerations and constraint forces that satisfy the constraints (mj_fwdConstraint)."""


@stage(
    "acceleration",
    reads="nefc efc_J efc_J_rownnz efc_J_rowadr efc_J_colind efc_D efc_R efc_b efc_type efc_id efc_frictionloss "
    "efc_force nA efc_AR efc_AR_rownnz efc_AR_rowadr efc_AR_colind contact.dim contact.mu contact.friction "
    "qacc qacc_smooth cdof qLD qLDiagInv solver_niter",
    also_writes="efc_force efc_state qacc qfrc_constraint solver_niter solver.improvement solver.gradient "
    "solver.lineslope solver.nactive solver.nchange solver.neval solver.nupdate",
    needed=f"{RULES}.constraints:noslip",
)
def noslip(model: Model, data: Data) -> None:
    """Remove slip that the soft friction model leaves (mj_solNoSlip)."""


@stage(
    "integrate",
    reads="time qpos act_dot qacc qfrc_smooth qfrc_constraint M qLD qLDiagInv qacc_warmstart "
    + FORCE_VELOCITY,
    also_writes="qDeriv",
)
def integrate(model: Model, data: Data, evaluation: int) -> None:
    """Advance the state by one step. Called after each of the record's `evaluations` forward passes with its
    index; after the last, time, qpos, qvel and act have moved on (mj_Euler, mj_RungeKutta, mj_implicit)."""


@stage(
    "integrate",
    reads="qacc M qLD qLDiagInv qfrc_bias qfrc_passive qfrc_applied xfrc_applied qfrc_actuator qfrc_constraint "
    "nefc efc_J efc_J_rownnz efc_J_rowadr efc_J_colind efc_D efc_R efc_aref efc_type efc_id efc_frictionloss "
    "contact.dim contact.mu contact.friction " + FORCE_VELOCITY,
    when="first",
    needed=f"{RULES}.flags:fwdinv",
)
def inverse(model: Model, data: Data) -> None:
    """Forces that would produce the given accelerations, and how far they are from those that did (mj_inverse,
    mj_compareFwdInv)."""


@stage("integrate", reads=FORCE_VELOCITY)
def derivative(model: Model, data: Data) -> None:
    """Derivatives of smooth forces with respect to velocity (mjd_smooth_vel)."""
