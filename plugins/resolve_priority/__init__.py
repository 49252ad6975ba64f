"""Which of two geoms decides the parameters of their contact."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="resolve_priority",
            name="higher",
            backend="numpy",
            target="dovetail.plugins.resolve_priority.higher_numpy:resolve_priority",
            default=True,
            summary="The higher priority decides alone; equal ones share",
        )
    ]
