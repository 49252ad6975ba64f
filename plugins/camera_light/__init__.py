"""Poses of cameras and lights."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "camera_light",
        "tracking",
        default=True,
        reads="xpos xmat xquat subtree_com",
        summary="Fixed, tracking and targeting cameras and lights",
    )
