"""How actuators pull on joints, tendons, sites and bodies."""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import LANE_CHAIN, siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    numpy, taichi = siblings("transmission", "standard", default=True)
    return [
        attrs.evolve(
            numpy,
            reads="qpos xquat site_xpos site_xmat ten_length ten_J ten_J_rownnz ten_J_rowadr ten_J_colind "
            "subtree_com cdof ncon contact.geom contact.pos contact.frame contact.exclude",
            summary="All transmissions: joints, tendons, sites, slider-cranks and adhesion",
        ),
        attrs.evolve(
            taichi,
            reads="qpos xquat site_xpos site_xmat ten_length ten_J ten_J_rownnz ten_J_rowadr ten_J_colind "
            "subtree_com cdof",
            structure="dovetail.plugins.transmission.structure:row_structure",
            supports="trn.joint trn.jointinparent trn.tendon trn.site trn.slidercrank trn.body",
            follows=LANE_CHAIN,
            follows_with="trn.body",
            summary="All transmissions: joints, tendons, sites, slider-cranks and adhesion",
        ),
    ]
