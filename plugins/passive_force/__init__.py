"""Forces that need no actuator: springs and dampers of joints and tendons."""

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
    return [*spring, *damper, *_tendons()]


def _tendons() -> list[Implementation]:
    jacobian = "qfrc_passive ten_J ten_J_rownnz ten_J_rowadr ten_J_colind"
    return [
        Implementation(
            stage="passive_force",
            key="tendon_spring",
            name="tendon",
            backend="numpy",
            target="dovetail.plugins.passive_force.tendon_numpy:spring",
            default=True,
            reads=f"{jacobian} ten_length qfrc_spring",
            writes="qfrc_spring qfrc_passive",
            summary="Springs of tendons, with dead band",
        ),
        Implementation(
            stage="passive_force",
            key="tendon_damper",
            name="tendon",
            backend="numpy",
            target="dovetail.plugins.passive_force.tendon_numpy:damper",
            default=True,
            reads=f"{jacobian} ten_velocity qfrc_damper",
            writes="qfrc_damper qfrc_passive",
            summary="Linear damping of tendons",
        ),
    ]
