"""Rates of flex edge, tendon and actuator lengths."""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings

_MOMENT = "qvel actuator_moment moment_rownnz moment_rowadr moment_colind"
_JACOBIAN = "ten_J ten_J_rownnz ten_J_rowadr ten_J_colind"
_EDGES = "flexedge_J flexedge_J_rownnz flexedge_J_rowadr flexedge_J_colind"


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    numpy, lanes = siblings("transmission_velocity", "moment_product", default=True)
    return [
        attrs.evolve(
            numpy,
            reads=f"{_MOMENT} {_JACOBIAN} {_EDGES}",
            writes="actuator_velocity ten_velocity flexedge_velocity",
            summary="Jacobians and moment arms times velocities",
        ),
        attrs.evolve(
            lanes,
            reads=f"{_MOMENT} {_JACOBIAN} {_EDGES}",
            writes="actuator_velocity ten_velocity flexedge_velocity",
            supports="trn.joint trn.jointinparent trn.tendon trn.site trn.slidercrank trn.body",
            summary="Jacobians and moment arms times velocities, except those of adhesion",
        ),
    ]
