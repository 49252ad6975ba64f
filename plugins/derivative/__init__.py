"""Derivatives of forces with respect to velocity."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="derivative",
            name="analytic",
            backend="numpy",
            target="dovetail.plugins.derivative.analytic_numpy:derivative",
            default=True,
            summary="Actuators, dampers, fluid and bias forces, in closed form",
        )
    ]
