"""A last pass over friction forces that stops the slip of soft contacts."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="noslip",
            name="gauss_seidel",
            backend="numpy",
            target="dovetail.plugins.noslip.gauss_seidel_numpy:noslip",
            default=True,
            summary="Gauss-Seidel over friction forces without regularisation",
        )
    ]
