"""Boxes around the faces of meshes, in trees that rays go through in lanes; made when a plan is made.

The faces of a mesh are halved along the longest axis of their places, each half again, down to leaves of a few. Nodes
lie as they are gone through: behind a node its children, and it has the number of the one after them, for a ray that
misses its box. Bounds are integers, in a
unit of each mesh, rounded outwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, log2
from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import ModelLike

LEAF = 4
"""Faces of a leaf."""
BITS = 20
"""Of a bound, but for its sign."""
_EXPONENTS = 30
"""Powers of two that are integers of 32 bits."""
_MOST = 2**31 - 1
"""Bounds beyond this, of meshes larger than 1e18 m, are cut."""


class Nodes(NamedTuple):
    """A tree, or several in a row."""

    bounds: Array
    """(n, 6) least coordinates, then greatest."""
    after: Array
    """The node to go on with where a box is missed."""
    first: Array
    """Where the faces of a leaf begin in `faces`."""
    nface: Array
    """How many they are; 0: no leaf."""
    faces: Array
    """Rows of mesh_face."""


class FaceTrees(NamedTuple):
    """The trees of some meshes of a model."""

    nodes: Nodes
    meshes: Array
    """(nmesh, 4) first node, the one after the last, numerator and denominator of the unit; zero: no tree."""


def face_trees(model: ModelLike, meshes: Iterable[int]) -> FaceTrees:
    """The trees of the given meshes."""
    rows, trees, start, face_start = np.zeros((max(1, model.nmesh), 4), int), [], 0, 0
    for mesh in sorted(set(meshes)):
        first_face, first_vertex = int(model.mesh_faceadr[mesh]), int(model.mesh_vertadr[mesh])
        faces = np.arange(first_face, first_face + int(model.mesh_facenum[mesh]))
        corners = np.asarray(model.mesh_vert, float)[first_vertex + np.asarray(model.mesh_face)[faces]]
        exponent = unit_exponent(corners)
        tree = tree_of(np.nan_to_num(corners) / 2.0**exponent, faces)
        rows[mesh] = start, start + len(tree.after), 2 ** max(exponent, 0), 2 ** max(-exponent, 0)
        trees.append(tree._replace(after=tree.after + start, first=tree.first + face_start))
        start, face_start = start + len(tree.after), face_start + len(faces)
    joined = (np.concatenate(column) for column in zip(*trees, strict=True))
    return FaceTrees(Nodes(*joined), rows)


def unit_exponent(corners: Array) -> int:
    """The power of two in which bounds are counted."""
    extent = float(np.abs(np.nan_to_num(corners)).max(initial=0.0))
    wanted = ceil(log2(extent)) - BITS if extent > 0.0 else 0
    return max(-_EXPONENTS, min(_EXPONENTS, wanted))


def tree_of(corners: Array, faces: Array) -> Nodes:
    """The tree of triangles (n, 3 corners, 3) with the given numbers."""
    depth = max(0, ceil(log2(max(1, len(faces)) / LEAF)))
    order = halved_order(corners.mean(axis=1), depth)
    low, high = np.floor(corners.min(axis=1))[order], np.ceil(corners.max(axis=1))[order]
    room = (LEAF << depth) - len(faces)
    low = np.pad(low, ((0, room), (0, 0)), constant_values=np.inf).reshape(-1, LEAF, 3).min(axis=1)
    high = np.pad(high, ((0, room), (0, 0)), constant_values=-np.inf).reshape(-1, LEAF, 3).max(axis=1)
    size = (2 << depth) - 1
    bounds, after, leaf = np.full((size, 6), np.inf), np.zeros(size, int), np.full(size, -1)
    places = dfs_places(depth)
    leaf[places[depth]] = np.arange(1 << depth)
    for level in range(depth, -1, -1):
        bounds[places[level]], after[places[level]] = np.hstack([low, high]), places[level] + (size >> level)
        low, high = (
            low.reshape(-1, 2 - (level == 0), 3).min(axis=1),
            high.reshape(-1, 2 - (level == 0), 3).max(axis=1),
        )
    full = np.isfinite(bounds).all(axis=1)
    first = np.where(leaf >= 0, leaf * LEAF, 0)
    count = np.where(leaf >= 0, np.clip(len(faces) - first, 0, LEAF), 0)
    kept = np.append(0, np.cumsum(full))  # full nodes before each
    whole = np.clip(bounds[full], -_MOST, _MOST).astype(int)
    return Nodes(whole, kept[after[full]], first[full], count[full], faces[order])


def dfs_places(depth: int) -> list[Array]:
    """Where the nodes of each level of a full binary tree are, if every node is followed by its children."""
    places = [np.zeros(1, int)]
    for level in range(1, depth + 1):
        children = (1 << (depth - level + 1)) - 1  # nodes below and with a child
        places.append(np.stack([places[-1] + 1, places[-1] + 1 + children], axis=1).ravel())
    return places


def halved_order(places: Array, depth: int) -> Array:
    """An order of places (n, 3) in which the whole is halved along its longest axis, then each half, and so on."""
    order = np.arange(len(places))
    for level in range(depth):
        part = np.arange(len(places)) // (LEAF << (depth - level))
        starts = np.flatnonzero(np.diff(part, prepend=-1))
        inside = places[order]
        extents = np.maximum.reduceat(inside, starts) - np.minimum.reduceat(inside, starts)
        along = inside[np.arange(len(places)), extents.argmax(axis=1)[part]]
        order = order[np.lexsort((along, part))]
    return order
