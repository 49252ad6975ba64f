"""Mechanical energy."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "energy",
        "standard",
        default=True,
        summary="Gravity and joint springs; kinetic energy",
        reads="qpos qvel M xipos",
    )
