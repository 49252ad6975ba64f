"""Resistance of molasses in lanes: −c·q̇ for every degree of freedom of a sticky body."""

from __future__ import annotations

from dovetail.backends.lanes.kernel import Kernel


def drag(k: Kernel) -> None:
    """Add the resistance to qfrc_passive."""
    m, d = k.model, k.data
    with k.loop(0, m.nv) as dof:
        d.qfrc_passive[dof] -= m.extra["acme:stickiness"][m.dof_bodyid[dof]] * d.qvel[dof]
