"""Forces of flexes in lanes: springs and dampers along edges, elasticity of elements with Rayleigh damping, bending.

Edges pull through their Jacobian, in every dimension. An element of a sheet or a solid pulls along its edges with
tensions w = S·ε, where ε is the elongation L² − L₀² and, with damping, how it changes; all of it is a spring force.
Tensions are first summed over the elements of an edge, then vertices gather what their edges pull with. A sheet bends
about the edge of two triangles: four vertices, by a constant matrix and a term of the rest curvature. Forces at
vertices of bodies that only slide are added to their dofs as they are; at others they go through the tree. Bending
takes it that all dofs are slides along the world's axes, as MuJoCo does. Compare mj_springdamper.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from dovetail.backends.lanes.kernel import Kernel, LaneField
from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.plugins.shared.flex.edges_lanes import each_row, flex_of_edge
from dovetail.plugins.shared.flex.tables import LOCAL_EDGES, Elements, elements_of, flex_of, is_simple
from dovetail.plugins.shared.passive_flags_lanes import all_off
from dovetail.plugins.shared.vectors_lanes import Vector, cross, vector
from dovetail.plugins.shared.wrenches_lanes import joint_forces, wrench

RATE = 1e-15
"""Time steps below it are none."""


def flex(k: Kernel) -> None:
    """Add to qfrc_spring, qfrc_damper and qfrc_passive."""
    with k.when(~all_off(k)):
        Elasticity(k).add()
        add_edges(k)


# ---- edges ------------------------------------------------------------------------------------------------


def add_edges(k: Kernel) -> None:
    """Springs and dampers along edges that are not rigid."""
    m, d, model = k.model, k.data, k.frozen_model
    if not (model.flex_edgestiffness.any() or model.flex_edgedamping.any()):
        return
    spring_on, damper_on = (
        k.select(k.disabled(bit), 0.0, 1.0) for bit in (DisableBit.SPRING, DisableBit.DAMPER)
    )
    for edge, row in each_row(k):
        own = flex_of_edge(k, edge)
        stiffness, damping = m.flex_edgestiffness[own], m.flex_edgedamping[own]
        acts = (stiffness != 0.0) | (damping != 0.0)
        with k.when(k.any(acts)), k.when(m.flexedge_rigid[edge] == 0):
            pull = spring_on * stiffness * (m.flexedge_length0[edge] - d.flexedge_length[edge])
            drag = damper_on * damping * d.flexedge_velocity[edge]
            for dof, place in row.each_entry():
                arm = d.flexedge_J[place]
                d.qfrc_spring[dof] += arm * pull
                d.qfrc_damper[dof] -= arm * drag
                d.qfrc_passive[dof] += arm * (pull - drag)


# ---- elements and bending ---------------------------------------------------------------------------------


class Elasticity:
    """Forces at the vertices of sheets and solids."""

    def __init__(self, k: Kernel) -> None:
        self.k, self.model = k, k.frozen_model
        soft = (self.model.flex_rigid == 0) & (self.model.flex_interp == 0)
        self.soft = soft & (self.model.flex_dim >= 2)
        self.bends = soft & (self.model.flex_dim == 2)
        self.kept = k.needed("qfrc_spring") or k.needed("qfrc_damper")

    def add(self) -> None:
        """Add all of it."""
        if self.soft.any():
            self.write_tensions()
        if self.bends.any():
            self.write_bending()
        if self.soft.any() or self.bends.any():
            self.add_simple()
            self.add_others()

    # ---- tensions

    @property
    def tension(self) -> LaneField:
        """Of each edge, summed over its elements."""
        return self.k.scratch("tension", max(1, self.model.nflexedge))

    def write_tensions(self) -> None:
        """Elongations of edges, then what the elements make of them."""
        k, m, d = self.k, self.k.model, self.k.data
        edges = np.flatnonzero(self.soft[flex_of(self.model, self.model.flex_edgenum)])
        elongation, step = k.scratch("elongation", max(1, self.model.nflexedge)), m.opt.timestep
        with k.loop(0, len(edges)) as n:
            edge = k.table("flex/soft_edges", edges)[n]
            length, rest = d.flexedge_length[edge], m.flexedge_length0[edge]
            before = length - step * d.flexedge_velocity[edge]
            rate = k.select(step > RATE, m.flex_damping[flex_of_edge(k, edge)] / k.max(step, RATE), 0.0)
            square = length * length
            elongation[edge] = (square - rest * rest) + (square - before * before) * rate
            self.tension[edge] = 0.0
        for dim, sides in LOCAL_EDGES.items():
            table = elements_of(self.model, dim)
            keep = self.soft[table.flex]
            if keep.any():
                self._add_tensions(dim, sides, Elements(*(column[keep] for column in table)), elongation)

    def _add_tensions(self, dim: int, sides: int, table: Elements, elongation: LaneField) -> None:
        """Elements of one dimension, in whose flex the first number of the stiffness is not zero."""
        k, m = self.k, self.k.model
        of, own = k.table(f"flex/soft{dim}", table.elem), k.table(f"flex/soft_sides{dim}", table.edge)
        first = k.table(f"flex/soft_first{dim}", self.model.flex_elemadr[table.flex])
        with k.loop(0, len(table.elem)) as n:
            acts = m.flex_stiffness[first[n], 0] != 0.0
            with k.when(k.any(acts)):
                stretched = [elongation[own[n, side]] for side in range(sides)]
                packed = m.flex_stiffness[of[n]]
                for side in range(sides):
                    pull: Any = 0.0
                    for other in range(sides):
                        pull = pull + packed[packed_place(side, other, sides)] * stretched[other]
                    self.tension[own[n, side]] += pull

    # ---- bending

    def _of_vertices(self, name: str) -> LaneField:
        return self.k.scratch(name, max(1, self.model.nflexvert), 3)

    @property
    def hinge_vertices(self) -> Array:
        """(n, 4) the ends of each edge between two triangles, and the corners opposite it."""
        model = self.model
        own = flex_of(model, model.flex_edgenum)
        chosen = self.bends[own] & (model.flex_edgeflap[:, 1] >= 0)
        local = np.concatenate([model.flex_edge, model.flex_edgeflap], axis=1)[chosen]
        return local + model.flex_vertadr[own[chosen]][:, None]

    @property
    def hinge_edges(self) -> Array:
        model = self.model
        own = flex_of(model, model.flex_edgenum)
        return np.flatnonzero(self.bends[own] & (model.flex_edgeflap[:, 1] >= 0))

    def write_bending(self) -> None:
        """What bending does to each vertex: in all, and by springs and dampers alone if somebody asks for them."""
        k, m, d, model = self.k, self.k.model, self.k.data, self.model
        own = flex_of(model, model.flex_vertnum)
        vertices = np.flatnonzero(self.bends[own])
        dof, flexes = own_dofs(model)[vertices, 0], own[vertices]
        spring_on = k.select(k.disabled(DisableBit.SPRING), 0.0, 1.0)
        damper_on = k.select(k.disabled(DisableBit.DAMPER), 0.0, 1.0)
        place, speed = self._of_vertices("bent_place"), self._of_vertices("bent_speed")
        sums = {
            "bent": place,
            **({"bent_spring": d.flexvert_xpos, "bent_damper": speed} if self.kept else {}),
        }
        with k.loop(0, len(vertices)) as n:
            vertex = k.table("flex/bent", vertices)[n]
            damping = damper_on * m.flex_damping[k.table("flex/bent_flex", flexes)[n]]
            moving = damping * velocity_at(k, k.table("flex/bent_dof", dof)[n], bool((dof < 0).any()))
            place[vertex] = spring_on * d.flexvert_xpos[vertex] + moving
            if self.kept:
                speed[vertex] = moving
            for name in sums:
                self._of_vertices(name)[vertex] = 0.0
        corners, edges = k.table("flex/hinge", self.hinge_vertices), k.table("flex/hinges", self.hinge_edges)
        with k.loop(0, len(self.hinge_edges)) as n:
            at = [corners[n, corner] for corner in range(4)]
            matrix = m.flex_bending[edges[n]]
            with k.when(k.any(any_of(number != 0.0 for number in matrix))):
                gradient = curvature([d.flexvert_xpos[v] for v in at])
                curved = [spring_on * matrix[16] * part for part in gradient]
                for name, of in sums.items():
                    points = [of[v] for v in at]
                    scale = spring_on if name == "bent_spring" else 1.0
                    for row in range(4):
                        total = sum(matrix[4 * row + column] * points[column] for column in range(4))
                        total = total * scale + (0.0 if name == "bent_damper" else curved[row])
                        self._of_vertices(name)[at[row]] += total

    # ---- into joint forces

    def add_simple(self) -> None:
        """Vertices of bodies that only slide: their edges' pull and bending, to the body's own dofs."""
        k, model = self.k, self.model
        own = flex_of(model, model.flex_vertnum)
        simple = is_simple(model, model.flex_vertbodyid) & (own_dofs(model)[:, 1] > 0)
        pulled, bent = self.soft[own], self.bends[own]
        for name, chosen in {
            "both": pulled & bent,
            "pulled": pulled & ~bent,
            "bent": ~pulled & bent,
        }.items():
            vertices = np.flatnonzero(chosen & simple)
            if len(vertices):
                with k.loop(0, len(vertices)) as n:
                    vertex = k.table(f"flex/simple_{name}", vertices)[n]
                    spring = total = self.pull_on(vertex) if name != "bent" else vector(0.0, 0.0, 0.0)
                    damper = vector(0.0, 0.0, 0.0)
                    if name != "pulled":
                        total = spring - self._of_vertices("bent")[vertex]
                        if self.kept:
                            spring = spring - self._of_vertices("bent_spring")[vertex]
                            damper = damper - self._of_vertices("bent_damper")[vertex]
                    self.add_at_dofs(vertices, f"flex/simple_{name}_dofs", n, (total, spring, damper))

    def add_at_dofs(self, vertices: Array, table: str, n: Any, parts: tuple[Vector, Vector, Vector]) -> None:
        """Add forces, in all and of springs and dampers, to the dofs of the n-th vertex's body."""
        k, d = self.k, self.k.data
        dofs = own_dofs(self.model)[vertices]
        place = k.table(table, dofs)
        total, spring, damper = parts
        for axis in range(3):
            if not (dofs[:, 1] > axis).any():
                continue

            def add(axis: int = axis) -> None:
                dof = place[n, 0] + axis
                d.qfrc_passive[dof] += total[axis]
                if self.kept:
                    d.qfrc_spring[dof] += spring[axis]
                    d.qfrc_damper[dof] += damper[axis]

            if (dofs[:, 1] > axis).all():
                add()
            else:
                with k.when(place[n, 1] > axis):
                    add()

    def pull_on(self, vertex: Any) -> Vector:
        """What the edges of a vertex pull it with."""
        k, x = self.k, self.k.data.flexvert_xpos
        start, edge, other = spokes_of(self.model, self.soft)
        begin = k.table("flex/spokes", start)
        here = x[vertex]
        total = k.local(vector(0.0, 0.0, 0.0))
        with k.loop(begin[vertex], begin[vertex + 1]) as n:
            tension = self.tension[k.table("flex/spoke_edge", edge)[n]]
            total += tension * (x[k.table("flex/spoke_end", other)[n]] - here)
        return total.value

    def add_others(self) -> None:
        """Vertices of other bodies that move: edges pull through the tree, bending on the body's own dofs."""
        k, m, d, model = self.k, self.k.model, self.k.data, self.model
        own = flex_of(model, model.flex_vertnum)
        body = np.maximum(model.flex_vertbodyid, 0)
        moves = (model.body_weldid[body] != 0) & ~is_simple(model, model.flex_vertbodyid)
        bent = np.flatnonzero(self.bends[own] & moves & (own_dofs(model)[:, 1] > 0))
        if len(bent):
            with k.loop(0, len(bent)) as n:
                vertex = k.table("flex/other_bent", bent)[n]
                names = ("bent", "bent_spring", "bent_damper") if self.kept else ("bent",) * 3
                total, spring, damper = (-self._of_vertices(name)[vertex] for name in names)
                self.add_at_dofs(bent, "flex/other_bent_dofs", n, (total, spring, damper))
        pulled = np.flatnonzero(self.soft[own] & moves)
        if not len(pulled):
            return
        wrenches = k.scratch("wrenches", m.nbody, 6)
        with k.loop(0, m.nbody) as b:
            wrenches[b] = 0.0
        with k.loop(0, len(pulled)) as n:
            vertex = k.table("flex/other_pulled", pulled)[n]
            on = m.flex_vertbodyid[vertex]
            wrenches[on] += wrench(k, on, d.flexvert_xpos[vertex], self.pull_on(vertex))
        with joint_forces(k, wrenches) as (dof, force):
            d.qfrc_spring[dof] += force
            d.qfrc_passive[dof] += force


