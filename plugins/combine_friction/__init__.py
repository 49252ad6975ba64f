"""How the friction of two geoms of equal priority becomes the friction of their contact."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="combine_friction",
            name="max",
            backend="numpy",
            target="dovetail.plugins.combine_friction.max_numpy:combine_friction",
            default=True,
            summary="The larger of each coefficient",
        ),
        Implementation(
            stage="combine_friction",
            name="geometric_mean",
            backend="numpy",
            target="dovetail.plugins.combine_friction.geometric_mean_numpy:combine_friction",
            summary="The square root of each product: one slippery surface is enough",
        ),
    ]
