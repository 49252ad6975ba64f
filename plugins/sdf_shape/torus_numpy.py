"""MuJoCo's engine plugin `mujoco.sdf.torus`: a ring about the z-axis; radius1 is the ring's, radius2 its section's.

The distance is exact, the gradient its derivative; on the axis of the ring there is none. Compare
plugin/sdf/torus.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.sdf_shapes import SdfShape
from dovetail.plugins.sdf_shape.solids_numpy import from_axis, numbers
from dovetail.plugins.shared.constants import MINVAL

DEFAULTS = {"radius1": 0.35, "radius2": 0.15}


def torus(config: Mapping[str, str]) -> SdfShape:
    """The ring of a configuration."""
    ring, section = numbers(config, DEFAULTS)

    def distance(points: Array) -> Array:
        outward = from_axis(points) - ring
        result: Array = np.sqrt(outward * outward + points[:, 2] * points[:, 2]) - section
        return result

    def gradient(points: Array) -> Array:
        radius = from_axis(points)
        outward = radius - ring
        with np.errstate(invalid="ignore", divide="ignore"):
            radial = points[:, :2] / radius[:, None]
        from_circle = np.sqrt(outward * outward + points[:, 2] * points[:, 2])
        slope = np.concatenate([outward[:, None] * radial, points[:, 2:]], axis=1)
        return slope / np.maximum(from_circle, MINVAL)[:, None]

    extent = ring + section
    return SdfShape(distance, (0.0, 0.0, 0.0, extent, extent, section), gradient)
