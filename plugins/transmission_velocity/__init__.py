"""Rates of actuator lengths."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "transmission_velocity",
        "standard",
        default=True,
        summary="Moment arms times velocities",
        reads="qvel actuator_moment moment_rownnz moment_rowadr moment_colind",
        writes="actuator_velocity",
    )
