"""Putting solids together from signed distances, and the numbers of a shape's configuration.

Distances are arrays; the combined ones are exact on the surface and estimates elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from dovetail.contracts.engine_plugins import leading_number
from dovetail.contracts.fields import Array


def numbers(config: Mapping[str, str], defaults: Mapping[str, float]) -> list[float]:
    """The values of a configuration, in the order of the defaults; an empty or absent text means the default."""
    written = {key: leading_number(config.get(key, "")) for key in defaults}
    return [defaults[key] if value is None else value for key, value in written.items()]


def without(solid: Array, hole: Array) -> Array:
    """A solid minus another one."""
    return np.maximum(solid, -hole)


def joined_smoothly(a: Array, b: Array, width: float) -> Array:
    """The union of two solids with a fillet: where distances differ by less than `width` they blend."""
    share = np.clip(0.5 + 0.5 * (b - a) / width, 0.0, 1.0)
    blend: Array = b * (1.0 - share) + a * share - width * share * (1.0 - share)
    return blend


def common_smoothly(a: Array, b: Array, width: float) -> Array:
    """The intersection of two solids with a rounded edge."""
    return without(np.maximum(a, b), joined_smoothly(without(a, b), without(b, a), width))


def extruded(points: Array, section: Array, half_height: float) -> Array:
    """The prism over a plane figure, from the distance to that figure."""
    beyond = np.stack([section, np.abs(points[:, 2]) - half_height], axis=1)
    outside = np.maximum(beyond, 0.0)
    return np.minimum(beyond.max(axis=1), 0.0) + np.sqrt(np.square(outside).sum(axis=1))


def from_axis(points: Array) -> Array:
    """Distance to the z-axis."""
    length: Array = np.sqrt(np.square(points[:, :2]).sum(axis=1))
    return length


# ---- angles -----------------------------------------------------------------------------------------------
# NumPy's own inverse functions round otherwise than the C library, which forward differences would magnify.

_ARCTAN2 = np.frompyfunc(math.atan2, 2, 1)
_ARCCOS = np.frompyfunc(math.acos, 1, 1)


def azimuths(points: Array) -> Array:
    """Angles about the z-axis, from the x-axis."""
    return np.asarray(_ARCTAN2(points[:, 1], points[:, 0]), float)


def arccos(cosine: Array) -> Array:
    """Angles of cosines; not a number where there is none."""
    result = np.full(cosine.shape, np.nan)
    proper = np.abs(cosine) <= 1.0
    result[proper] = np.asarray(_ARCCOS(cosine[proper]), float)
    return result
