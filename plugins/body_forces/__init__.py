"""What accelerates each body, and what its parent does to it."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import LANE_CHAIN


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
            backend="taichi",
            target="dovetail.plugins.body_forces.rne_taichi:body_forces",
            default=True,
            follows=LANE_CHAIN,
            reads="qacc qvel cvel cdof cdof_dot cinert subtree_com xipos xfrc_applied xpos xmat site_xpos",
            summary="Recursive Newton-Euler with the solver's accelerations and forces",
        ),
    ]
