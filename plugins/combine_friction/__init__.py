"""How the friction of two geoms of equal priority becomes the friction of their contact."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        *siblings("combine_friction", "max", default=True, summary="The larger of each coefficient"),
        *siblings(
            "combine_friction",
            "geometric_mean",
            summary="The square root of each product: one slippery surface is enough",
        ),
    ]
