"""Stages that depend on positions and velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.hookspecs.markers import RULES, stage

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model


@stage(
    "velocity",
    reads="qvel ten_J ten_J_rownnz ten_J_rowadr ten_J_colind actuator_moment moment_rownnz moment_rowadr "
    "moment_colind flexedge_J flexedge_J_rownnz flexedge_J_rowadr flexedge_J_colind",
    needed=f"{RULES}.counts:tendons_actuators_and_flexes",
)
def transmission_velocity(model: Model, data: Data) -> None:
    """Rates of change of tendon, flex-edge and actuator lengths: Jacobian times qvel (mj_fwdVelocity)."""


@stage("velocity", reads="qvel cdof")
def com_velocity(model: Model, data: Data) -> None:
    """Spatial velocities of bodies and rates of the dofs' motion axes, about the tree's centre (mj_comVel)."""


@stage(
    "velocity",
    "table",
    reads="qpos qvel qfrc_passive xpos xquat xipos ximat xmat geom_xpos geom_xmat cvel cdof subtree_com ten_length "
    "ten_velocity ten_J ten_J_rownnz ten_J_rowadr ten_J_colind flexedge_length flexedge_velocity flexedge_J "
    "flexedge_J_rownnz flexedge_J_rowadr flexedge_J_colind flexvert_xpos ncon contact.dist "
    "contact.pos contact.frame contact.geom contact.flex contact.elem contact.vert contact.exclude",
    accumulates="qfrc_passive",
    rows=f"{RULES}.forces:PASSIVE_FORCES",
)
def passive_force(model: Model, data: Data) -> None:
    """One passive force: write its own field and add it to qfrc_passive (mj_passive). Built-in keys: spring, damper,
    tendon_spring, tendon_damper, gravcomp, fluid, flex, contact; a plugin may add its own. The plan zeroes
    qfrc_passive first."""


@stage(
    "velocity",
    reads="qvel cvel nefc efc_J efc_J_rownnz efc_J_colind efc_pos efc_margin efc_KBIP",
    needed=f"{RULES}.constraints:constrained",
)
def constraint_reference(model: Model, data: Data) -> None:
    """Velocity of each constraint row and its reference acceleration (mj_referenceConstraint)."""


@stage(
    "velocity",
    reads="qvel cvel cdof cdof_dot cinert ten_J ten_J_rownnz ten_J_rowadr ten_J_colind site_xpos subtree_com",
)
def bias_force(model: Model, data: Data) -> None:
    """Coriolis, centrifugal and gravitational forces by recursive Newton-Euler (mj_rne without acceleration), and
    those of tendons with armature (mj_tendonBias)."""
