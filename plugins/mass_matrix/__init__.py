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
        writes="crb qM M",
    )
    reads = "cinert cdof ten_J ten_J_rownnz ten_J_rowadr ten_J_colind"
    return [
        attrs.evolve(numpy, reads=reads),
        attrs.evolve(taichi, reads=reads, structure="dovetail.plugins.tendon.structure:jacobian_structure"),
    ]
