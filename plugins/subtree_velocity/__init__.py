"""How fast subtrees move and spin."""

from __future__ import annotations

from dovetail.plugin import Implementation, hookimpl


@hookimpl
def dovetail_implementations() -> list[Implementation]:
    return [
        Implementation(
            stage="subtree_velocity",
            name="momentum",
            backend="numpy",
            target="dovetail.plugins.subtree_velocity.momentum_numpy:subtree_velocity",
            default=True,
            reads="cvel cinert subtree_com",
            summary="Sum momenta from the leaves, then shift them to each centre of mass",
        )
    ]
