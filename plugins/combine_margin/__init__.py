"""How the margins, and the gaps, of two geoms become those of their contact."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="combine_margin",
            name="max",
            backend="numpy",
            target="dovetail.plugins.combine_margin.max_numpy:combine_margin",
            default=True,
            summary="The larger of the two, as MuJoCo 3.4",
        ),
        Implementation(
            stage="combine_margin",
            name="sum",
            backend="numpy",
            target="dovetail.plugins.combine_margin.sum_numpy:combine_margin",
            summary="Both together, as newer MuJoCo versions",
        ),
    ]
