"""Elements of flexes as tables: corners, edges, the bodies that carry them, boxes, and which are looked for by trees.

Vertices and elements are counted inside their flex, as contacts count them, unless a function says that it counts
through all flexes, as Data does. World frame. Compare mj_isElemActive and
the tables of flexes in mjModel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike

EDGES_OF_ELEMENT = (0, 1, 3, 6)
"""By dimension."""

SOLID = 3
"""Dimension of a flex of tetrahedra, whose elements lie in layers."""


class Boxes(NamedTuple):
    """Boxes along the world's axes, one a row."""

    low: Array
    high: Array

    def of(self, rows: Array) -> Boxes:
        return Boxes(self.low[rows], self.high[rows])

    def widened(self, by: float | Array) -> Boxes:
        return Boxes(self.low - by, self.high + by)


def corners(model: ModelLike, flex: int) -> Array:
    """(n, dim + 1) vertices of each element."""
    size, first = int(model.flex_dim[flex]) + 1, int(model.flex_elemdataadr[flex])
    count = int(model.flex_elemnum[flex])
    return model.flex_elem[first : first + count * size].reshape(count, size)


def elements_of(model: ModelLike, flex: int) -> slice:
    """The elements of a flex, counted through all flexes."""
    return slice(int(model.flex_elemadr[flex]), int(model.flex_elemadr[flex] + model.flex_elemnum[flex]))


def corners_of(model: ModelLike, flex: int) -> Array:
    """Vertices (n, dim + 1) of a flex's elements, counted through all flexes."""
    return corners(model, flex) + model.flex_vertadr[flex]


def edges_of_elements(model: ModelLike, flex: int) -> Array:
    """Edges (n, 1, 3 or 6) of a flex's elements, counted through all flexes."""
    edges, first = EDGES_OF_ELEMENT[int(model.flex_dim[flex])], int(model.flex_elemedgeadr[flex])
    count = int(model.flex_elemnum[flex])
    inside = model.flex_elemedge[first : first + count * edges].reshape(count, edges)
    return inside + model.flex_edgeadr[flex]


def vertex_bodies(model: ModelLike, flex: int) -> Array:
    """The body that carries each vertex; -1: none, it is interpolated."""
    first = int(model.flex_vertadr[flex])
    return model.flex_vertbodyid[first : first + int(model.flex_vertnum[flex])]


def vertex_places(model: ModelLike, data: DataLike, flex: int) -> Array:
    """(n, 3) where the vertices are."""
    first = int(model.flex_vertadr[flex])
    return data.flexvert_xpos[first : first + int(model.flex_vertnum[flex])]


def element_boxes(model: ModelLike, data: DataLike, flex: int) -> Boxes:
    """The box of each element, its radius included."""
    first = int(model.flex_elemadr[flex])
    box = data.flexelem_aabb[first : first + int(model.flex_elemnum[flex])]
    return Boxes(box[:, :3] - box[:, 3:], box[:, :3] + box[:, 3:])


def has_tree(model: ModelLike, flex: int) -> bool:
    """Whether a flex is searched by its tree of boxes."""
    return not model.opt.disableflags & DisableBit.MIDPHASE and int(model.flex_bvhadr[flex]) >= 0


def in_tree(model: ModelLike, flex: int) -> Array:
    """Elements that the tree of a flex holds, ascending: of a solid, those of the active layers."""
    first = int(model.flex_bvhadr[flex])
    ids = model.bvh_nodeid[first : first + int(model.flex_bvhnum[flex])]
    return np.sort(ids[ids >= 0])


def active(model: ModelLike, flex: int) -> Array:
    """Elements that may collide with others of the flex, ascending: of a solid, those of the active layers."""
    first, count = int(model.flex_elemadr[flex]), int(model.flex_elemnum[flex])
    if model.flex_dim[flex] < SOLID:
        return np.arange(count)
    return np.flatnonzero(model.flex_elemlayer[first : first + count] < model.flex_activelayers[flex])


def corner_places(model: ModelLike, data: DataLike, flex: Array, elem: Array) -> Array:
    """(n, dim + 1, 3) corners of elements of flexes of one dimension."""
    size = int(model.flex_dim[flex[0]]) + 1 if len(flex) else 1
    start = model.flex_elemdataadr[flex] + elem * size
    vertex = model.flex_elem[start[:, None] + np.arange(size)] + model.flex_vertadr[flex][:, None]
    return data.flexvert_xpos[vertex]
