"""From controls to joint forces."""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings

_READS = (
    "ctrl act actuator_length actuator_velocity actuator_moment moment_rownnz moment_rowadr moment_colind "
    "qfrc_gravcomp time"
)


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    numpy, lanes = siblings(
        "actuation",
        "gain_bias",
        default=True,
        reads=_READS,
        summary="Gain times input plus bias, clamped, through the moment arms",
    )
    return [
        numpy,
        attrs.evolve(
            lanes,
            supports="actuator.native actuator.gravcomp trn.joint trn.jointinparent trn.tendon trn.site "
            "trn.slidercrank trn.body",
        ),
    ]
