"""An ellipsoid's shell that lies between two similar ellipsoids: thick where the ellipsoid is long.

Its moments are m/3 (b² + c²), one third of the squares instead of the solid's fifth. MuJoCo's shell
(mjCGeom::SetInertia) is equally thick everywhere. The area, which gives the mass, and solids are the reference's.
"""

from __future__ import annotations

from dovetail.plugins.geom_inertia import primitives_numpy as reference
from dovetail.plugins.geom_inertia.primitives_numpy import Array, moments


def ellipsoid(size: Array, shell: bool) -> tuple[float, Array]:
    """m/3 (b² + c²) and so on."""
    area, solid = reference.ellipsoid(size, shell)
    if not shell:
        return area, solid
    a, b, c = (float(half) ** 2 for half in size[:3])
    return area, moments(area * (b + c) / 3, area * (a + c) / 3, area * (a + b) / 3)
