"""Joint-space inertia."""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    numpy, taichi = siblings(
        "mass_matrix",
        "crb",
        default=True,
        summary="Composite rigid bodies, sparse by row",
        reads="cinert cdof",
        writes="crb qM M",
    )
    return [
        attrs.evolve(numpy, reads="cinert cdof ten_J ten_J_rownnz ten_J_rowadr ten_J_colind"),
        attrs.evolve(taichi, supports="tendon.none tendon.present tendon.stiffness tendon.actfrcrange"),
    ]
