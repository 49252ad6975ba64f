"""Length ranges of actuators, which muscles need."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="length_range",
            name="simulation",
            backend="numpy",
            target="dovetail.plugins.length_range.simulation_numpy:length_range",
            default=True,
            summary="Limits, or the ends that an actuator reaches when it pulls both ways in simulation",
        )
    ]
