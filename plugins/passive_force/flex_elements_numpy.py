"""Elasticity of flex elements: triangles and tetrahedra that resist changes of their edges' lengths.

An edge of length L, L₀ at rest, that changes at velocity v counts as long as it will be after the damping time d:
ε = L² − L₀² + (L² − (L − h·v)²)·d/h, h the timestep. An element's tensions are S·ε over its three or six edges, S its
stiffness; an edge is pulled by the sum of what its elements ask for, times the vector from end to end. That is
St. Venant and Kirchhoff's material, linear in Green's strain. Compare the flex part of mj_springdamper, where the
damping, too, counts as spring.
"""

from __future__ import annotations

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.flex.edge_rows import deforms, ends_of_edges, of_edges
from dovetail.plugins.shared.flex.elements_numpy import EDGES_OF_ELEMENT, edges_of_elements, elements_of
from dovetail.plugins.shared.flex.joint_forces_numpy import forces_on_vertices, sums_at


def packed(size: int) -> Array:
    """Where the entries (size, size) of a symmetric matrix are in its upper triangle, row by row."""
    place = np.zeros((size, size), int)
    place[np.triu_indices(size)] = np.arange(size * (size + 1) // 2)
    return np.maximum(place, place.T)


PACKED = tuple(packed(edges) for edges in EDGES_OF_ELEMENT)
"""By dimension: where entries of S are among the 21 numbers of an element."""


def element_forces(model: ModelLike, data: DataLike) -> Array:
    """Joint forces (nv,) of the elements of all flexes."""
    elastic = elastic_flexes(model)
    if not len(elastic):
        return np.zeros(int(model.nv))
    strain = elongations(model, data)
    tension = np.zeros(int(model.nflexedge))
    for flex in elastic.tolist():
        tension += tensions(model, flex, strain)
    return forces_on_vertices(model, data, forces_of_edges(model, data, tension))


def elastic_flexes(model: ModelLike) -> Array:
    """Flexes of triangles or tetrahedra that deform and resist it, by the first number of their stiffness."""
    made_of = deforms(model) & (model.flex_dim >= 2) & (model.flex_elemnum > 0)
    chosen = np.flatnonzero(made_of)
    first = model.flex_stiffness.reshape(-1, 21)[model.flex_elemadr[chosen], 0]
    return chosen[first != 0.0]


def elongations(model: ModelLike, data: DataLike) -> Array:
    """Changes (nflexedge,) of the squares of edges' lengths, as they will soon be."""
    h = float(model.opt.timestep)
    ahead = of_edges(model, model.flex_damping / h if h > 0.0 else np.zeros_like(model.flex_damping))
    length, rest = data.flexedge_length, model.flexedge_length0
    before = length - h * data.flexedge_velocity
    now = length * length
    return now - rest * rest + (now - before * before) * ahead


def tensions(model: ModelLike, flex: int, strain: Array) -> Array:
    """What a flex's elements ask of edges (nflexedge,): force per length."""
    edges = edges_of_elements(model, flex)
    packed_matrix = model.flex_stiffness.reshape(-1, 21)[elements_of(model, flex)]
    matrix = packed_matrix[:, PACKED[int(model.flex_dim[flex])]]
    asked = np.einsum("nij,nj->ni", matrix, strain[edges])
    return np.bincount(edges.reshape(-1), asked.reshape(-1), minlength=len(strain))


def forces_of_edges(model: ModelLike, data: DataLike, tension: Array) -> Array:
    """Forces (nflexvert, 3) on the ends of edges, towards one another where tension is positive."""
    ends = ends_of_edges(model)
    pull = tension[:, None] * (data.flexvert_xpos[ends[:, 1]] - data.flexvert_xpos[ends[:, 0]])
    count = int(model.nflexvert)
    return sums_at(ends[:, 0], pull, count) - sums_at(ends[:, 1], pull, count)
