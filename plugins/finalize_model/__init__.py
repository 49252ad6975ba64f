"""Constants of a model that need its dynamics."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="finalize_model",
            name="dynamics",
            backend="numpy",
            target="dovetail.plugins.finalize_model.dynamics_numpy:finalize_model",
            default=True,
            summary="Inverse weights, lengths and statistics at the reference pose",
        )
    ]
