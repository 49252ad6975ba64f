"""Flex vertices, boxes of elements and of their trees, edge lengths and edge Jacobians, in lanes.

A vertex is a point of its body. The row of an edge is its direction times the difference of its ends' motions; it is
there only if something asks for it (`edge_rows.needs_rows`). World frame.
Edges between bodies that slide along the world's axes need no motions. Compare mj_flex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel
from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.flex.edge_rows import ends_of_edges
from dovetail.plugins.shared.flex.edges_lanes import lane_edges
from dovetail.plugins.shared.flex.tables import OtherEdges, StraightEdges, elements_of, flex_of
from dovetail.plugins.shared.vectors_lanes import Vector, cross, dot, norm, to_world, vector

DIMS = (1, 2, 3)


def flex_kinematics(k: Kernel) -> None:
    """Write flexvert_xpos, flexelem_aabb, bvh_aabb_dyn, flexedge_length and flexedge_J."""
    write_vertices(k)
    write_boxes(k)
    write_trees(k)
    write_edges(k)


# ---- vertices ---------------------------------------------------------------------------------------------


def write_vertices(k: Kernel) -> None:
    """Places of all vertices: those at their body's origin, then the others."""
    m, d, model = k.model, k.data, k.frozen_model
    centered = model.flex_centered[flex_of(model, model.flex_vertnum)] != 0
    inside, outside = np.flatnonzero(centered), np.flatnonzero(~centered)
    with k.loop(0, len(inside)) as n:
        vertex = k.table("flex/inside", inside)[n]
        d.flexvert_xpos[vertex] = d.xpos[m.flex_vertbodyid[vertex]]
    with k.loop(0, len(outside)) as n:
        vertex = k.table("flex/outside", outside)[n]
        body = m.flex_vertbodyid[vertex]
        axes = d.xmat[body].reshape(3, 3)
        d.flexvert_xpos[vertex] = d.xpos[body] + to_world(axes, m.flex_vert[vertex])


# ---- boxes ------------------------------------------------------------------------------------------------


def write_boxes(k: Kernel) -> None:
    """Boxes around elements, wider by the radius."""
    m, d = k.model, k.data
    for dim in DIMS:
        table = elements_of(k.frozen_model, dim)
        if not len(table.elem):
            continue
        corner, of = k.table(f"flex/corners{dim}", table.vertex), k.table(f"flex/elements{dim}", table.elem)
        flex = k.table(f"flex/element_flex{dim}", table.flex)
        with k.loop(0, len(table.elem)) as n:
            points = [d.flexvert_xpos[corner[n, place]] for place in range(dim + 1)]
            low, high = points[0], points[0]
            for point in points[1:]:
                low = vector(*(k.min(a, b) for a, b in zip(low, point, strict=True)))
                high = vector(*(k.max(a, b) for a, b in zip(high, point, strict=True)))
            half = 0.5 * (high - low) + m.flex_radius[flex[n]]
            d.flexelem_aabb[of[n]] = vector(0.5 * (high + low), half)


def write_trees(k: Kernel) -> None:
    """Boxes of the trees of elements, from the leaves to the roots; zero without midphase: nobody asks for them."""
    d, nodes = k.data, tree_nodes(k.frozen_model)
    if not len(nodes):
        return
    table = k.table("flex/tree", nodes)
    with k.when(k.disabled(DisableBit.MIDPHASE)), k.loop(0, len(nodes)) as n:
        d.bvh_aabb_dyn[table[n, 0]] = 0.0
    with k.otherwise(), k.loop(0, len(nodes)) as n:
        node, elem = table[n, 0], table[n, 3]
        with k.when(elem >= 0):
            d.bvh_aabb_dyn[node] = d.flexelem_aabb[elem]
        with k.otherwise():
            d.bvh_aabb_dyn[node] = union(k, *(d.bvh_aabb_dyn[table[n, 1 + side]] for side in (0, 1)))


def tree_nodes(model: Any) -> np.ndarray:
    """(n, 4) nodes of all trees, children before parents: the node, its children (counted among nodes that move), and
    the element of a leaf or -1."""
    rows = []
    for flex in np.flatnonzero(model.flex_bvhadr >= 0).tolist():
        first, count = int(model.flex_bvhadr[flex]), int(model.flex_bvhnum[flex])
        for node in range(first + count - 1, first - 1, -1):
            child, elem = model.bvh_child[node].tolist(), int(model.bvh_nodeid[node])
            own = node - int(model.nbvhstatic)
            if child[0] < 0 and child[1] < 0:
                rows.append((own, 0, 0, int(model.flex_elemadr[flex]) + elem))
            else:
                base = first - int(model.nbvhstatic)
                rows.append((own, base + child[0], base + child[1], -1))
    return np.array(rows, int).reshape(-1, 4)


