"""How the solver parameters of two geoms of equal priority become those of their contact."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="mix_solver",
            name="solmix",
            backend="numpy",
            target="dovetail.plugins.mix_solver.solmix_numpy:mix_solver",
            default=True,
            summary="Mean weighted by solmix; the smaller where a solref is direct",
        )
    ]
