"""Coefficients of the ellipsoid model of fluid forces on a geom (`geom_fluid`).

Besides the five written coefficients these are the added mass and inertia of the ellipsoid with the geom's
semi-axes, per unit density of the medium: Lamb's potential-flow result, whose shape integral is taken by
Gauss-Kronrod quadrature with 15 nodes. Compare mjCGeom::SetFluidCoefs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.mjcf.geometry.rotation import Vec
from dovetail.plugins.shared.constants import EPS

if TYPE_CHECKING:
    from dovetail.mjcf.elements.geom import GeomItem

_NODES = (
    0.991455371120812639206854697526329,
    0.949107912342758524526189684047851,
    0.864864423359769072789712788640926,
    0.741531185599394439863864773280788,
    0.586087235467691130294144691693013,
    0.405845151377397166906606412076961,
    0.207784955007898467600689403773245,
    0.0,
)
_WEIGHTS = (
    0.022935322010529224963732008058970,
    0.063092092629978553290700663189204,
    0.104790010322250183839876322541518,
    0.140653259715525918745189590510238,
    0.169004726639267902826583426598550,
    0.190350578064785409913256402421014,
    0.204432940075298892414161999234649,
    0.209482141084727828012999174891714,
)
"""Kronrod's rule on [−1, 1], its non-negative half (QUADPACK's qk15)."""


def _rule() -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [0, ∞), by x³/(1−x)² from the rule on [0, 1], which MuJoCo has to 8 decimals."""
    nodes = np.array([-n for n in _NODES] + list(_NODES[-2::-1]))
    weights = np.round(0.5 * np.array([*_WEIGHTS, *_WEIGHTS[-2::-1]]), 8)
    x = np.round(0.5 * (1.0 + nodes), 8)
    return x**3 / (1.0 - x) ** 2, weights * x**2 * (3.0 - x) / (1.0 - x) ** 3


_LAMBDA, _MEASURE = _rule()


def fluid_coefficients(geom: GeomItem) -> Vec:
    """The twelve numbers of one geom; all zero unless it is an ellipsoid to the fluid."""
    if geom.fluidshape != "ellipsoid":
        return (0.0,) * 12
    axes = _semi_axes(geom)
    return (1.0, *geom.fluidcoef, *_added_mass(axes))


def _semi_axes(geom: GeomItem) -> tuple[float, float, float]:
    a, b, c = geom.size
    return {
        GeomType.SPHERE: (a, a, a),
        GeomType.CAPSULE: (a, a, a + b),
        GeomType.CYLINDER: (a, a, b),
    }.get(GeomType(geom.type), (a, b, c))


def _added_mass(axes: tuple[float, float, float]) -> Vec:
    """Added mass along each axis, and added inertia about each."""
    x, y, z = axes
    volume = 4.0 / 3.0 * math.pi * x * y * z
    shape = [_shape_integral(*order) for order in ((x, y, z), (y, z, x), (z, x, y))]
    masses = [volume * k / max(EPS, 2.0 - k) for k in shape]
    inertias = [
        volume / 5.0 * _rotation_factor(axes[i], axes[j], shape[i], shape[j])
        for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    return (*masses, *inertias)


def _shape_integral(first: float, second: float, third: float) -> float:
    """∫ of the ellipsoid's potential along its first axis; scaled so that the integrand stays of order one."""
    if min(first, second, third) <= 0:  # an infinite plane; MuJoCo stores NaN
        return 0.0
    scale = (first**3 * second * third) ** 0.4
    a, b, c = (1.0 + scale * _LAMBDA / d**2 for d in (first, second, third))
    return float(scale * np.sum(_MEASURE / (a * np.sqrt(a * b * c)))) / first**2


def _rotation_factor(a: float, b: float, ka: float, kb: float) -> float:
    """How much of the sphere's worth of fluid turns with the ellipsoid about the axis across a and b."""
    difference, total = a * a - b * b, a * a + b * b
    return difference**2 * abs(kb - ka) / max(EPS, abs(2.0 * difference + total * (ka - kb)))
