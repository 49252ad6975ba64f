"""Constants of flexes in the reference configuration: lengths and inverse weights of edges.

Vertices that follow interpolation nodes have no edge lengths, as in MuJoCo. Compare set0 in engine_setconst.c,
and mj_flex, which fills the edge Jacobians only where something uses them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.vectors_numpy import cross_rows

_SLIDES_ONLY = 2
"""body_simple of a body that only slides along world axes."""


def flex_edges(model: ModelLike) -> tuple[Array, Array, Array]:
    """Of every edge: its flex, and its two vertices counted over all flexes (n, 2); whether it has a length."""
    flex = np.repeat(np.arange(model.nflex), model.flex_edgenum)
    vertex = model.flex_edge + model.flex_vertadr[flex][:, None]
    return flex, vertex, model.flex_interp[flex] == 0


def vertex_places(model: ModelLike, data: DataLike) -> Array:
    """Vertices in the world (n, 3); zero for those that follow nodes."""
    body = model.flex_vertbodyid
    axes = data.xmat[body].reshape(-1, 3, 3)
    place = data.xpos[body] + np.einsum("ijk,ik->ij", axes, model.flex_vert)
    return np.where(body[:, None] >= 0, place, 0.0)


def edge_lengths(model: ModelLike, data: DataLike) -> Array:
    """flexedge_length0."""
    _, vertex, has_length = flex_edges(model)
    place = vertex_places(model, data)
    length = np.linalg.norm(place[vertex[:, 1]] - place[vertex[:, 0]], axis=1)
    return np.where(has_length, length, 0.0)


def edge_inverse_weights(model: ModelLike, data: DataLike, weights: Callable[[Array, Array], Array]) -> Array:
    """flexedge_invweight0: J·M⁻¹·Jᵀ, for edges between point masses the mean inverse mass.

    `weights` gives that product for rows of J over some dofs and all their ancestors.
    """
    weight = np.zeros(len(model.flex_edge))
    flex, vertex, has_length = flex_edges(model)
    body = model.flex_vertbodyid[vertex]
    moving = has_length & (model.flexedge_rigid == 0)
    free = moving & (model.body_simple[body] == _SLIDES_ONLY).all(axis=1)
    weight[free] = (1.0 / model.body_mass[body[free]]).mean(axis=1)
    place = vertex_places(model, data)
    for edge in np.flatnonzero(moving & ~free & _has_jacobian(model)[flex]):
        dofs, row = edge_jacobian(model, data, place[vertex[edge]], body[edge])
        weight[edge] = weights(dofs, row[None])[0]
    return weight


def _has_jacobian(model: ModelLike) -> Array:
    """Flexes whose edges resist or are held: only these have edge Jacobians, the weights of others stay zero."""
    passive = (model.flex_edgestiffness != 0) | (model.flex_edgedamping != 0) | (model.flex_damping != 0)
    return (passive | (model.flex_edgeequality != 0)) & (model.flex_rigid == 0)


def edge_jacobian(model: ModelLike, data: DataLike, place: Array, body: Array) -> tuple[Array, Array]:
    """Dofs that move an edge's ends, ascending, and the rate of its length per dof."""
    along = place[1] - place[0]
    length = np.linalg.norm(along)
    direction = along / length if length > MINVAL else np.array([1.0, 0.0, 0.0])
    chains = [_dofs_above(model, int(owner)) for owner in body]
    dofs = np.union1d(*chains)
    row = np.zeros(len(dofs))
    for sign, end, owner, chain in zip((-1.0, 1.0), place, body, chains, strict=True):
        lever = end - data.subtree_com[model.body_rootid[owner]]
        velocity = data.cdof[chain, 3:] + cross_rows(data.cdof[chain, :3], lever[None])
        row[np.searchsorted(dofs, chain)] += sign * (velocity @ direction)
    return dofs, row


def _dofs_above(model: ModelLike, body: int) -> Array:
    """Dofs that move a body."""
    while body and not model.body_dofnum[body]:
        body = int(model.body_parentid[body])
    dof = int(model.body_dofadr[body] + model.body_dofnum[body] - 1) if body else -1
    dofs = []
    while dof >= 0:
        dofs.append(dof)
        dof = int(model.dof_parentid[dof])
    return np.array(dofs[::-1], np.intp)


def reach_between_nodes(model: ModelLike, data: DataLike, size: Array) -> None:
    """Raise the sizes of bodies to the farthest body among those that carry nodes of the same flex."""
    for flex in np.flatnonzero(model.flex_interp):
        start = model.flex_nodeadr[flex]
        body = model.flex_nodebodyid[start : start + model.flex_nodenum[flex]]
        place = data.xpos[body]
        distance = np.linalg.norm(place[:, None] - place[None], axis=2).max(axis=1)
        np.maximum.at(size, body, distance)


def reach_along_edges(model: ModelLike, edge_length: Array, size: Array) -> None:
    """Raise the sizes of bodies to the longest edge that ends at one of their vertices."""
    _, vertex, has_length = flex_edges(model)
    body = model.flex_vertbodyid[vertex]
    for end in (0, 1):
        np.maximum.at(size, body[has_length, end], edge_length[has_length])
