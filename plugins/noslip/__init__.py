"""A last pass over friction forces that stops the slip of soft contacts."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import LANE_CHAIN


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="noslip",
            name="gauss_seidel",
            backend="numpy",
            target="dovetail.plugins.noslip.gauss_seidel_numpy:noslip",
            default=True,
            summary="Gauss-Seidel over friction forces without regularisation",
        ),
        Implementation(
            stage="noslip",
            name="gauss_seidel",
            backend="taichi",
            target="dovetail.plugins.noslip.gauss_seidel_taichi:noslip",
            default=True,
            chain=LANE_CHAIN,
            reads="qacc qacc_smooth qLD qLDiagInv cdof",
            writes="qacc qfrc_constraint",
            summary="Gauss-Seidel over friction forces without regularisation, the worlds of a tile together",
        ),
    ]
