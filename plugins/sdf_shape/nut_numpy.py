"""MuJoCo's engine plugin `mujoco.sdf.nut`: a hexagon with a threaded hole of `radius`, widened at both ends.

The distance is exact only on the surface. Compare plugin/sdf/nut.cc.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.sdf_shapes import SdfShape
from dovetail.plugins.sdf_shape.solids_numpy import numbers, without
from dovetail.plugins.sdf_shape.threads_numpy import DIAGONAL, beyond_radius, cone, hexagon, thread

DEFAULTS = {"radius": 0.26}


def nut(config: Mapping[str, str]) -> SdfShape:
    """The nut of a configuration."""
    (radius,) = numbers(config, DEFAULTS)

    def distance(points: Array) -> Array:
        beyond = beyond_radius(points, radius)
        flare = cone(points, beyond)
        hole = without(thread(points, beyond), flare + 0.5 * DIAGONAL)
        widened = np.minimum(hole, -flare - 0.05 * DIAGONAL)
        return without(hexagon(points, beyond), widened)

    return SdfShape(distance, (0.0, 0.0, 0.0, 0.6, 0.6, 1.0))
