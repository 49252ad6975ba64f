"""What bolts and nuts have in common: a screw thread about the z-axis, and the hexagon that a wrench grips."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.sdf_shape.solids_numpy import azimuths, from_axis

TURNS = 12.0
"""Turns of the thread per metre."""
DIAGONAL = np.sqrt(2.0) / 2.0
"""Turns a height over a slope of 45 degrees into the distance from it."""
HALF_WIDTH = 0.5
"""From the hexagon's centre to its sides [m]."""
HALF_HEIGHT = 0.25
CHAMFER = 0.22
"""Height at which the cone that rounds the hexagon's corners meets the thread's radius."""


def beyond_radius(points: Array, radius: float) -> Array:
    """Distance to the cylinder that the thread is cut into."""
    return from_axis(points) - radius


def thread(points: Array, beyond: Array) -> Array:
    """A cylinder whose surface rises and falls in a triangle wave that winds about the axis."""
    phase = points[:, 2] * TURNS - azimuths(points) / np.pi / 2.0
    wave = np.abs(phase - np.floor(phase) - 0.5)
    result: Array = (beyond - wave / TURNS) * DIAGONAL
    return result


def cone(points: Array, beyond: Array) -> Array:
    """Distance to a cone of 45 degrees about the axis, open upwards."""
    result: Array = (points[:, 2] - beyond) * DIAGONAL
    return result


def hexagon(points: Array, beyond: Array) -> Array:
    """A hexagonal prism below the origin, its upper corners rounded down with a cone."""
    sector = 6.0 / np.pi / 2.0
    turn = -np.floor(azimuths(points) * sector + 0.5) / sector
    across = np.sin(turn + np.pi * 0.5) * points[:, 0] - np.sin(turn) * points[:, 1]
    prism = np.maximum(across - HALF_WIDTH, np.abs(points[:, 2] + HALF_HEIGHT) - HALF_HEIGHT)
    rounding = (points[:, 2] + beyond - CHAMFER) * DIAGONAL
    return np.maximum(prism, rounding)
