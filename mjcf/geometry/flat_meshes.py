"""Meshes without volume or area in the legacy dialect: their inertia is that of their bounding box.

MuJoCo 3.4.0 refuses them. A flat mesh has a flat box, which gets a little thickness, so that inertia stays
positive; it has no convex hull and takes no part in collisions that need one. As a shell a flat mesh has area and is
what it is, but one whose vertices lie on a line has none and is a box too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dovetail.contracts.enums import MeshInertia
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.geometry.triangle_areas_numpy import surface_centroid
from dovetail.warned import warn

if TYPE_CHECKING:
    from dovetail.mjcf.elements.mesh import MeshItem
    from dovetail.mjcf.model.tables import MeshInertiaRow

_THICKNESS = 1e-5
"""Least side of a box relative to its longest."""
_LEAST = 1e-13
"""Least volume of a box [m³]: the compiler takes smaller ones for nothing, and their mass with them."""
_FLAT = 1e-10
"""Extent across a flat mesh, relative to its longest."""

Inertia = tuple[float, np.ndarray, np.ndarray]


def boxed(mesh: MeshItem, row: MeshInertiaRow) -> MeshInertiaRow:
    """How to integrate a mesh: as its mode says, or as its bounding box if it has no volume."""
    if _is_flat(mesh.surface.vertex):
        mesh.needs_hull = False
        if mesh.inertia != MeshInertia.SHELL:
            mesh.inertia = MeshInertia.LEGACY

    def integrate(vertices: np.ndarray, faces: np.ndarray, *own_faces: np.ndarray) -> Inertia:
        area, _ = surface_centroid(vertices, faces)
        if area < MINVAL:
            _warn(mesh, "without area", "move its vertices apart")
            return _box(mesh, vertices)
        result = row(vertices, faces, *own_faces)
        if result[0] >= MINVAL or mesh.inertia == MeshInertia.SHELL:
            return result
        _warn(mesh, "without volume", 'write inertia="shell"')
        return _box(mesh, vertices)

    return integrate


def _warn(mesh: MeshItem, lack: str, remedy: str) -> None:
    place = mesh.place
    warn(
        f"{place.file}:{place.line}: {place.describe()}: a mesh {lack} is given the inertia of its bounding box, an "
        f"older rule; {remedy}",
        DeprecationWarning,
        stacklevel=2,
    )


def _is_flat(vertices: np.ndarray) -> bool:
    """Whether all vertices lie in one plane."""
    spread = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False)
    return bool(spread[-1] <= _FLAT * spread[0])


def _box(mesh: MeshItem, vertices: np.ndarray) -> Inertia:
    """Volume, centre and inertia per unit density of the box around all vertices."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    sides = _thickened(high - low)
    if not sides.any():
        raise mesh.place.error("all vertices are in one place; move them apart, or scale the mesh")
    volume = float(np.prod(sides))
    squares = sides**2
    return volume, (low + high) / 2, np.diag(volume / 12 * (squares.sum() - squares))


def _thickened(sides: np.ndarray) -> np.ndarray:
    """The sides of a box, those that are nearly nothing raised until it has a volume that counts."""
    thin = sides < _THICKNESS * sides.max()
    if not thin.any():
        return sides
    enough = (_LEAST / np.prod(sides[~thin])) ** (1 / thin.sum())
    return np.where(thin, max(_THICKNESS * sides.max(), enough), sides)
