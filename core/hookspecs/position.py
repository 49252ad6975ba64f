"""Stages that depend on positions only. Each runs once per forward evaluation, in the order of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dovetail.contracts.fields import Array
from dovetail.hookspecs.markers import CONTACT_LIST, ROW_LIST, RULES, SLEEP, TENDONS, stage

if TYPE_CHECKING:
    from dovetail.contracts.pairs import FlexContacts, FlexPairs, PairContacts
    from dovetail.contracts.sdf_shapes import SdfShape
    from dovetail.contracts.types import Data, Model


@stage("position", reads="qpos mocap_pos mocap_quat")
def kinematics(model: Model, data: Data) -> None:
    """World poses of bodies, inertial frames, joints, geoms and sites from joint positions (mj_kinematics)."""


@stage("position", reads="xpos xmat xipos ximat xanchor xaxis")
def com_position(model: Model, data: Data) -> None:
    """Subtree centres of mass; inertias and motion axes of dofs about the tree's centre of mass (mj_comPos)."""


@stage("position", reads="xpos xmat xquat xipos subtree_com", needed=f"{RULES}.counts:cameras_and_lights")
def camera_light(model: Model, data: Data) -> None:
    """World poses of cameras and lights in every tracking mode (mj_camlight)."""


@stage("position", reads="xpos xmat subtree_com cdof", needed=f"{RULES}.counts:flexes")
def flex_kinematics(model: Model, data: Data) -> None:
    """Flex vertices, boxes of elements and of their trees, edge lengths and edge Jacobians (mj_flex)."""


@stage(
    "position",
    reads="qpos xpos xmat site_xpos geom_xpos geom_xmat subtree_com cdof",
    needed=f"{RULES}.counts:tendons",
)
def tendon(model: Model, data: Data) -> None:
    """Tendon lengths, Jacobians and wrapping paths (mj_tendon)."""


@stage("position", reads="cinert cdof ten_J ten_J_rownnz ten_J_rowadr ten_J_colind")
def mass_matrix(model: Model, data: Data) -> None:
    """Joint-space inertia by the composite rigid body method, sparse by row (mj_crb, mj_makeM)."""


@stage("position", reads="M qM")
def factor_mass(model: Model, data: Data) -> None:
    """Factor the inertia as LᵀDL within its own sparsity (mj_factorM)."""


@stage(
    "position",
    reads="geom_xpos geom_xmat flexvert_xpos flexelem_aabb bvh_aabb_dyn xpos xmat",
    needed=f"{RULES}.contacts:collidable",
)
def broadphase(model: Model, data: Data) -> None:
    """Candidate pairs of geoms, flex elements and flex vertices: filters, then boxes widened by margins
    (mj_broadphase), in the order in which contacts are reported."""


@stage(
    "position",
    reads="geom_xpos geom_xmat flexvert_xpos flexelem_aabb ncandidate candidate_geom candidate_pair "
    "candidate_flex candidate_elem candidate_vert",
    parts="collide_pair collide_flex combine_margin contact_range",
    needed=f"{RULES}.contacts:collidable",
)
def narrowphase(model: Model, data: Data, parts: Any) -> None:
    """Contacts of the candidate pairs: distance, position, frame (mj_collision); dispatches to collide_pair and, for
    pairs with a flex, to collide_flex."""


@stage(
    "position",
    "table",
    reads="geom_xpos geom_xmat",
    parts="sdf_shape",
    part_of="narrowphase",
    keys="meeting",
    every_key=False,
)
def collide_pair(  # type: ignore[empty-body]
    model: Model, data: Data, geom1: int, geom2: int, margin: float, parts: Any
) -> PairContacts:
    """Contacts of one geom pair no farther apart than `margin`, the normal from the first to the second. Key: the
    two type names in MuJoCo's order of types, as `sphere-box`. A row that takes `parts` is given its tables when the
    plan is made; the narrowphase calls every row with the first five arguments."""


@stage(
    "position",
    "table",
    reads="geom_xpos geom_xmat flexvert_xpos flexelem_aabb",
    part_of="narrowphase",
    keys="flex_meeting",
)
def collide_flex(  # type: ignore[empty-body]
    model: Model, data: Data, pairs: FlexPairs, margin: Array
) -> FlexContacts:
    """Contacts of many pairs of one kind of which at least one side is a flex, each no farther apart than its
    `margin` (n), the normal from the first side to the second. Key: the two shapes, as `sphere-triangle`: a type of
    geom first, then `vertex`, `segment`, `triangle` or `tetrahedron`; of two flex shapes, the one of lower dimension
    first, whichever side it is."""


