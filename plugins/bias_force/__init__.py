"""Coriolis, centrifugal and gravitational forces."""

from __future__ import annotations

import attrs

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    reads = "qvel cvel cdof cdof_dot cinert"
    tendons = "ten_J ten_J_rownnz ten_J_rowadr ten_J_colind site_xpos subtree_com"
    numpy, lanes = siblings(
        "bias_force",
        "rne",
        default=True,
        summary="Recursive Newton-Euler at zero acceleration",
        reads=reads,
    )
    return [
        attrs.evolve(numpy, reads=f"{reads} {tendons}"),
        attrs.evolve(
            lanes,
            reads=f"{reads} {tendons}",
        ),
    ]
