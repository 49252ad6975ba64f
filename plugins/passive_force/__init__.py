"""Forces that need no actuator: springs and dampers of joints."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    spring = siblings(
        "passive_force",
        "joint",
        key="spring",
        file="spring_joint",
        function="spring",
        default=True,
        reads="qpos qfrc_passive",
        writes="qfrc_spring qfrc_passive",
        summary="Springs of joints of all types",
    )
    damper = siblings(
        "passive_force",
        "joint",
        key="damper",
        file="damper_joint",
        function="damper",
        default=True,
        reads="qvel qfrc_passive",
        writes="qfrc_damper qfrc_passive",
        summary="Linear damping of dofs",
    )
    return [*spring, *damper]
