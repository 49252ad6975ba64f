"""Contacts of a plane with a mesh in lane kernels, one world after the other.

The lowest vertex of the mesh's hull is found by climbing down along its edges; then neighbours of that vertex that
are below the margin follow, three contacts at most. The rules are those of `planes_numpy`. World frame. See
mjc_PlaneConvex in MuJoCo 3.4.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from dovetail.backends.lanes.kernel import Kernel
from dovetail.plugins.collide_pair.convex_lanes import contact, lay_out
from dovetail.plugins.collide_pair.planes_numpy import MAX_MESH_CONTACTS, MESH_CONTACT_SPACING
from dovetail.plugins.shared.contacts.contacts_lanes import StoredContacts
from dovetail.plugins.shared.contacts.reach_lanes import FAR
from dovetail.plugins.shared.geometry.support_one_world_lanes import ENDLESS
from dovetail.plugins.shared.geometry.witness_one_world_lanes import margin_by_world
from dovetail.plugins.shared.vectors_lanes import Vector, dot, norm, to_frame, to_world, vector


def plane_mesh(k: Kernel, geom1: Any, geom2: Any, margin: Any) -> StoredContacts:
    """A plane and up to three vertices of a mesh's hull."""
    poses, found = k.split("plane_mesh/poses", 2, 12), k.split("plane_mesh/found", MAX_MESH_CONTACTS, 7)
    count, most = k.split("plane_mesh/count", 1), k.local(0)
    lay_out(k, poses, geom1, geom2)
    own_margin = margin_by_world(k, "plane_mesh/margin", margin)
    count[0] = 0.0
    with k.worlds(in_reach(k, geom1, geom2, margin)) as world:
        own = poses.of(world)
        lowest = LowestVertices(k, geom2, own[0], own[1], own_margin(world))
        lowest.collide(found.of(world))
        count.of(world)[0] = lowest.count.value
        most.set(k.max(most.value, lowest.count.value))
    return StoredContacts(most.value, partial(contact, found, count))


def in_reach(k: Kernel, plane: Any, mesh: Any, margin: Any) -> Any:
    """Mask of the worlds in which the mesh's bounding sphere reaches the plane; without a radius it always does."""
    normal = k.data.geom_xmat[plane][2::3]
    height = dot(k.data.geom_xpos[mesh] - k.data.geom_xpos[plane], normal)
    radius = k.model.geom_rbound[mesh]
    return height <= k.select(radius <= 0.0, FAR, radius + margin)


class LowestVertices:
    """The lowest vertices of a mesh over a plane, in one world."""

    def __init__(self, k: Kernel, geom: Any, plane: Vector, mesh: Vector, margin: Any) -> None:
        m = k.model
        number = m.geom_dataid[geom]
        self.k = k
        self.geom = geom
        self.margin = margin
        self.plane, self.normal = plane[:3], plane[3:].reshape(3, 3)[:, 2]
        self.position, self.matrix = mesh[:3], mesh[3:].reshape(3, 3)
        self.first, self.graph = m.mesh_vertadr[number], m.mesh_graphadr[number]
        self.hull = k.local(
            k.select(self.graph < 0, m.mesh_vertnum[number], m.mesh_graph[k.max(self.graph, 0)])
        )
        """Number of vertices that can be touched."""
        self.down = k.uniform(to_frame(self.matrix, -self.normal))
        self.count = k.local(0)

    def vertex(self, n: Any) -> Vector:
        """A vertex of the hull in the mesh's frame; without a graph the hull has all vertices."""
        k, m = self.k, self.k.model
        index = m.mesh_graph[k.max(self.graph + 2 + self.hull.value + n, 0)]
        place: Vector = m.mesh_vert[self.first + k.select(self.graph < 0, n, index)]
        return place

    def depth(self, n: Any) -> Any:
        """How far down a vertex is from the mesh's origin."""
        return dot(self.vertex(n), self.down.value)

    def world(self, n: Any) -> Vector:
        return to_world(self.matrix, self.vertex(n)) + self.position

    def neighbour(self, vertex: Any, n: Any) -> Any:
        """The n-th neighbour of a vertex of the hull, or −1; without a graph all others are neighbours."""
        k, m = self.k, self.k.model
        edges = self.graph + 2 + 2 * self.hull.value
        following = k.max(edges + m.mesh_graph[k.max(self.graph + 2 + vertex, 0)] + n, 0)
        other = n + k.select(n < vertex, 0, 1)
        alone = k.select(other < self.hull.value, other, -1)
        return k.select(self.graph < 0, alone, m.mesh_graph[k.select(self.graph < 0, 0, following)])

    def collide(self, found: Any) -> None:
        """Store the contacts and count them."""
        k = self.k
        lowest = k.local(self._climb())
        place = k.uniform(self.world(lowest.value))
        height = k.uniform(dot(place.value - self.plane, self.normal))
        with k.when(height.value <= self.margin):
            first = k.uniform(self._store(found, place.value, height.value))
            self._add_neighbours(found, lowest.value, first.value)

    def _store(self, found: Any, place: Vector, height: Any) -> Vector:
        """Store a contact halfway between a vertex and the plane; where that is."""
        middle = place + (-0.5 * height) * self.normal
        found[self.count.value] = vector(height, middle, self.normal)
        self.count += 1
        return middle

    def _climb(self) -> Any:
        """From the first vertex to the best neighbour until none is better; without a graph the first of the best."""
        k = self.k
        vertex, depth = k.local(0), k.uniform(self.depth(0))
        with k.loop(0, ENDLESS):
            before = k.local(vertex.value)
            with k.loop(0, self.hull.value) as n:
                other = self.neighbour(before.value, n)
                k.leave_when(other < 0)
                reach = self.depth(other)
                with k.when(reach > depth.value):
                    vertex.set(other)
                    depth.set(reach)
            k.leave_when(vertex.value == before.value)
        return vertex.value

    def _add_neighbours(self, found: Any, lowest: Any, first: Vector) -> None:
        """Neighbours below the margin that are not too near to the first contact."""
        k = self.k
        apart = MESH_CONTACT_SPACING * k.model.geom_rbound[self.geom]
        least = dot(self.normal, self.position - self.plane) - self.margin
        with k.loop(0, self.hull.value) as n:
            other = self.neighbour(lowest, n)
            k.leave_when((other < 0) | (self.count.value == MAX_MESH_CONTACTS))
            with k.when(self.depth(other) > least):
                place = k.uniform(self.world(other))
                with k.when(norm(k, place.value - first) >= apart):
                    self._store(found, place.value, dot(place.value - self.plane, self.normal))
