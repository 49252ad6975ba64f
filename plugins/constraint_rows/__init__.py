"""Constraint rows: equality constraints, friction loss, limits and contacts. Compare mj_makeConstraint.

A file for each group: `equality`, `frictionloss`, `limit`, `contact`. On NumPy a group hands its rows to
`shared.rows.append_numpy`, which stores them as Data has them. Jacobians come from `lengths_numpy.py` and from
`shared.rows` (point_motion, contact_sides), names for warnings from `describe_numpy.py`. In lanes there are no such
rows: constraints between bodies are wrenches and those of few dofs are coefficients, both kernel fields
(`shared.rows.rows_lanes`), written with `softness_lanes.py` and `tendon_lanes.py`.

Begin with `frictionloss_{numpy,lanes}.py`, the shortest. Tests: `tests/stages/constraint_rows`.
"""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.flex.in_lanes import ROWS as ROWS_OF_FLEXES

COUNTS = "ne nf nl nefc nJ"
TENDONS = "ten_J ten_J_rownnz ten_J_rowadr ten_J_colind"
ROWS = (
    f"{COUNTS} efc_type efc_id efc_J_rownnz efc_J_rowadr efc_J_rowsuper efc_J_colind efc_J efc_pos efc_margin "
    "efc_frictionloss efc_diagApprox efc_KBIP efc_D efc_R"
)
FLEXES = "flexedge_length flexedge_J flexedge_J_rownnz flexedge_J_rowadr flexedge_J_colind"
CONTACTS = (
    "ncon contact.dist contact.pos contact.frame contact.dim contact.friction contact.exclude "
    "contact.includemargin contact.solref contact.solreffriction contact.solimp contact.geom contact.flex "
    "contact.elem contact.vert flexvert_xpos"
)

READS = {
    "equality": f"{COUNTS} qpos xpos xquat xmat site_xpos subtree_com cdof ten_length {TENDONS} {FLEXES} eq_active",
    "frictionloss": f"{COUNTS} {TENDONS}",
    "limit": f"{COUNTS} qpos ten_length {TENDONS}",
    "contact": f"{COUNTS} {CONTACTS} subtree_com cdof",
}
WRITES = {
    "equality": "tendon_efcadr",
    "frictionloss": "tendon_efcadr",
    "limit": "tendon_efcadr",
    "contact": "tendon_efcadr contact.mu contact.efc_address contact.exclude",
}
SUMMARIES = {
    "equality": "Connect, weld, joint, tendon and flex edge constraints",
    "frictionloss": "Dry friction of dofs and tendons",
    "limit": "Limits of hinges, slides, balls and tendons",
    "contact": "Contacts of condim 1, 3, 4 and 6, pyramidal and elliptic",
}


LANE_READS = {
    "equality": "qpos xpos xquat xmat site_xpos subtree_com ten_length ten_J eq_active flexedge_length flexedge_J "
    "contact_list.dim",
    "frictionloss": "ten_J",
    "limit": "qpos ten_length ten_J",
    "contact": "subtree_com flexvert_xpos contact_list.count contact_list.pair contact_list.dist contact_list.pos "
    "contact_list.frame contact_list.dim contact_list.friction contact_list.solref contact_list.solreffriction "
    "contact_list.solimp contact_list.includemargin",
}
_LANE_LINKS = (
    "body_rows.kind body_rows.dim body_rows.near body_rows.far body_rows.near_wrench body_rows.far_wrench "
    "body_rows.spread_wrench body_rows.D body_rows.spring body_rows.damping"
)
_LANE_DOFS = "dof_rows.coefficient dof_rows.D dof_rows.spring dof_rows.damping"
LANE_WRITES = {
    "equality": f"{_LANE_LINKS} {_LANE_DOFS}",
    "frictionloss": f"{_LANE_DOFS} dof_rows.loss",
    "limit": _LANE_DOFS,
    "contact": _LANE_LINKS,
}
LANE_EQUALITIES = "eq.connect eq.weld eq.joint eq.tendon eq.flex"


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    reference = [
        Implementation(
            stage="constraint_rows",
            key=key,
            name="soft",
            backend="numpy",
            target=f"dovetail.plugins.constraint_rows.{key}_numpy:{key}",
            default=True,
            reads=READS[key],
            writes=f"{ROWS} {WRITES[key]}",
            summary=SUMMARIES[key],
        )
        for key in READS
    ]
    in_lanes = [
        Implementation(
            stage="constraint_rows",
            key=key,
            name="soft",
            backend="lanes",
            target=f"dovetail.plugins.constraint_rows.{key}_lanes:{key}",
            default=True,
            reads=LANE_READS[key],
            writes=LANE_WRITES[key],
            supports=f"{ROWS_OF_FLEXES} {LANE_EQUALITIES}",
            summary=f"{SUMMARIES[key]}, in lanes",
        )
        for key in READS
    ]
    return [*reference, *in_lanes]
