"""Worlds side by side: where each stands in a grid."""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array

ROOM = 1.3
"""Distance of neighbours in sizes of what moves, lying or standing."""


def grid_offsets(count: int, spacing: float) -> Array:
    """Where worlds stand (count, 3): rows along x, centred on the origin; one world stands at the origin."""
    columns = int(np.ceil(np.sqrt(count)))
    number = np.arange(count)
    place = np.stack([number % columns, number // columns, np.zeros(count)], axis=-1).astype(float)
    rows = -(-count // columns)
    place -= np.array([(columns - 1) / 2, (rows - 1) / 2, 0.0])
    offsets: Array = place * spacing
    return offsets


def spacing_of(pos: Array, radius: Array) -> float:
    """A distance at which neighbours do not touch, from geoms of one world (n, 3) and their bounding radii."""
    if len(pos) == 0:
        return 1.0
    low = (pos - radius[:, None]).min(axis=0)
    high = (pos + radius[:, None]).max(axis=0)
    return ROOM * max(0.1, float((high - low).max()))
