"""The hull of a mesh as a graph to walk on: which vertices it has and which of them share a face.

The numbers are mesh_graph's: counts of vertices and faces, where each vertex's neighbours begin, the vertices'
indices in the mesh, then the neighbours, each list ended by −1. A mesh that was compiled without a hull serves
as a graph in which all vertices are neighbours. Points are in the mesh's frame.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model


class HullPoints(NamedTuple):
    """Vertices that can be touched, numbered within the hull."""

    points: Array
    """(n, 3)."""
    edge_start: Array | None
    """Where each vertex's neighbours begin in `edges`; None: all others are neighbours."""
    edges: Array

    def neighbours(self, vertex: int) -> Array:
        """Neighbours of a vertex, in the graph's order."""
        if self.edge_start is None:
            return np.flatnonzero(np.arange(len(self.points)) != vertex)
        start = int(self.edge_start[vertex])
        following = self.edges[start : start + len(self.points)]
        return following[: int(np.argmax(following < 0))]

    def climb(self, values: Array) -> int:
        """From the first vertex to the best neighbour until none is better: the vertex of greatest value.

        Where several are equal the way taken decides which, so a plain maximum would not do.
        """
        if self.edge_start is None:
            return int(np.argmax(values))
        vertex = 0
        while True:
            around = self.neighbours(vertex)
            best = int(around[np.argmax(values[around])])
            if not values[best] > values[vertex]:  # also where the pose is not a number
                return vertex
            vertex = best


def hull_of(model: Model, geom: int) -> HullPoints:
    """The hull of a geom's mesh."""
    mesh = int(model.geom_dataid[geom])
    first, graph = int(model.mesh_vertadr[mesh]), int(model.mesh_graphadr[mesh])
    if graph < 0:
        vertices = model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])]
        return HullPoints(vertices.astype(float), None, np.zeros(0, int))
    count = int(model.mesh_graph[graph])
    edge_start, index = model.mesh_graph[graph + 2 : graph + 2 + 2 * count].reshape(2, count)
    return HullPoints(
        model.mesh_vert[first + index].astype(float), edge_start, model.mesh_graph[graph + 2 + 2 * count :]
    )


Neighbours: TypeAlias = list[tuple[int, list[float]]]
"""Hull vertices that edges lead to, and where they are."""


class HullGraph:
    """The vertices of a hull and where its edges lead, read as they are first asked for."""

    __slots__ = ("_count", "_ends", "_first_edge", "_seen", "_vertices", "graph", "ids")

    def __init__(self, vertices: Array, graph: Array) -> None:
        self.graph = graph
        self._vertices = vertices
        self._count = count = int(graph[0])
        self._first_edge = graph[2 : 2 + count]
        self.ids = graph[2 + count : 2 + 2 * count]
        self._ends = graph[2 + 2 * count :]
        self._seen: dict[int, Neighbours] = {}

    def is_of(self, vertices: Array, graph: Array) -> bool:
        """Whether the numbers are still the same."""
        return np.array_equal(self._vertices, vertices) and np.array_equal(self.graph, graph)

    def point(self, hull_vertex: int) -> list[float]:
        """Where a vertex is."""
        found: list[float] = self._vertices[self.ids[hull_vertex]].tolist()
        return found

    def neighbours(self, hull_vertex: int) -> Neighbours:
        """Up to a negative number."""
        found = self._seen.get(hull_vertex)
        if found is None:
            at = int(self._first_edge[hull_vertex])
            row = self._ends[at : at + self._count]
            ends = row[: int((row < 0).argmax())]
            points = self._vertices[self.ids[ends]]
            found = self._seen[hull_vertex] = list(zip(ends.tolist(), points.tolist(), strict=True))
        return found


_GRAPHS: dict[tuple[int, int], HullGraph] = {}
_MOST_KEPT = 2_000_000
"""Numbers in all graphs that are kept."""


def hull_graph(model: Model, mesh: int) -> HullGraph:
    """The graph of a mesh's hull; the last ones are kept as long as the model's numbers stay the same."""
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    start = int(model.mesh_graphadr[mesh])
    nvert, nface = model.mesh_graph[start : start + 2].tolist()
    vertices = model.mesh_vert[first : first + count]
    graph = model.mesh_graph[start : start + 2 + 3 * nvert + 6 * nface]
    key = (id(model), mesh)
    known = _GRAPHS.get(key)
    if known is None or not known.is_of(vertices, graph):
        if sum(len(other.graph) for other in list(_GRAPHS.values())) + len(graph) > _MOST_KEPT:
            _GRAPHS.clear()
        known = _GRAPHS[key] = HullGraph(vertices.copy(), graph.copy())
    return known
