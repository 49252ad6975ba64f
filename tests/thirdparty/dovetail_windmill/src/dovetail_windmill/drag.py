"""The drag law: F = −½ ρ C A |u| u, with u the velocity of a body's centre of mass relative to the air.

A body's area is that of the spheres around its geoms, π Σ r².
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.plugin import Array

AIR_DENSITY = 1.2
"""kg/m³, at 20 °C and sea level."""

SPHERE_DRAG = 0.47
"""Drag coefficient of a sphere at Reynolds numbers of 1e4 to 1e5."""

HALF_DENSITY_DRAG = 0.5 * AIR_DENSITY * SPHERE_DRAG


def resistance(model: Any) -> Array:
    """½ ρ C A of each body (kg/m)."""
    squares = np.zeros(model.nbody)
    np.add.at(squares, model.geom_bodyid, model.geom_rbound**2)
    return HALF_DENSITY_DRAG * np.pi * squares
