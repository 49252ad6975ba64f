"""How the solver parameters of two geoms of equal priority become those of their contact."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        *siblings(
            "mix_solver",
            "solmix",
            default=True,
            summary="Mean weighted by solmix; the smaller where a solref is direct",
        ),
        *siblings(
            "mix_solver",
            "min_max",
            summary="The smaller of each solref, the larger of each solimp: one hard surface is enough",
        ),
    ]
