"""Mass properties of a mesh as those of the box around it."""

from __future__ import annotations

import numpy as np

from dovetail.plugin import Array


def crate(vertices: Array, faces: Array) -> tuple[float, Array, Array]:
    """Volume, centre and inertia about it, per unit density."""
    least, largest = vertices.min(axis=0), vertices.max(axis=0)
    edges = largest - least
    volume = float(np.prod(edges))
    squares = edges * edges
    return volume, (least + largest) / 2, np.diag(volume * (squares.sum() - squares) / 12)
