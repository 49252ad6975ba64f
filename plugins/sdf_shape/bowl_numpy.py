"""MuJoCo's engine plugin `mujoco.sdf.bowl`: the shell of a sphere of `radius`, open above `height`.

The wall reaches `thickness` to both sides of the sphere, and its rim is round. The distance is exact. Compare
plugin/sdf/bowl.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.sdf_shapes import SdfShape
from dovetail.plugins.sdf_shape.solids_numpy import from_axis, numbers

DEFAULTS = {"height": 0.4, "radius": 1.0, "thickness": 0.02}


def bowl(config: Mapping[str, str]) -> SdfShape:
    """The bowl of a configuration."""
    height, radius, thickness = numbers(config, DEFAULTS)
    with np.errstate(invalid="ignore"):
        rim = np.sqrt(radius * radius - height * height)

    def distance(points: Array) -> Array:
        across, up = from_axis(points), points[:, 2]
        to_rim = np.sqrt(np.square(across - rim) + np.square(up - height))
        to_wall = np.abs(np.sqrt(across * across + up * up) - radius)
        over_rim = height * across < rim * up
        return np.where(over_rim, to_rim, to_wall) - thickness

    extent = radius + thickness
    return SdfShape(distance, (0.0, 0.0, 0.0, extent, extent, extent))
