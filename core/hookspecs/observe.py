"""Stages that only look: sensors, energy, and callbacks around a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail.hookspecs.markers import RULES, SLEEP, stage

if TYPE_CHECKING:
    from dovetail.contracts.types import Data, Model


@stage(
    "observe",
    reads="cvel cinert xipos ximat subtree_com",
    when="first",
    needed=f"{RULES}.sensors:of_subtrees",
    on_request=True,
)
def subtree_velocity(model: Model, data: Data) -> None:
    """Linear velocity and angular momentum of every subtree (mj_subtreeVel)."""


@stage(
    "observe",
    reads="qacc qvel cvel cdof cdof_dot cinert subtree_com xpos xmat xipos site_xpos xfrc_applied ne efc_type efc_id "
    "efc_force ncon contact.pos contact.frame contact.geom contact.dim contact.friction contact.efc_address",
    when="first",
    needed=f"{RULES}.sensors:of_accelerations",
    on_request=True,
)
def body_forces(model: Model, data: Data) -> None:
    """Accelerations, external and interaction forces of bodies after the solver (mj_rnePostConstraint)."""


@stage(
    "observe",
    "table",
    reads="time qpos qvel act ctrl qacc xpos xquat xmat xipos ximat geom_xpos geom_xmat site_xpos site_xmat cam_xpos "
    "cam_xmat subtree_com subtree_linvel subtree_angmom cvel cacc cfrc_int cfrc_ext M ten_length ten_velocity ten_J "
    "ten_J_rownnz ten_J_rowadr ten_J_colind flexedge_length actuator_length actuator_velocity actuator_force "
    "qfrc_actuator nefc efc_type efc_id efc_pos "
    "efc_margin efc_vel efc_force ncon contact.dist contact.pos contact.frame contact.geom contact.dim "
    "contact.friction contact.efc_address sensordata",
    accumulates="sensordata",
    when="first",
    needed=f"{RULES}.sensors:sensors",
    rows=f"{RULES}.sensors:SENSORS",
)
def sensor(model: Model, data: Data) -> None:
    """Values of the sensors of one type, written at their addresses in sensordata. Key: the sensor type."""


@stage("observe", reads="qpos qvel M xipos ten_length flexedge_length", needed=f"{RULES}.sensors:energy")
def energy(model: Model, data: Data) -> None:
    """Potential and kinetic energy (mj_energyPos, mj_energyVel); runs when the enable flag asks for it, or a sensor
    of potential energy."""


@stage(
    "observe",
    reads=f"{SLEEP} time qpos tree_island sensordata cacc cfrc_int cfrc_ext",
    also_writes=f"{SLEEP} qacc qacc_smooth qfrc_smooth qfrc_constraint sensordata cacc cfrc_int cfrc_ext",
    needed=f"{RULES}.flags:sleep",
)
def rest(model: Model, data: Data) -> None:
    """What was computed of sleeping trees although they sleep becomes what MuJoCo has, which passes them over: no
    acceleration, the sensors' last readings. After a reset, put the trees to sleep that begin so."""


@stage(
    "observe",
    reads="tree_asleep qpos qvel xfrc_applied qfrc_applied nefc nisland tree_island",
    also_writes="qvel qacc qfrc_smooth qfrc_constraint",
    needed=f"{RULES}.flags:sleep",
)
def sleep(model: Model, data: Data) -> None:
    """Decide which trees fall asleep, and which bodies and dofs are awake (mj_sleep)."""


@stage("observe", "all", when="first")
def step_begin(model: Model, data: Data) -> None:
    """Called before each step; all plugins that implement it run."""


@stage("observe", "all", when="last")
def step_end(model: Model, data: Data) -> None:
    """Called after each step; all plugins that implement it run."""
