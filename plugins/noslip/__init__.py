"""A last pass over friction forces that stops the slip of soft contacts."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.flex.in_lanes import DUAL


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="noslip",
            name="gauss_seidel",
            backend="numpy",
            target="dovetail.plugins.noslip.gauss_seidel_numpy:noslip",
            default=True,
            summary="Gauss-Seidel over friction forces without regularisation",
        ),
        Implementation(
            stage="noslip",
            name="gauss_seidel",
            backend="lanes",
            target="dovetail.plugins.noslip.gauss_seidel_lanes:noslip",
            default=True,
            supports=DUAL,
            reads="qacc qacc_smooth qLD qLDiagInv cdof body_rows.dim body_rows.near_wrench body_rows.far_wrench "
            "body_rows.D body_rows.offset dof_rows.coefficient dof_rows.D dof_rows.loss dof_rows.offset "
            "contact_list.count contact_list.pair contact_list.dim contact_list.friction dual.known",
            writes="qacc qfrc_constraint body_rows.force dof_rows.force dual.force iterations.noslip",
            summary="Gauss-Seidel over friction forces without regularisation, the worlds of a tile together",
        ),
    ]
