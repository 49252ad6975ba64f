"""MuJoCo's engine plugin `mujoco.sdf.bolt`: a threaded rod of `radius` from the origin a metre down, its head on top.

The distance is exact only on the surface. Compare plugin/sdf/bolt.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.sdf_shapes import SdfShape
from dovetail.plugins.sdf_shape.solids_numpy import numbers, without
from dovetail.plugins.sdf_shape.threads_numpy import DIAGONAL, beyond_radius, cone, hexagon, thread

DEFAULTS = {"radius": 0.26}


def bolt(config: Mapping[str, str]) -> SdfShape:
    """The bolt of a configuration."""
    (radius,) = numbers(config, DEFAULTS)

    def distance(points: Array) -> Array:
        beyond = beyond_radius(points, radius)
        rod = without(thread(points, beyond), 0.5 - np.abs(points[:, 2] + 0.5))
        pointed = without(rod, cone(points, beyond) + DIAGONAL)
        return np.minimum(pointed, hexagon(points, beyond))

    return SdfShape(distance, (0.0, 0.0, 0.0, 0.6, 0.6, 1.0))
