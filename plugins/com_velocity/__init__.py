"""Spatial velocities."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "com_velocity",
        "tree",
        default=True,
        summary="Walk the tree from the world outwards",
    )