def any_of(conditions: Iterable[Any]) -> Any:
    """Whether any of some conditions holds."""
    return reduce(or_, conditions)


def packed_place(row: int, column: int, size: int) -> int:
    """Where an entry of a symmetric matrix is in its upper triangle, row by row."""
    low, high = min(row, column), max(row, column)
    return low * size - low * (low - 1) // 2 + high - low


def curvature(points: list[Vector]) -> list[Vector]:
    """How the volume of four points, six times of it, changes with each."""
    a, b, c = (points[n] - points[0] for n in (1, 2, 3))
    first, second, third = cross(b, c), cross(c, a), cross(a, b)
    return [-(first + second + third), first, second, third]


def velocity_at(k: Kernel, dof: Any, may_lack: bool) -> Vector:
    """Three numbers of qvel from a body's first dof on; zero without one, and beyond the last."""
    last = int(k.model.nv) - 1
    if last < 0:
        return vector(0.0, 0.0, 0.0)
    found = []
    for axis in range(3):
        at = dof + axis
        number = k.data.qvel[k.min(k.max(at, 0), last)]
        found.append(k.select(dof >= 0, number, 0.0) if may_lack else number)
    return vector(*found)


def own_dofs(model: Any) -> Array:
    """(nflexvert, 2) first dof of each vertex's body and their number; -1 and 0 without any."""
    body = model.flex_vertbodyid
    there = np.maximum(body, 0)
    number = np.where(body >= 0, model.body_dofnum[there], 0)
    return np.stack([np.where(number > 0, model.body_dofadr[there], -1), number], axis=1)


def spokes_of(model: Any, soft: Array) -> tuple[Array, Array, Array]:
    """The edges of each vertex, as ranges of a list, and the vertices at their other ends; of some flexes."""
    own = flex_of(model, model.flex_edgenum)
    edges = np.flatnonzero(soft[own])
    ends = model.flex_edge[edges] + model.flex_vertadr[own[edges]][:, None]
    vertex, other = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    edge = np.concatenate([edges, edges])
    order = np.lexsort((edge, vertex))
    start = np.searchsorted(vertex[order], np.arange(model.nflexvert + 1))
    return start, edge[order], other[order]
