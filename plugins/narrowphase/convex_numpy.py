"""Contacts of the candidate pairs, each by the collide_pair row of its two geom types.

Which shape a mesh has is the rows' matter; the built-in ones take its convex hull. World frame. Compare
mj_collision and mj_collideGeoms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.narrowphase.dispatch_numpy import collide_candidates


def narrowphase(model: ModelLike, data: DataLike, parts: Mapping[str, Any]) -> None:
    """Write ncon, the geometry of the contacts, and the candidate each comes from."""
    collide_candidates(model, data, parts, parts["collide_pair"])
