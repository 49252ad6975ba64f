"""How the margins, and the gaps, of two geoms become those of their contact."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        *siblings("combine_margin", "max", default=True, summary="The larger of the two, as MuJoCo 3.4"),
        *siblings("combine_margin", "sum", summary="Both together, as newer MuJoCo versions"),
    ]
