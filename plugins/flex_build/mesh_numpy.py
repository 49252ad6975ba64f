"""Flexcomp type mesh: the triangles of a mesh file, or the tetrahedra between them and one more point.

A solid has its origin as point 0; triangles that do not see it from behind make no tetrahedron. See
`mjCFlexcomp::MakeMesh`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dovetail.contracts.flexcomp import FlexRecipe, FlexShape
from dovetail.plugins.shared.constants import MINVAL

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]


def mesh(recipe: FlexRecipe) -> FlexShape:
    """A surface for dim 2, a star-shaped solid around the origin for dim 3."""
    if recipe.dim < 2:
        raise ValueError("a mesh makes surfaces and solids; set dim to 2 or 3")
    parts = recipe.load_mesh(recipe.content, recipe.filename)
    vertex, face = parts.get("vertex", np.zeros((0, 3))), parts.get("face", np.zeros((0, 3), np.int64))
    if not len(vertex) or not len(face):
        raise ValueError("the file must have vertices and faces")
    point, face = merged(vertex.astype(np.float64), face.astype(np.int64))
    texture = {}
    if len(parts.get("texcoord", ())):
        texture["texcoord"] = parts["texcoord"].astype(np.float64)
        if len(parts.get("facetexcoord", ())):
            texture["elemtexcoord"] = parts["facetexcoord"].astype(np.int64).reshape(-1)
    if recipe.dim == 2:
        return FlexShape(dim=2, point=point, element=face.reshape(-1), **texture)
    assert recipe.origin is not None
    corner = point[face] - recipe.origin
    volume = np.einsum("ij,ij->i", np.cross(corner[:, 0], corner[:, 1]), corner[:, 2])
    seen = face[volume >= MINVAL] + 1
    element = np.hstack([np.zeros((len(seen), 1), np.int64), seen])
    return FlexShape(dim=3, point=np.vstack([recipe.origin, point]), element=element.reshape(-1), **texture)


def merged(point: Reals, face: Ints) -> tuple[Reals, Ints]:
    """Points in the same place become the first of them."""
    _, first, which = np.unique(point, axis=0, return_index=True, return_inverse=True)
    kept = np.sort(first)
    return point[kept], np.searchsorted(kept, first[which.reshape(-1)])[face]
