"""Which pairs of elements are plainly apart, all at once, so that the convex iteration need not be asked.

Elements are apart if their corners are, along some direction, farther from each other than both radii and the margin
reach. The directions tried are those between the middles, across the faces, and in the plane of a triangle across
its edges. What is not plainly apart goes to the iteration. World frame.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.plugins.collide_flex.contact_rows_numpy import crosses, units

FACES = {3: ((0, 1, 2),), 4: ((0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2))}
"""Corners of the faces, by the number of an element's corners."""


def plainly_apart(one: Array, other: Array, reach: Array) -> Array:
    """Whether elements with corners (n, p, 3) and (n, q, 3) are farther apart than `reach` (n)."""
    apart = np.zeros(len(one), bool)
    left = np.arange(len(one))
    for direction in directions(one, other):
        way = direction[left][:, :, None]
        a, b = (one[left] @ way)[..., 0], (other[left] @ way)[..., 0]
        gap = np.maximum(b.min(axis=1) - a.max(axis=1), a.min(axis=1) - b.max(axis=1))
        apart[left[gap > reach[left]]] = True
        left = left[gap <= reach[left]]
    return apart


def directions(one: Array, other: Array) -> Iterator[Array]:
    """Unit vectors (n, 3) along which elements may be apart."""
    yield units(other.mean(axis=1) - one.mean(axis=1))[0]
    for corners in (one, other):
        for i, j, k in FACES.get(corners.shape[1], ()):
            normal = crosses(corners[:, j] - corners[:, i], corners[:, k] - corners[:, i])
            yield units(normal)[0]
            if corners.shape[1] == 3:
                for start, end in ((i, j), (j, k), (k, i)):
                    yield units(crosses(normal, corners[:, end] - corners[:, start]))[0]
