"""Acceleration without constraint forces."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "smooth_acceleration",
        "mass_solve",
        default=True,
        summary="Sum the forces, solve with the factored inertia",
    )
