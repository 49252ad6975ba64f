"""Connections inside one flex: edges, flaps, surface fragments, layers, and pairs tested for self-collision.

Indices only; vertices are counted inside the flex. An element is a segment, triangle or tetrahedron, a
fragment is a side of it: a vertex, an edge or a face. Orders are those of `mjCFlex::Compile` and
`mjCFlex::CreateShellPair`: edges as they first appear, fragments sorted by their vertices.
"""

from __future__ import annotations

import attrs
import numpy as np

Ints = np.ndarray
Reals = np.ndarray

EDGES = {
    1: np.array([[0, 1]]),
    2: np.array([[1, 2], [2, 0], [0, 1]]),
    3: np.array([[0, 1], [1, 2], [2, 0], [2, 3], [0, 3], [1, 3]]),
}
"""Vertices of an element's edges, by dimension; edge i of a triangle is opposite vertex i."""
_FRAGMENTS = {
    1: np.array([[0], [1]]),
    2: np.array([[0, 1], [2, 0], [1, 2]]),
    3: np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]),
}
"""Vertices of an element's sides; those of a tetrahedron are seen anticlockwise from outside."""


def outward(element: Ints, point: Reals) -> Ints:
    """Tetrahedra with two vertices exchanged where their sides would face inwards."""
    corner = point[element]
    first, second, third = (corner[:, i] - corner[:, 0] for i in (1, 2, 3))
    inward = np.einsum("ij,ij->i", np.cross(first, second), third) > 0
    return np.where(inward[:, None], element[:, [0, 2, 1, 3]], element)


def edges(element: Ints) -> tuple[Ints, Ints]:
    """Vertices (n, 2) of all edges, and the edges of each element."""
    local = EDGES[element.shape[1] - 1]
    pairs = np.sort(element[:, local].reshape(-1, 2), axis=1)
    distinct, first, which = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    rank = np.empty_like(appearance)
    rank[appearance] = np.arange(len(appearance))
    return distinct[appearance], rank[which.reshape(-1)].reshape(len(element), -1)


def flaps(element: Ints, elemedge: Ints) -> Ints:
    """Of each edge of a surface: its vertices as first met, and the opposite vertices in two triangles (or −1)."""
    edge = elemedge.reshape(-1)
    start, end = element[:, EDGES[2]].reshape(-1, 2).T
    opposite = element.reshape(-1)
    _, first = np.unique(edge, return_index=True)
    flap = np.stack([start[first], end[first], opposite[first], np.full(len(first), -1)], axis=1)
    later = np.ones(len(edge), bool)
    later[first] = False
    flap[edge[later], 3] = opposite[later]  # of three triangles on one edge the last one counts
    return flap


@attrs.frozen(eq=False)
class FlexSurface:
    """What the fragments of a flex tell about its elements."""

    shell: Ints
    """Vertices (n, dim) of the fragments that belong to one element only."""
    layer: Ints
    """How many elements lie between each element and the surface; solids only, otherwise zero."""
    evpair: Ints
    """Element and vertex (n, 2) of neighbours across a fragment, near the border; lines and surfaces only."""


def surface(element: Ints) -> FlexSurface:
    """Border, layers and neighbour pairs of the elements."""
    dim = element.shape[1] - 1
    fragment = element[:, _FRAGMENTS[dim]].reshape(-1, dim)
    owner = np.repeat(np.arange(len(element)), dim + 1)
    key = np.sort(fragment, axis=1)
    order = np.lexsort((owner, *key.T[::-1]))
    fragment, owner, key = fragment[order], owner[order], key[order]
    same = np.zeros(len(owner) + 1, bool)
    same[1:-1] = (key[1:] == key[:-1]).all(axis=1)
    lone = ~same[:-1] & ~same[1:]
    border = np.zeros(len(element), bool)
    border[owner[lone]] = True
    neighbour = np.flatnonzero(same[1:-1])
    pairs = np.stack([owner[neighbour], owner[neighbour + 1]], axis=1)
    common = key[neighbour].sum(axis=1)
    layer = _layers(border, pairs) if dim == 3 else np.zeros(len(element), np.int64)
    evpair = _element_vertex_pairs(element, border, pairs, common) if dim < 3 else np.zeros((0, 2), np.int64)
    return FlexSurface(fragment[lone], layer, evpair)


def _layers(border: Ints, pairs: Ints) -> Ints:
    """Distance of each element from the border, over neighbours; unreachable ones are beyond any distance."""
    layer = np.where(border, 0, len(border) + 1)
    reached = 0
    while True:
        front = layer[pairs] == reached
        inner = pairs[front[:, ::-1] & (layer[pairs] > reached + 1)]
        if not len(inner):
            return layer
        reached += 1
        layer[inner] = reached


def _element_vertex_pairs(element: Ints, border: Ints, pairs: Ints, common: Ints) -> Ints:
    """For neighbours of which one is on the border: each with the vertex of the other that they do not share."""
    near = border[pairs].any(axis=1)
    pairs, common = pairs[near], common[near]
    lone = element[pairs].sum(axis=2) - common[:, None]
    return np.stack([pairs[:, ::-1], lone], axis=2).reshape(-1, 2)
