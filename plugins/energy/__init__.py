"""Mechanical energy."""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    numpy, lanes = siblings(
        "energy",
        "mechanical",
        default=True,
        reads="qpos qvel M xipos",
        summary="Gravity and springs; kinetic energy",
    )
    return [
        attrs.evolve(numpy, reads="qpos qvel M xipos ten_length flexedge_length"),
        attrs.evolve(lanes, reads="qpos qvel M xipos ten_length flexedge_length"),
    ]
