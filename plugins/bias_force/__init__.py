"""Coriolis, centrifugal and gravitational forces."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "bias_force",
        "rne",
        default=True,
        supports="tendon.none tendon.present tendon.stiffness tendon.actfrcrange",
        summary="Recursive Newton-Euler at zero acceleration",
        reads="qvel cvel cdof cdof_dot cinert",
    )
