"""Poses of cameras and lights."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="camera_light",
            name="tracking",
            backend="numpy",
            target="dovetail.plugins.camera_light.tracking_numpy:camera_light",
            default=True,
            reads="xpos xmat xquat subtree_com",
            summary="Fixed, tracking and targeting cameras and lights",
        )
    ]
