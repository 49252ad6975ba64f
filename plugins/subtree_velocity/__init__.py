"""How fast subtrees move and spin."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl
from dovetail.plugins.shared.records import siblings


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return siblings(
        "subtree_velocity",
        "momentum",
        default=True,
        reads="cvel xipos ximat subtree_com",
        summary="Sum momenta from the leaves, then shift them to each centre of mass",
    )
