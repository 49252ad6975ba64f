"""Volume or area, centre of mass and inertia of a triangle mesh, for unit density, in the mesh's frame.

A solid is the sum of pyramids over its faces: first with the centroid of the surface as their common apex, which
gives the centre of mass, then with the centre of mass, which gives volume and second moments. A shell is the sum
of its triangles. See `mjCMesh::ComputeVolume`, `ComputeSurfaceArea` and `ComputeInertia`. Sums run in the order
of the faces, so that rounding, which decides the axes of symmetric meshes, is the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.triangle_areas_numpy import surface_centroid, triangles
from dovetail.plugins.shared.sums_numpy import dots, total

_SHELL, _SOLID = 12, 20
"""Divisors of the second moments of a triangle and of a pyramid."""
Result = tuple[float, Array, Array]
"""Measure, centre (3), inertia about the centre (3, 3)."""


def _solid(vertices: Array, faces: Array, surface: Array, sign: Callable[[Array], Array]) -> Result:
    """Pyramids over some faces; the first apex is the centroid of the surface."""
    _, apex = surface_centroid(vertices, surface)
    area, normal, centre = triangles(vertices, faces)
    volume = sign(dots(centre - apex, normal) * area / 3)
    whole = float(total(volume))
    moment = total(volume[:, None] * (centre * 3.0 / 4.0 + apex / 4.0))
    if whole < MINVAL:
        return whole, moment, np.zeros((3, 3))
    centre_of_mass = moment / whole
    centred = vertices - centre_of_mass
    area, normal, centre = triangles(centred, faces)
    volume = sign(dots(centre, normal) * area / 3)
    return float(total(volume)), centre_of_mass, _inertia(centred, faces, volume, _SOLID)


def _inertia(vertices: Array, faces: Array, weight: Array, divisor: int) -> Array:
    """Moments of inertia from the second moments of pyramids or triangles of the given measure."""
    d, e, f = (vertices[faces[:, k]] for k in range(3))

    def product(i: int, j: int) -> float:
        terms = (
            2 * (d[:, i] * d[:, j] + e[:, i] * e[:, j] + f[:, i] * f[:, j])
            + d[:, i] * e[:, j]
            + d[:, j] * e[:, i]
            + d[:, i] * f[:, j]
            + d[:, j] * f[:, i]
            + e[:, i] * f[:, j]
            + e[:, j] * f[:, i]
        )
        return float(total(weight / divisor * terms))

    xx, yy, zz, xy, xz, yz = (product(*p) for p in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return np.array([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]])


def _signed(volume: Array) -> Array:
    return volume


def legacy(vertices: Array, faces: Array) -> Result:
    """Pyramids that all count positive, whatever way their face looks."""
    return _solid(vertices, faces, faces, np.abs)


def exact(vertices: Array, faces: Array) -> Result:
    """Signed pyramids: those of inward faces are taken away."""
    return _solid(vertices, faces, faces, _signed)


def convex(vertices: Array, faces: Array, own_faces: Array | None = None) -> Result:
    """Signed pyramids; the compiler gives the faces of the convex hull, and the mesh's own.

    The first apex is the centroid of the mesh's own faces, as in MuJoCo. Any apex gives the same centre of mass but
    for rounding, and the rounding of a mesh's place decides which corner of a flat side touches.
    """
    return _solid(vertices, faces, faces if own_faces is None else own_faces, _signed)


def shell(vertices: Array, faces: Array) -> Result:
    """Triangles instead of pyramids: mass per area.

    The centre is three quarters of the triangles' centres and one of the centroid, as in MuJoCo: the same point.
    """
    area, apex = surface_centroid(vertices, faces)
    each, _, centre = triangles(vertices, faces)
    if area < MINVAL:
        return area, apex, np.zeros((3, 3))
    centre_of_mass = total(each[:, None] * (centre * 3.0 / 4.0 + apex / 4.0)) / area
    centred = vertices - centre_of_mass
    each, _, _ = triangles(centred, faces)
    return float(total(each)), centre_of_mass, _inertia(centred, faces, each, _SHELL)


ROWS = {"legacy": legacy, "exact": exact, "convex": convex, "shell": shell}
"""Inertia mode to row."""
