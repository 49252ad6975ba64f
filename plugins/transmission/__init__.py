"""How actuators pull on joints, tendons, sites and bodies."""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, Transfer, hookimpl
from dovetail.plugins.shared.flex.in_lanes import ROWS
from dovetail.plugins.shared.passing.transfers import MOMENTS
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    numpy, lanes = siblings("transmission", "moment_arms", default=True)
    return [
        attrs.evolve(
            numpy,
            reads="qpos xquat site_xpos site_xmat ten_length ten_J ten_J_rownnz ten_J_rowadr ten_J_colind "
            "subtree_com cdof ncon contact.geom contact.pos contact.frame contact.exclude",
            summary="All transmissions: joints, tendons, sites, slider-cranks and adhesion",
        ),
        attrs.evolve(
            lanes,
            reads="qpos xquat site_xpos site_xmat ten_length ten_J ten_J_rownnz ten_J_rowadr ten_J_colind "
            "subtree_com cdof",
            supports=f"trn.joint trn.jointinparent trn.tendon trn.site trn.slidercrank trn.body {ROWS}",
            reads_with={
                "trn.body": "contact_list.count contact_list.pair contact_list.dist contact_list.pos "
                "contact_list.frame"
            },
            summary="All transmissions: joints, tendons, sites, slider-cranks and adhesion",
        ),
    ]


@hookimpl
def dovetail_transfers() -> list[Transfer]:
    return [MOMENTS]
