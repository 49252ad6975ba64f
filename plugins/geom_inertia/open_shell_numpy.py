"""A cylinder's shell without its two ends: a tube. MuJoCo's shell (mjCGeom::SetInertia) has both ends.

Solids are the reference's.
"""

from __future__ import annotations

import math

from dovetail.plugins.geom_inertia import primitives_numpy as reference
from dovetail.plugins.geom_inertia.primitives_numpy import Array, moments


def cylinder(size: Array, shell: bool) -> tuple[float, Array]:
    """m r² about the axis, m (6 r² + h²) / 12 across it, h the whole height."""
    if not shell:
        return reference.cylinder(size, shell)
    radius, height = float(size[0]), 2 * float(size[1])
    area = 2 * math.pi * radius * height
    across = area * (6 * radius**2 + height**2) / 12
    return area, moments(across, across, area * radius**2)
