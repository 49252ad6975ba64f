"""Stages that lead from forces to accelerations, and the integrators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dovetail.contracts.fields import Array
from dovetail.hookspecs.markers import stage

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model


@stage(
    "acceleration",
    reads="ctrl act actuator_length actuator_velocity actuator_moment moment_rownnz moment_rowadr moment_colind "
    "qfrc_gravcomp time",
    parts="actuator_dynamics actuator_gain actuator_bias",
)
def actuation(model: Model, data: Data, parts: Any) -> None:
    """Actuator forces = gain × input + bias, mapped to joints; rates of activations (mj_fwdActuation)."""


@stage("acceleration", "table", part_of="actuation")
def actuator_dynamics(model: Model, data: Data, ids: Array, ctrl: Array) -> Array:  # type: ignore[empty-body]
    """Rates of activation of actuators `ids` under (clamped) controls. Key: dyntype, as `filter`."""


@stage("acceleration", "table", part_of="actuation")
def actuator_gain(model: Model, data: Data, ids: Array) -> Array:  # type: ignore[empty-body]
    """Gains of actuators `ids`. Key: gaintype, as `affine`."""


@stage("acceleration", "table", part_of="actuation")
def actuator_bias(model: Model, data: Data, ids: Array) -> Array:  # type: ignore[empty-body]
    """Bias forces of actuators `ids`. Key: biastype, as `none`."""


@stage(
    "acceleration",
    reads="qfrc_passive qfrc_bias qfrc_applied qfrc_actuator xfrc_applied xipos subtree_com cdof qLD qLDiagInv",
)
def smooth_acceleration(model: Model, data: Data) -> None:
    """Sum of all forces but constraint forces, and the acceleration they give (mj_fwdAcceleration)."""


@stage(
    "acceleration",
    reads="qacc_smooth qfrc_smooth qacc_warmstart M qLD qLDiagInv nefc efc_J efc_J_rownnz efc_J_rowadr "
    "efc_J_colind efc_D efc_R efc_aref efc_type efc_id efc_frictionloss contact.dim contact.mu contact.friction",
)
def solve_constraints(model: Model, data: Data) -> None:
    """Accelerations and constraint forces that satisfy the constraints (mj_fwdConstraint)."""


@stage("acceleration", reads="nefc efc_J efc_force efc_R qacc qacc_smooth qfrc_constraint qLD qLDiagInv")
def noslip(model: Model, data: Data) -> None:
    """Remove slip that the soft friction model leaves (mj_solNoSlip)."""


@stage(
    "integrate",
    reads="time qpos qvel act act_dot qacc qfrc_smooth qfrc_constraint M qLD qLDiagInv qacc_warmstart",
)
def integrate(model: Model, data: Data, evaluation: int) -> None:
    """Advance the state by one step. Called after each of the record's `evaluations` forward passes with its
    index; after the last, time, qpos, qvel and act have moved on (mj_Euler, mj_RungeKutta, mj_implicit)."""


@stage("integrate", reads="qacc qvel M qfrc_bias qfrc_passive qfrc_constraint")
def inverse(model: Model, data: Data) -> None:
    """Forces that would produce the given accelerations (mj_inverse)."""


@stage("integrate", reads="qpos qvel ctrl act")
def derivative(model: Model, data: Data) -> None:
    """Derivatives of smooth forces with respect to velocity (mjd_smooth_vel)."""
