"""Quantities about the centre of mass of each tree."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "com_position",
        "tree",
        default=True,
        summary="Sum masses from the leaves, then shift inertias and axes",
        reads="xpos xmat xipos ximat xanchor xaxis",
    )
