"""Groups of trees that constraints tie together."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="islands",
            name="components",
            backend="numpy",
            target="dovetail.plugins.islands.components_numpy:islands",
            default=True,
            summary="Connected components of trees joined by constraint rows; arrays sorted by island",
        )
    ]
