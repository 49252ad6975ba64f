"""Where rays first meet a geom of type sdf: each goes on by the distance it still has to the surface.

A ray that does not meet the box around the geom misses it. Others take at most 40 steps and arrive when the field is
within 1e-7 of zero; a ray that grazes the surface may need more and then counts as a miss, one that starts inside
goes backwards and misses too. What is found is a length, whatever the length of the ray's vector: so it is in MuJoCo
3.4, where a vector twice as long gives half the number for every other kind of geom. Compare ray_sdf.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.contracts.enums import GeomType
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.geometry.ray_shapes_numpy import MISS, SHAPES

STEPS = 40
ARRIVED = 1e-7
"""Distance from the surface at which a ray has met it."""
LOST = 1e6
"""Distance from the surface beyond which no ray comes back."""


def sdf(model: ModelLike, data: DataLike, geom: int, points: Array, vectors: Array) -> Array:
    """Lengths (n,) of rays in the geom's frame, infinite where they miss it."""
    from dovetail.plugins.shared.geometry.sdf_fields_numpy import known_field

    found = np.full(len(vectors), MISS)
    towards = np.isfinite(SHAPES[GeomType.BOX](points, vectors, model.geom_size[geom]))
    if towards.any():
        distance = known_field(model, data, geom).distance
        found[towards] = marched(distance, points[towards], vectors[towards])
    return found


def marched(distance: Callable[[Array], Array], points: Array, vectors: Array) -> Array:
    """Lengths at which rays arrive."""
    directions = vectors * (1.0 / np.sqrt(np.square(vectors).sum(axis=1)))[:, None]
    length, found = np.zeros(len(points)), np.full(len(points), MISS)
    going = np.arange(len(points))
    for _ in range(STEPS):
        left = distance(points[going] + length[going, None] * directions[going])
        length[going] += left
        there = np.abs(left) < ARRIVED
        found[going[there]] = length[going[there]]
        going = going[~there & ~(left > LOST)]
        if not len(going):
            break
    return np.where(found < 0.0, MISS, found)
