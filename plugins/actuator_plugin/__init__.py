"""Actuators that MuJoCo's engine plugins drive, by plugin."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="actuator_plugin",
            key="mujoco.pid",
            name="pid",
            backend="numpy",
            target="dovetail.plugins.actuator_plugin.pid_numpy:pid",
            default=True,
            summary="A servo with proportional, integral and derivative gains and a limited slew rate",
        )
    ]
