"""Constraint rows: equality constraints, friction loss, limits and contacts."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import CONTACT_DELIVERY, LANE_CHAIN

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
    "equality": "qpos xpos xquat xmat site_xpos subtree_com ten_length ten_J eq_active",
    "frictionloss": "ten_J",
    "limit": "qpos ten_length ten_J",
    "contact": "subtree_com",
}
LANE_WRITES = {"contact": "contact.mu contact.efc_address contact.exclude"}
"""Besides the counts."""
LANE_EQUALITIES = "eq.connect eq.weld eq.joint eq.tendon"


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    reference = [
        Implementation(
            stage="constraint_rows",
            key=key,
            name="standard",
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
            name="standard",
            backend="taichi",
            target=f"dovetail.plugins.constraint_rows.{key}_taichi:{key}",
            default=True,
            chain=LANE_CHAIN,
            reads=LANE_READS[key],
            writes=f"ne nf nl nefc {LANE_WRITES.get(key, '')}",
            delivery=CONTACT_DELIVERY,
            structure="dovetail.plugins.tendon.structure:jacobian_structure",
            supports=f"flex.none flex.untouchable {LANE_EQUALITIES}",
            summary=f"{SUMMARIES[key].replace(' and flex edge', '')}, in lanes",
        )
        for key in READS
    ]
    return [*reference, *in_lanes]
