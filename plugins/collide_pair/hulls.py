"""The hull of a mesh as a graph to walk on: which vertices it has and which of them share a face.

The numbers are mesh_graph's: counts of vertices and faces, where each vertex's neighbours begin, the vertices'
indices in the mesh, then the neighbours, each list ended by −1. A mesh that was compiled without a hull serves
as a graph in which all vertices are neighbours. Points are in the mesh's frame.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.types import Model


class Hull(NamedTuple):
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


def hull_of(model: Model, geom: int) -> Hull:
    """The hull of a geom's mesh."""
    mesh = int(model.geom_dataid[geom])
    first, graph = int(model.mesh_vertadr[mesh]), int(model.mesh_graphadr[mesh])
    if graph < 0:
        vertices = model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])]
        return Hull(vertices.astype(float), None, np.zeros(0, int))
    count = int(model.mesh_graph[graph])
    edge_start, index = model.mesh_graph[graph + 2 : graph + 2 + 2 * count].reshape(2, count)
    return Hull(
        model.mesh_vert[first + index].astype(float), edge_start, model.mesh_graph[graph + 2 + 2 * count :]
    )
