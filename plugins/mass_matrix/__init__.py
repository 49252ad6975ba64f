"""Joint-space inertia."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "mass_matrix",
        "crb",
        default=True,
        summary="Composite rigid bodies, sparse by row",
        reads="cinert cdof ten_J ten_J_rownnz ten_J_rowadr ten_J_colind",
        writes="crb qM M",
    )
