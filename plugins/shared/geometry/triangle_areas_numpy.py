"""Areas, normals and centres of triangles, and sums over them in the order of the faces."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.sums_numpy import dots, total


def triangles(vertices: Array, faces: Array) -> tuple[Array, Array, Array]:
    """Area (n), unit normal (n, 3) and centre (n, 3) of each face; a degenerate face has no area."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = _cross(b - a, c - a)
    length = np.sqrt(dots(normal, normal))
    proper = length >= MINVAL
    np.divide(normal, length[:, None], out=normal, where=proper[:, None])
    return np.where(proper, 0.5 * length, 0.0), normal, (a + b + c) / 3


def _cross(a: Array, b: Array) -> Array:
    return np.stack(
        [
            a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1],
            a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
            a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0],
        ],
        axis=1,
    )


def surface_centroid(vertices: Array, faces: Array) -> tuple[float, Array]:
    """Area of the surface and its centroid."""
    area, _, centre = triangles(vertices, faces)
    whole = float(total(area))
    moment = total(area[:, None] * centre)
    return whole, moment / whole if whole >= MINVAL else moment
