"""From controls to joint forces."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "actuation",
        "standard",
        default=True,
        reads="ctrl act actuator_length actuator_velocity actuator_moment moment_rownnz moment_rowadr moment_colind",
        summary="Gain times input plus bias, clamped, through the moment arms",
    )
