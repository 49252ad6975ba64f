"""Accelerations under constraints."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "solve_constraints",
        "unconstrained",
        default=True,
        summary="No constraint is active: the smooth acceleration",
        reads="qacc_smooth",
        writes="qacc qfrc_constraint",
    )
