"""Meshes without volume in the legacy dialect: their inertia is that of their bounding box.

MuJoCo 3.4.0 refuses them. A flat mesh has a flat box, which gets a little thickness, so that inertia stays
positive; it has no convex hull and takes no part in collisions that need one.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import MeshInertia
from dovetail.plugins.mesh_inertia.integrals_numpy import SMALL

from .asset_tree import Mesh

if TYPE_CHECKING:
    from .context import MeshInertiaRow

_THICKNESS = 1e-5
"""Least side of a box relative to its longest."""
_FLAT = 1e-10
"""Extent across a flat mesh, relative to its longest."""

Inertia = tuple[float, np.ndarray, np.ndarray]


def boxed(mesh: Mesh, row: MeshInertiaRow) -> MeshInertiaRow:
    """How to integrate a mesh: as its mode says, or as its bounding box if it has no volume."""
    if mesh.inertia == MeshInertia.SHELL:
        return row
    if _is_flat(mesh.surface.vertex):
        mesh.needs_hull = False
        mesh.inertia = MeshInertia.LEGACY

    def integrate(vertices: np.ndarray, faces: np.ndarray) -> Inertia:
        result = row(vertices, faces)
        if result[0] >= SMALL:
            return result
        place = mesh.place
        warnings.warn(
            f"{place.file}:{place.line}: {place.describe()}: a mesh without volume is given the inertia of its "
            'bounding box, an older rule; write inertia="shell"',
            DeprecationWarning,
            stacklevel=2,
        )
        return _box(vertices)

    return integrate


def _is_flat(vertices: np.ndarray) -> bool:
    """Whether all vertices lie in one plane."""
    spread = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False)
    return bool(spread[-1] <= _FLAT * spread[0])


def _box(vertices: np.ndarray) -> Inertia:
    """Volume, centre and inertia per unit density of the box around all vertices."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    sides = np.maximum(high - low, _THICKNESS * (high - low).max())
    volume = float(np.prod(sides))
    squares = sides**2
    return volume, (low + high) / 2, np.diag(volume / 12 * (squares.sum() - squares))
