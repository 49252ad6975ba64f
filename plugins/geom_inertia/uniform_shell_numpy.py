"""An ellipsoid's shell of the same mass on every piece of surface, by quadrature over the unit sphere.

The ellipsoid is the unit sphere stretched by its half-axes a, b, c. A piece dΩ of the sphere at the unit vector u
becomes abc |u / (a, b, c)| dΩ of surface at (a, b, c) u. Area and second moments are sums of this over Gauss points
along z and even steps around it. MuJoCo (mjCGeom) takes Thomsen's area, good to 1.1 %, and a difference of solids.
Solids are the reference's.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from dovetail.plugins.geom_inertia import primitives_numpy as reference
from dovetail.plugins.geom_inertia.primitives_numpy import Array, moments

_AROUND, _ALONG = 128, 96
"""Points around and along z: ten digits for half-axes up to ten times as long as one another."""


def ellipsoid(size: Array, shell: bool) -> tuple[float, Array]:
    """Area, and integrals of y² + z², x² + z² and x² + y² over the surface."""
    if not shell:
        return reference.ellipsoid(size, shell)
    axes = np.asarray(size[:3], dtype=np.float64)
    unit, weight = _sphere()
    surface = weight * float(np.prod(axes)) * np.linalg.norm(unit / axes, axis=1)
    xx, yy, zz = surface @ (unit * axes) ** 2
    return float(surface.sum()), moments(yy + zz, xx + zz, xx + yy)


@cache
def _sphere() -> tuple[Array, Array]:
    """Points of the unit sphere (n, 3) and their shares of its area (n)."""
    z, share = np.polynomial.legendre.leggauss(_ALONG)
    angle = 2 * np.pi * (np.arange(_AROUND) + 0.5) / _AROUND
    radius = np.sqrt(1 - z**2)
    unit = np.stack(
        [
            np.outer(radius, np.cos(angle)),
            np.outer(radius, np.sin(angle)),
            np.repeat(z[:, None], _AROUND, axis=1),
        ],
        axis=-1,
    )
    return unit.reshape(-1, 3), np.repeat(share * 2 * np.pi / _AROUND, _AROUND)
