"""Where constraint rows want to go."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="constraint_reference",
            name="standard",
            backend="numpy",
            target="dovetail.plugins.constraint_reference.standard_numpy:constraint_reference",
            default=True,
            summary="Spring-damper acceleration of each row",
        )
    ]