@stage("position", "table", part_of="collide_pair", keys="sdf_shape")
def sdf_shape(config: Mapping[str, str]) -> SdfShape:  # type: ignore[empty-body]
    """The signed distance of a shape that one of MuJoCo's engine plugins gives to geoms of type sdf, in the geom's
    frame. `config` holds the texts of its attributes, empty where none was written. Key: the plugin, as
    `mujoco.sdf.torus`."""


@stage("position", part_of="contact_params")
def combine_margin(first: Array, second: Array) -> Array:  # type: ignore[empty-body]
    """Margin, or gap, of contacts between geoms whose own are `first` and `second` (n each): the larger, or a
    plugin's own rule."""


@stage("position", part_of="contact_params")
def contact_range(margin: Array, gap: Array) -> tuple[Array, Array]:  # type: ignore[empty-body]
    """Distance within which contacts are found, and distance below which they push (n each), from the margin and gap
    (n each) of every contact."""


@stage(
    "position",
    reads="contact.geom contact.flex contact.elem contact.vert contact.dist ncon contact_candidate "
    "candidate_pair",
    also_writes="contact.dim contact.friction contact.solref contact.solreffriction contact.solimp "
    "contact.includemargin contact.exclude",
    parts="combine_friction resolve_priority mix_solver combine_margin contact_range",
    needed=f"{RULES}.contacts:collidable",
)
def contact_params(model: Model, data: Data, parts: Any) -> None:
    """Friction, solver parameters, margin, gap and dimension of each contact (mj_contactParam)."""


@stage("position", part_of="contact_params")
def combine_friction(first: Array, second: Array) -> Array:  # type: ignore[empty-body]
    """Friction (n, 3) of contacts between geoms of equal priority from the friction of each: slide, spin, roll."""


@stage("position", part_of="contact_params")
def resolve_priority(first: Array, second: Array) -> Array:  # type: ignore[empty-body]
    """Whose parameters count, per contact (n), from the priorities: -1 the first geom's, +1 the second's, 0 both."""


@stage("position", part_of="contact_params")
def mix_solver(  # type: ignore[empty-body]
    solmix: Array, solref: Array, solimp: Array
) -> tuple[Array, Array]:
    """Mixed solref (n, 2) and solimp (n, 5) of contacts between geoms of equal priority; each argument has the
    values of both geoms: (n, 2), (n, 2, 2) and (n, 2, 5), the second axis the geom."""


@stage(
    "position",
    "table",
    reads="qpos xpos xquat xmat site_xpos ten_length ten_J ten_J_rownnz ten_J_rowadr ten_J_colind flexvert_xpos "
    "flexedge_length flexedge_J flexedge_J_rownnz flexedge_J_rowadr flexedge_J_colind subtree_com cdof eq_active "
    "ncon contact.dist contact.pos contact.frame contact.includemargin contact.friction contact.solref "
    "contact.solreffriction contact.solimp contact.dim contact.geom contact.flex contact.elem contact.vert "
    "contact.exclude ne nf nl nefc nJ",
    also_writes="contact.exclude",
    accumulates="ne nf nl nefc nJ",
    needed=f"{RULES}.constraints:constrained",
)
def constraint_rows(model: Model, data: Data) -> None:
    """Append constraint rows of one source: type, id, Jacobian, position, margin, softness (mj_makeConstraint).
    Built-in keys: equality, frictionloss, limit and contact; a plugin may add its own. The plan zeroes the counts
    first."""


@stage(
    "position",
    reads=f"time qpos qvel xfrc_applied qfrc_applied eq_active tree_asleep {TENDONS} {CONTACT_LIST} {ROW_LIST}",
    also_writes=f"{SLEEP} {TENDONS} {CONTACT_LIST} {ROW_LIST}",
    needed=f"{RULES}.flags:sleep",
)
def wake(model: Model, data: Data) -> None:
    """Wake the sleeping trees that something disturbs, and leave out what concerns only trees that go on sleeping:
    contacts, constraint rows, tendons (mj_wake, mj_wakeTendon, mj_wakeCollision, mj_wakeEquality)."""


@stage(
    "position",
    reads="nefc efc_type efc_id efc_J efc_J_rownnz efc_J_rowadr efc_J_colind efc_frictionloss efc_D efc_R M qLD "
    "qLDiagInv contact.geom",
    needed=f"{RULES}.constraints:constrained",
)
def islands(model: Model, data: Data) -> None:
    """Groups of trees that constraints connect (mj_island)."""


@stage(
    "position",
    reads="qpos xpos xquat xmat site_xpos site_xmat ten_length ten_J ten_J_rownnz ten_J_rowadr ten_J_colind "
    "subtree_com cdof ncon contact.geom contact.pos contact.frame contact.exclude",
    needed=f"{RULES}.counts:actuators",
)
def transmission(model: Model, data: Data) -> None:
    """Actuator lengths and moment arms (mj_transmission)."""
