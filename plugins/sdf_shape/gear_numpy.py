"""MuJoCo's engine plugin `mujoco.sdf.gear`: a spur gear about the z-axis, of pitch `diameter`, with `teeth` teeth.

Flanks are involutes of the base circle: a point at radius ρ has unwound √(ρ² − b²) of string from the circle of
radius b. `alpha` turns the gear, `thickness` is its height, `innerdiameter` that of the hole (negative: as wide as
leaves a rim of 0.14 diameters). The distance is exact only on the surface. Compare plugin/sdf/gear.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.sdf_shapes import SdfShape
from dovetail.plugins.sdf_shape.solids_numpy import (
    arccos,
    azimuths,
    common_smoothly,
    extruded,
    from_axis,
    joined_smoothly,
    numbers,
    without,
)

DEFAULTS = {"alpha": 0.0, "diameter": 2.8, "teeth": 25.0, "thickness": 0.2, "innerdiameter": -1.0}
FAR_OUT = 0.2
"""Beyond the tips by more than this, the distance is to the circle of the tips [m]."""


@attrs.frozen
class Wheel:
    """Measures of a gear that follow from its configuration."""

    turn: float
    tip: float
    root: float
    hole: float
    base: float
    """Radii."""
    pitch: float
    """Angle from tooth to tooth."""
    gap: float
    """Angle between flanks, on the base circle."""
    edge: float
    """Width over which the edges of the tips are rounded."""
    fillet: float
    """Width over which teeth and rim blend."""

    @classmethod
    def of(cls, turn: float, diameter: float, teeth: float, inner: float) -> Wheel:
        """By the rules for standard gears: addendum 1, whole depth 2.2 diametral pitches."""
        pressure = 3.096e-5 * teeth * teeth - 6.557e-3 * teeth + 0.551
        per_length = teeth / diameter
        radius, depth = diameter / 2.0, 2.2 / per_length
        tip = (diameter + 2.0 * (1.0 / per_length)) / 2.0
        base = diameter * np.cos(pressure) / 2.0
        pitch = np.pi / per_length / radius
        leaning = float(arccos(np.array([base / radius]))[0])
        gap = pitch / 2.0 - 2.0 * (np.tan(leaning) - leaning)
        hole = inner / 2.0 if inner >= 0.0 else tip - depth - 0.14 * diameter
        return cls(turn, tip, tip - depth, hole, base, pitch, gap, 0.0035 * diameter, base - tip + depth)


def gear(config: Mapping[str, str]) -> SdfShape:
    """The gear of a configuration."""
    turn, diameter, teeth, thickness, inner = numbers(config, DEFAULTS)
    with np.errstate(invalid="ignore", divide="ignore"):
        wheel = Wheel.of(turn, diameter, teeth, inner)

    def distance(points: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            return extruded(points, section(wheel, points), thickness / 2.0)

    extent = diameter / 2.0 * 1.25
    return SdfShape(distance, (0.0, 0.0, 0.0, extent, extent, thickness / 2.0 * 1.1))


def section(wheel: Wheel, points: Array) -> Array:
    """Distance in the plane to the outline of the gear."""
    radius = from_axis(points)
    solid = joined_smoothly(radius - wheel.root, tooth(wheel, points, radius), wheel.fillet)
    in_hole, far_out = wheel.hole - radius > 0.0, wheel.tip - radius < -FAR_OUT
    near = without(solid, radius - wheel.hole)
    return np.where(in_hole, wheel.hole - radius, np.where(far_out, radius - wheel.tip, near))


def tooth(wheel: Wheel, points: Array, radius: Array) -> Array:
    """Distance to the nearest tooth, which goes on inwards from the base circle between straight walls."""
    azimuth = azimuths(points) + wheel.turn
    half = wheel.gap / 2.0
    left = wrapped(azimuth + half, wheel.pitch) - half
    right = wrapped(-azimuth - wheel.gap + half, wheel.pitch) - half
    flanks = np.maximum(flank(wheel, left, radius), flank(wheel, right, radius))
    width = wheel.pitch - wheel.gap
    walls = np.maximum(left - width, right - width)
    return common_smoothly(radius - wheel.tip, np.maximum(walls, flanks), wheel.edge)


def flank(wheel: Wheel, azimuth: Array, radius: Array) -> Array:
    """Distance to an involute that leaves the base circle at angle zero; far inside within that circle."""
    string = np.sqrt(radius * radius - wheel.base * wheel.base)
    wound = wheel.base * (azimuth + arccos(wheel.base / radius))
    return np.where(wheel.base < radius, string - wound, -1.0e6)


def wrapped(angle: Array, period: float) -> Array:
    """An angle from zero to the period."""
    result: Array = angle - period * np.floor(angle / period)
    return result
