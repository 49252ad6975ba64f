"""What moves at the two sides of contacts: bodies and their weights, and how the contacts' points move with the dofs.

A geom or flex vertex moves with its body, a flex element with the bodies of its vertices, weighted by inverse
distance from the contact. Where vertices follow nodes, the same weights give a place in the flex's box at qpos0, and
the bodies of the nodes count by how much they move that place; MuJoCo leaves out nodes that move it by less than
1e-5, among them all negative ones. Compare mj_contactJacobian and mj_vertBodyWeight.

A deviation. Of an interpolated flex on the first side of a contact between flexes, MuJoCo 3.4 takes the place of
the negated weights, so that its nodes move with the wrong sign, as if somewhere else; here that side is treated as
the second one is. (Its own diagApprox does so too.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.constants import MINVAL
from dovetail.plugins.shared.flex.interpolation_numpy import node_weights
from dovetail.plugins.shared.rows.point_motion_numpy import relative_motion
from dovetail.plugins.shared.sparse_rows_numpy import SparseRows, ranges

LEAST_NODE_WEIGHT = 1e-5
"""Nodes that move a contact by less do not count (MuJoCo 3.4)."""


class ContactBodies(NamedTuple):
    """The bodies whose motion makes up that of contacts."""

    owner: Array
    """Contact of each term, counted in the list of contacts."""
    body: Array
    weight: Array
    """Negative for the first side."""


class FlexSides(NamedTuple):
    """Sides of contacts that are elements or vertices of flexes, and their vertices."""

    owner: Array
    """Contact of each side, counted in the list of contacts."""
    side: Array
    """0 or 1."""
    flex: Array
    term: Array
    """Of each vertex: which of these sides it belongs to."""
    vertex: Array
    """Vertices, counted through all flexes."""
    weight: Array
    """Of each vertex; those of a side add up to one."""


def sides_of(model: ModelLike, data: DataLike, contacts: Array) -> ContactBodies:
    """Bodies and weights of both sides of contacts."""
    geom = data.contact.geom[contacts]
    owner, side = np.nonzero(geom >= 0)
    parts = [ContactBodies(owner, model.geom_bodyid[geom[owner, side]], _sign(side))]
    if model.nflex and len(owner) < geom.size:
        for sides in (vertex_sides(model, data, contacts), element_sides(model, data, contacts)):
            parts += [bodies_of_vertices(model, sides), *bodies_of_nodes(model, sides)]
    return ContactBodies(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _sign(side: Array) -> Array:
    return np.where(side == 0, -1.0, 1.0)


def vertex_sides(model: ModelLike, data: DataLike, contacts: Array) -> FlexSides:
    """Sides that are vertices."""
    vertex = data.contact.vert[contacts]
    owner, side = np.nonzero(vertex >= 0)
    flex = data.contact.flex[contacts[owner], side]
    place = model.flex_vertadr[flex] + vertex[owner, side]
    return FlexSides(owner, side, flex, np.arange(len(owner)), place, np.ones(len(owner)))


def element_sides(model: ModelLike, data: DataLike, contacts: Array) -> FlexSides:
    """Sides that are elements: their vertices, weighted by inverse distance from the contact. A vertex that is
    itself the other side of the contact does not count."""
    element, vertex = data.contact.elem[contacts], data.contact.vert[contacts]
    owner, side = np.nonzero((element >= 0) & (vertex < 0))
    flex = data.contact.flex[contacts[owner], side]
    corners = model.flex_dim[flex] + 1
    corner = model.flex_elem[ranges(model.flex_elemdataadr[flex] + element[owner, side] * corners, corners)]
    term = np.repeat(np.arange(len(owner)), corners)
    other = corner != vertex[owner, 1 - side][term]
    corner, term = corner[other], term[other]
    place = model.flex_vertadr[flex][term] + corner
    apart = data.contact.pos[contacts[owner[term]]] - data.flexvert_xpos[place]
    weight = 1.0 / np.maximum(np.linalg.norm(apart, axis=1), MINVAL)
    total = np.bincount(term, weight, minlength=len(owner))
    return FlexSides(owner, side, flex, term, place, weight / total[term])


def bodies_of_vertices(model: ModelLike, sides: FlexSides) -> ContactBodies:
    """Of vertices that move by themselves, their bodies."""
    own = model.flex_interp[sides.flex[sides.term]] == 0
    term = sides.term[own]
    signed = _sign(sides.side[term]) * sides.weight[own]
    return ContactBodies(sides.owner[term], model.flex_vertbodyid[sides.vertex[own]], signed)


def bodies_of_nodes(model: ModelLike, sides: FlexSides) -> list[ContactBodies]:
    """Of vertices that follow nodes, the bodies of the nodes; one list for each order of interpolation."""
    parts = []
    order = model.flex_interp[sides.flex]
    if not order.any():
        return []
    place = places_in_box(model, sides)
    for degree in np.unique(order[order > 0]).tolist():
        chosen = np.flatnonzero(order == degree)
        weight = node_weights(degree, place[chosen])
        side, node = np.nonzero(weight >= LEAST_NODE_WEIGHT)
        body = model.flex_nodebodyid[model.flex_nodeadr[sides.flex[chosen[side]]] + node]
        signed = _sign(sides.side[chosen[side]]) * weight[side, node]
        parts.append(ContactBodies(sides.owner[chosen[side]], body, signed))
    return parts


def places_in_box(model: ModelLike, sides: FlexSides) -> Array:
    """Where sides (n, 3) are in the boxes of their flexes at qpos0, each box taken as the unit cube."""
    moved = sides.weight[:, None] * model.flex_vert0[sides.vertex]
    columns = [np.bincount(sides.term, column, minlength=len(sides.owner)) for column in moved.T]
    return np.stack(columns, axis=1)


def contact_motion(model: ModelLike, data: DataLike, contacts: Array, sides: ContactBodies) -> SparseRows:
    """Motion of the second side relative to the first, at the contact's point."""
    point = data.contact.pos[contacts][sides.owner]
    return relative_motion(model, data, sides.owner, sides.body, point, sides.weight, len(contacts))
