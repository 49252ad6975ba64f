"""Bending of flex surfaces: two triangles at an edge resist leaving the angle they have at rest.

Of the four vertices of such a flap (the edge's ends, then the two opposite), with a 4×4 matrix B and a weight β for
the curvature at rest, the force on vertex i is −(Σⱼ Bᵢⱼ xⱼ + β gᵢ), where g₁ = b × c, g₂ = c × a, g₃ = a × b for the
vectors a, b, c from the first vertex to the others, and all g add up to zero. The damper does the same with
velocities, times the damping time and without curvature. Compare mj_springdamper; Wardetzky et al., Discrete
quadratic curvature energies, 2007; Garg et al., Cubic shells, 2007.

As in MuJoCo 3.4, forces are for each body's own dofs, in order, and the velocity of a vertex is the three numbers of
qvel where those begin: as if bodies slid along the world's axes, and whatever their parents do. Where there are no
such numbers, because a body has no dofs or qvel ends, they are zero.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.flex.edge_rows import deforms, ends_of_edges, of_edges
from dovetail.plugins.shared.flex.joint_forces_numpy import forces_on_own_dofs, sums_at
from dovetail.plugins.shared.vectors_numpy import cross_rows


def bending_forces(model: ModelLike, data: DataLike) -> tuple[Array, Array]:
    """Joint forces of springs and of dampers at all edges between two triangles."""
    edges = bent_edges(model)
    if not len(edges):
        return np.zeros(int(model.nv)), np.zeros(int(model.nv))
    vertex = flaps(model, edges)
    numbers = model.flex_bending.reshape(-1, 17)[edges]
    matrix, curvature = numbers[:, :16].reshape(-1, 4, 4), numbers[:, 16]
    place = data.flexvert_xpos[vertex]
    spring = matrix @ place + curvature[:, None, None] * curvature_slopes(place)
    damping = of_edges(model, model.flex_damping)[edges]
    if not damping.any():
        return on_vertices(model, vertex, spring), np.zeros(int(model.nv))
    drag = damping[:, None, None] * (matrix @ vertex_velocities(model, data)[vertex])
    return on_vertices(model, vertex, spring), on_vertices(model, vertex, drag)


def bent_edges(model: ModelLike) -> Array:
    """Edges with a triangle on either side, of surfaces that deform and resist bending."""
    surface = of_edges(model, deforms(model) & (model.flex_dim == 2))
    flapping = surface & (model.flex_edgeflap[:, 1] >= 0)
    chosen = np.flatnonzero(flapping)
    return chosen[model.flex_bending.reshape(-1, 17)[chosen].any(axis=1)]


def flaps(model: ModelLike, edges: Array) -> Array:
    """The four vertices (n, 4) of flaps, counted through all flexes."""
    first = of_edges(model, model.flex_vertadr)[edges]
    return np.hstack([ends_of_edges(model)[edges], model.flex_edgeflap[edges] + first[:, None]])


def curvature_slopes(place: Array) -> Array:
    """How the volume between four points (n, 4, 3) changes with each of them, times six."""
    a, b, c = (place[:, corner] - place[:, 0] for corner in (1, 2, 3))
    slopes = np.empty_like(place)
    slopes[:, 1], slopes[:, 2], slopes[:, 3] = cross_rows(b, c), cross_rows(c, a), cross_rows(a, b)
    slopes[:, 0] = -slopes[:, 1:].sum(axis=1)
    return slopes


def vertex_velocities(model: ModelLike, data: DataLike) -> Array:
    """The numbers of qvel (nflexvert, 3) that stand for velocities of vertices."""
    body = model.flex_vertbodyid
    start = np.where(body >= 0, model.body_dofadr[body], -1)
    dof = start[:, None] + np.arange(3)
    there = (start[:, None] >= 0) & (dof < model.nv)
    return np.where(there, data.qvel[np.where(there, dof, 0)], 0.0)


def on_vertices(model: ModelLike, vertex: Array, force: Array) -> Array:
    """Joint forces (nv,) against what flaps (n, 4, 3) would do with their vertices (n, 4)."""
    total = sums_at(vertex.reshape(-1), force.reshape(-1, 3), int(model.nflexvert))
    own = np.flatnonzero(model.flex_vertbodyid >= 0)
    return -forces_on_own_dofs(model, model.flex_vertbodyid[own], total[own])
