"""Joint-space inertia."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "mass_matrix",
        "crb",
        default=True,
        supports="tendon.none tendon.present tendon.stiffness tendon.actfrcrange",
        summary="Composite rigid bodies, sparse by row",
        reads="cinert cdof",
        writes="crb qM M",
    )
