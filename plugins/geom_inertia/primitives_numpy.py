"""Volume and principal inertia of the primitive geoms, solid and as a thin shell, for unit density.

Each row is `inertia(size, shell) -> (measure, moments)`: the measure is the volume [m³] of the solid or the
area [m²] of the shell, the moments are about the centre along the geom's own axes, for a density of one.
Sizes are MuJoCo's half-sizes. See `mjCGeom::GetVolume` and `mjCGeom::SetInertia`; the ellipsoid's shell
follows them in being approximate: Thomsen's area, and moments as the difference of two solids 1 µm apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Row = Callable[[Array, bool], tuple[float, Array]]

_THOMSEN = 1.6075
"""Exponent of Thomsen's approximation of an ellipsoid's area; within 1.1 %."""
_SHELL = 1e-6
"""Thickness [m] of the layer by which MuJoCo approximates an ellipsoid's shell."""


def moments(x: float, y: float, z: float) -> Array:
    """Principal moments as an array."""
    return np.array([x, y, z], dtype=np.float64)


def plane(size: Array, shell: bool) -> tuple[float, Array]:
    """A plane has no mass."""
    return 0.0, moments(0.0, 0.0, 0.0)


def sphere(size: Array, shell: bool) -> tuple[float, Array]:
    """2/5 m r² when solid, 2/3 m r² as a shell."""
    r = float(size[0])
    measure = 4 * math.pi * r * r if shell else 4 * math.pi * r * r * r / 3
    moment = measure * r**2 * (2 / 3 if shell else 2 / 5)
    return measure, moments(moment, moment, moment)


def capsule(size: Array, shell: bool) -> tuple[float, Array]:
    """A cylinder without lids between two hemispheres."""
    r, half = float(size[0]), float(size[1])
    return _capsule_shell(r, half) if shell else _capsule_solid(r, half)


def _capsule_solid(r: float, half: float) -> tuple[float, Array]:
    height = 2 * half
    tube, ball = math.pi * r**2 * height, 4 * math.pi * r * r * r / 3
    # a hemisphere's centre of mass lies 3/8 r beyond the end of the cylinder
    ball_across = 2 / 5 * ball * r**2 + ball * height * (3 * r + 2 * height) / 8
    across = tube * (3 * r**2 + height**2) / 12 + ball_across
    volume = math.pi * (r * r * height + 4 * r * r * r / 3)  # in MuJoCo's order, to the last bit
    return volume, moments(across, across, tube * r**2 / 2 + 2 / 5 * ball * r**2)


def _capsule_shell(r: float, half: float) -> tuple[float, Array]:
    height = 2 * half
    tube, ball = 2 * math.pi * r * height, 4 * math.pi * r**2
    # a hemispherical shell's centre of mass lies r/2 beyond the end of the cylinder
    ball_across = 2 / 3 * ball * r**2 + ball * ((half + r / 2) ** 2 - (r / 2) ** 2)
    across = tube * (6 * r**2 + height**2) / 12 + ball_across
    return tube + ball, moments(across, across, tube * r**2 + 2 / 3 * ball * r**2)


def cylinder(size: Array, shell: bool) -> tuple[float, Array]:
    """A closed cylinder: the shell has two lids."""
    r, half = float(size[0]), float(size[1])
    height = 2 * half
    if not shell:
        volume = math.pi * r * r * height
        across = volume * (3 * r**2 + height**2) / 12
        return volume, moments(across, across, volume * r**2 / 2)
    side, lid = 2 * math.pi * r * height, math.pi * r**2
    across = side * (6 * r**2 + height**2) / 12 + 2 * lid * (r**2 / 4 + half**2)
    return side + 2 * lid, moments(across, across, side * r**2 + lid * r**2)


def ellipsoid(size: Array, shell: bool) -> tuple[float, Array]:
    """Solid exactly, shell approximately (see above)."""
    inner = np.asarray(size, dtype=np.float64)[:3]
    volume, moments = _ellipsoid_solid(inner)
    if not shell:
        return volume, moments
    x, y, z = (float(s) ** _THOMSEN for s in inner)
    area = 4 * math.pi * ((x * y + y * z + z * x) / 3) ** (1 / _THOMSEN)
    outer_volume, outer_moments = _ellipsoid_solid(inner + _SHELL)
    return area, (outer_moments - moments) * (area / (outer_volume - volume))


def _ellipsoid_solid(size: Array) -> tuple[float, Array]:
    a, b, c = (float(s) for s in size[:3])
    volume = 4 * math.pi * a * b * c / 3
    return volume, volume / 5 * moments(b**2 + c**2, a**2 + c**2, a**2 + b**2)


def box(size: Array, shell: bool) -> tuple[float, Array]:
    """A block, or six plates."""
    x, y, z = (2 * float(s) for s in size[:3])
    if not shell:
        volume = x * y * z
        return volume, volume / 12 * moments(y**2 + z**2, x**2 + z**2, x**2 + y**2)
    area = 2 * (x * y + y * z + z * x)
    return area, _plates(x, y, z) + _plates(y, z, x)[[2, 0, 1]] + _plates(z, x, y)[[1, 2, 0]]


def _plates(a: float, b: float, gap: float) -> Array:
    """Two parallel a×b plates across the third axis, `gap` apart: moments along a, b and the third axis."""
    one = a * b
    away = (gap / 2) ** 2
    return 2 * one * moments(b**2 / 12 + away, a**2 / 12 + away, (a**2 + b**2) / 12)


ROWS: dict[str, Row] = {
    "plane": plane,
    "sphere": sphere,
    "capsule": capsule,
    "cylinder": cylinder,
    "ellipsoid": ellipsoid,
    "box": box,
}
"""Geom type to row."""
