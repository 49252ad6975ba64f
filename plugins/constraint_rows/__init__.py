"""Constraint rows: equality constraints, friction loss, limits and contacts."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl

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


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
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
