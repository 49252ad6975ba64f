"""Which of two geoms decides the parameters of their contact."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        *siblings(
            "resolve_priority",
            "higher",
            default=True,
            summary="The higher priority decides alone; equal ones share",
        ),
        *siblings("resolve_priority", "ignore", summary="Priorities do not count: every pair shares"),
    ]
