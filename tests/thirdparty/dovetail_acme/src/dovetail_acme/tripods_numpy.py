"""A sphere on a plane stands on three feet: points of its surface around the lowest one."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.contracts.pairs import NO_CONTACTS, PairContacts
from dovetail.plugin import Array

SPREAD = 0.3
"""Distance of the feet from the lowest point, in radii."""

FEET = tuple((float(np.cos(a)), float(np.sin(a))) for a in (0.0, 2 * np.pi / 3, 4 * np.pi / 3))
"""Directions of the feet in the plane."""


def tripod(model: Any, data: Any, geom1: int, geom2: int, margin: float) -> PairContacts:
    """Contacts of a plane and a sphere."""
    frame = data.geom_xmat[geom1].reshape(3, 3)
    normal, radius = frame[:, 2], model.geom_size[geom2, 0]
    height = normal @ (data.geom_xpos[geom2] - data.geom_xpos[geom1]) - radius
    if height > margin:
        return NO_CONTACTS
    lowest = data.geom_xpos[geom2] - (radius + 0.5 * height) * normal
    return PairContacts.of([height] * 3, [lowest + foot for foot in feet(frame, radius)], normal)


def feet(frame: Array, radius: float) -> list[Array]:
    """Where the feet are, seen from the lowest point."""
    return [SPREAD * radius * (x * frame[:, 0] + y * frame[:, 1]) for x, y in FEET]
