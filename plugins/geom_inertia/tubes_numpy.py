"""A box's shell by a rule of thumb: about each axis m/6 (b² + c²), twice the solid's, b and c the whole sides.

That is what a tube of square section has about its own axis. Six plates of even thickness, as in MuJoCo
(mjCGeom::SetInertia), have less: a cube 5/6 of it. The area, which gives the mass, and solids are the reference's.
"""

from __future__ import annotations

from dovetail.plugins.geom_inertia import primitives_numpy as reference
from dovetail.plugins.geom_inertia.primitives_numpy import Array, moments


def box(size: Array, shell: bool) -> tuple[float, Array]:
    """m/6 (b² + c²) and so on."""
    area, solid = reference.box(size, shell)
    if not shell:
        return area, solid
    a, b, c = ((2 * float(half)) ** 2 for half in size[:3])
    return area, moments(area * (b + c) / 6, area * (a + c) / 6, area * (a + b) / 6)