def union(k: Kernel, one: Vector, other: Vector) -> Vector:
    """The box around two, each a centre and half-sizes."""
    low = [k.min(one[n] - one[3 + n], other[n] - other[3 + n]) for n in range(3)]
    high = [k.max(one[n] + one[3 + n], other[n] + other[3 + n]) for n in range(3)]
    centre = [0.5 * (b + a) for a, b in zip(low, high, strict=True)]
    return vector(*centre, *(0.5 * (b - a) for a, b in zip(low, high, strict=True)))


# ---- edges ------------------------------------------------------------------------------------------------


def write_edges(k: Kernel) -> None:
    """Lengths, and rows of the Jacobian where they are asked for."""
    d, edges = k.data, lane_edges(k)
    if d.flexedge_J.shape[0] != 6 * len(edges.straight.edge):  # else the rows are all written below
        with k.loop(0, d.flexedge_J.shape[0]) as place:
            d.flexedge_J[place] = 0.0
    with k.loop(0, len(edges.without)) as n:
        d.flexedge_length[k.table("flex/without", edges.without)[n]] = 0.0
    measured_edges(k, edges.measured)
    straight_edges(k, edges.straight)
    other_edges(k, edges.other)


def measured_edges(k: Kernel, edges: Array) -> None:
    """Edges that have a length only."""
    d = k.data
    ends = ends_of_edges(k.frozen_model)[edges]
    with k.loop(0, len(edges)) as n:
        start, end = (d.flexvert_xpos[k.table("flex/measured_ends", ends)[n, side]] for side in (0, 1))
        d.flexedge_length[k.table("flex/measured", edges)[n]] = norm(k, end - start)


def straight_edges(k: Kernel, edges: StraightEdges) -> None:
    """Edges whose rows are their directions."""
    d, J = k.data, k.data.flexedge_J
    if not len(edges.edge):
        return
    of, place = k.table("flex/straight", edges.edge), k.table("flex/straight_place", edges.place)
    ends = k.table("flex/straight_ends", edges.vertex)
    with k.loop(0, len(edges.edge)) as n:
        edge = of[n]
        length, along = measured(k, d.flexvert_xpos[ends[n, 0]], d.flexvert_xpos[ends[n, 1]])
        d.flexedge_length[edge] = length
        for side, sign in ((0, -1.0), (1, 1.0)):
            J[place[n, side] : place[n, side] + 3] = sign * along


def other_edges(k: Kernel, edges: OtherEdges) -> None:
    """Edges of bodies that move in any way: a row along the dofs above either end."""
    d = k.data
    if not len(edges.edge):
        return
    of, first = k.table("flex/edges", edges.edge), k.table("flex/entries", edges.first)
    ends = k.table("flex/ends", edges.vertex)
    with k.loop(0, len(edges.edge)) as n:
        edge = of[n]
        length, along = measured(k, d.flexvert_xpos[ends[n, 0]], d.flexvert_xpos[ends[n, 1]])
        d.flexedge_length[edge] = length
        if len(edges.dof):
            with k.loop(first[n], first[n + 1]) as entry:
                write_entry(k, edges, entry, (ends[n, 0], ends[n, 1]), along)


def write_entry(k: Kernel, edges: OtherEdges, entry: Any, ends: tuple[Any, Any], along: Vector) -> None:
    """One number of a row: how a dof moves the second end along the edge, less how it moves the first."""
    dof, place = k.table("flex/dof", edges.dof)[entry], k.table("flex/place", edges.place)[entry]
    moves = k.table("flex/moves", edges.moves)
    total = k.local(0.0)
    for side, sign in ((0, -1.0), (1, 1.0)):
        with k.when(moves[entry, side] != 0):
            total += sign * dot(along, point_motion(k, dof, ends[side]))
    k.data.flexedge_J[place] = total.value


def point_motion(k: Kernel, dof: Any, vertex: Any) -> Vector:
    """Velocity of a vertex per unit velocity of a dof above it."""
    m, d = k.model, k.data
    axis = d.cdof[dof]
    root = m.body_rootid[m.flex_vertbodyid[vertex]]
    return axis[3:] + cross(axis[:3], d.flexvert_xpos[vertex] - d.subtree_com[root])


def measured(k: Kernel, start: Vector, end: Vector) -> tuple[Any, Vector]:
    """Length and direction of an edge; the x axis if it is too short to have one."""
    offset = end - start
    length = norm(k, offset)
    tiny = length < MINVAL
    scaled = offset * (1.0 / k.max(MINVAL, length))
    return length, k.select(tiny, vector(1.0, 0.0, 0.0), scaled)
