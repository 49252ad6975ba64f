"""How actuators pull on joints."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "transmission",
        "standard",
        default=True,
        summary="Joint transmissions, in child or parent frame",
        reads="qpos",
        structure="dovetail.plugins.transmission.structure:moment_structure",
        supports="trn.joint trn.jointinparent",
    )
