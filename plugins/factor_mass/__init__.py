"""Factorisation of the inertia."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "factor_mass",
        "ldl",
        default=True,
        summary="LᵀDL within the sparsity of the tree",
    )
