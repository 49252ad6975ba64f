"""Resistance of molasses: −c·q̇ for every degree of freedom of a sticky body."""

from __future__ import annotations

from typing import Any


def drag(model: Any, data: Any) -> None:
    """Add the resistance to qfrc_passive."""
    data.qfrc_passive[:] -= model.extra["acme:stickiness"][model.dof_bodyid] * data.qvel
