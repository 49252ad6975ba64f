"""The curve of a slack rope between two points.

Across a distance h and a height v a rope of length L hangs as y = a cosh((x − b)/a) + c, where 2a sinh(h/2a) is
√(L² − v²). One that is nearly straight down and up again is drawn as two straight lines.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array

PARTS = 29
"""Equal parts of the distance across at which points are taken; the last but one is left out (MuJoCo 3.4.0)."""
STEEP = 0.01
"""Distance across, in lengths of the rope, below which it goes straight down and up."""


def catenary(start: Array, end: Array, gravity: Array, length: float) -> Array:
    """Points (n, 3) of a rope of a length that hangs from one point to another; a straight line if it is taut or
    nothing pulls it down."""
    weight = float(np.linalg.norm(gravity))
    away = end - start
    if weight == 0 or length <= np.linalg.norm(away):
        return np.stack([start, end])
    up = -gravity / weight
    rise = float(away @ up)
    flat = away - rise * up
    across = float(np.linalg.norm(flat))
    if across < STEEP * length:
        depth = (np.sqrt(length**2 - across**2) - rise) / 2
        share = depth / max(2 * depth + rise, 1e-15)
        return np.stack([start, start + share * flat - depth * up, end])
    reach = np.append(np.arange(PARTS - 1) / PARTS, 1.0) * across
    height = heights(reach, across, rise, length)
    points: Array = start + reach[:, None] * (flat / across) + height[:, None] * up
    points[-1] = end
    return points


def heights(x: Array, across: float, rise: float, length: float) -> Array:
    """Height of the rope over its start at distances from it."""
    scale = across / (2 * _stretch(np.sqrt(length**2 - rise**2) / across))
    middle = across / 2 - scale * np.arctanh(rise / length)
    curve: Array = scale * (np.cosh((x - middle) / scale) - np.cosh(middle / scale))
    return curve


def _stretch(ratio: float) -> float:
    """The t > 0 for which sinh(t)/t is a ratio above one, by Newton's method."""
    t = np.sqrt(6 * (ratio - 1)) if ratio < 3 else np.log(2 * ratio) + np.log(np.log(2 * ratio))
    for _ in range(50):
        step = (np.sinh(t) - ratio * t) / (np.cosh(t) - ratio)
        t -= step
        if abs(step) < 1e-14 * t:
            break
    return float(t)
