"""From accelerations back to forces."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="inverse",
            name="newton_euler",
            backend="numpy",
            target="dovetail.plugins.inverse.newton_euler_numpy:inverse",
            default=True,
            summary="Newton-Euler, constraint forces row by row, compared with forward dynamics",
        )
    ]
