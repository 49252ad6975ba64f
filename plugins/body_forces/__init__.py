"""What accelerates each body, and what its parent does to it."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    contacts = "ncon contact.pos contact.frame contact.geom contact.dim contact.friction contact.efc_address"
    rows = "ne efc_type efc_id efc_force xpos xmat"
    return [
        Implementation(
            stage="body_forces",
            name="rne",
            backend="numpy",
            target="dovetail.plugins.body_forces.rne_numpy:body_forces",
            default=True,
            reads=f"qacc qvel cvel cdof cdof_dot cinert subtree_com xipos xfrc_applied {contacts} {rows}",
            summary="Recursive Newton-Euler with the solver's accelerations and forces",
        ),
        Implementation(
            stage="body_forces",
            name="rne",
            backend="lanes",
            target="dovetail.plugins.body_forces.rne_lanes:body_forces",
            default=True,
            reads="qacc qvel cvel cdof cdof_dot cinert subtree_com xipos xfrc_applied xpos xmat site_xpos "
            "contact_list.count contact_list.pair contact_list.dist contact_list.pos contact_list.frame "
            "contact_list.includemargin body_rows.D body_rows.force",
            summary="Recursive Newton-Euler with the solver's accelerations and forces",
        ),
    ]
