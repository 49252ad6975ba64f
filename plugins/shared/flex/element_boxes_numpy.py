"""Elements of flexes as collision sees them: boxes, bodies that carry the corners, which are looked for by trees.

Vertices and elements are counted inside their flex, as contacts count them. World frame. Compare mj_isElemActive and
the tables of flexes in mjModel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.contracts.enums import DisableBit
from dovetail.contracts.fields import Array
from dovetail.contracts.protocols import DataLike, ModelLike
from dovetail.plugins.shared.flex.elements_numpy import corners_of, elements_of

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


def corner_bodies(model: ModelLike, flex: int) -> Array:
    """(n, dim + 1) bodies that carry the corners of each element; -1: none, they are interpolated."""
    return model.flex_vertbodyid[corners_of(model, flex)]


def vertex_places(model: ModelLike, data: DataLike, flex: int) -> Array:
    """(n, 3) where the vertices are."""
    first = int(model.flex_vertadr[flex])
    return data.flexvert_xpos[first : first + int(model.flex_vertnum[flex])]


def element_boxes(model: ModelLike, data: DataLike, flex: int) -> Boxes:
    """The box of each element, its radius included."""
    box = data.flexelem_aabb[elements_of(model, flex)]
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
    if model.flex_dim[flex] < SOLID:
        return np.arange(int(model.flex_elemnum[flex]))
    return np.flatnonzero(model.flex_elemlayer[elements_of(model, flex)] < model.flex_activelayers[flex])


def corner_places(model: ModelLike, data: DataLike, flex: Array, elem: Array) -> Array:
    """(n, dim + 1, 3) corners of elements of flexes of one dimension."""
    size = int(model.flex_dim[flex[0]]) + 1 if len(flex) else 1
    start = model.flex_elemdataadr[flex] + elem * size
    vertex = model.flex_elem[start[:, None] + np.arange(size)] + model.flex_vertadr[flex][:, None]
    return data.flexvert_xpos[vertex]
